package org.tp4j.cuda.internal.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.DeviceMemory;

/** Free blocks by size class. The pool has a common shelf; a captured step has its own. */
public final class Shelf {
    private final List<@Nullable ArrayDeque<DeviceMemory>> bySize =
            new ArrayList<>(Collections.nCopies(SizeClass.COUNT, null));
    private boolean dissolved; // guarded by the pool

    @Nullable DeviceMemory poll(int size) {
        ArrayDeque<DeviceMemory> blocks = bySize.get(size);
        return blocks == null ? null : blocks.poll();
    }

    void push(int size, DeviceMemory block) {
        ArrayDeque<DeviceMemory> blocks = bySize.get(size);
        if (blocks == null) {
            blocks = new ArrayDeque<>();
            bySize.set(size, blocks);
        }
        blocks.push(block);
    }

    boolean isEmpty() {
        return bySize.stream().allMatch(blocks -> blocks == null || blocks.isEmpty());
    }

    List<DeviceMemory> takeAll() {
        List<DeviceMemory> all = new ArrayList<>();
        for (ArrayDeque<DeviceMemory> blocks : bySize) {
            if (blocks != null) {
                all.addAll(blocks);
                blocks.clear();
            }
        }
        return all;
    }

    /** Blocks taken from it are returned to the pool's own shelf from now on. */
    void dissolve() {
        dissolved = true;
    }

    boolean isDissolved() {
        return dissolved;
    }
}
