package org.tp4j.checkpoint;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Checks that the tensors' bytes cover all that follows the header, each byte exactly once, as the format requires. */
final class HeaderRanges {
    private HeaderRanges() {}

    static void check(Path file, Collection<SafetensorsEntry> entries, long dataBytes) {
        List<SafetensorsEntry> sorted = new ArrayList<>(entries);
        sorted.sort(Comparator.comparingLong(SafetensorsEntry::begin).thenComparingLong(SafetensorsEntry::end));
        long covered = 0;
        String before = "";
        for (SafetensorsEntry entry : sorted) {
            if (entry.end() > dataBytes) {
                throw new SafetensorsException(
                        file,
                        entry.name(),
                        "its bytes " + range(entry) + " reach beyond the " + dataBytes
                                + " bytes that follow the header; HINT: the file was cut short: copy it again");
            }
            if (entry.begin() < covered) {
                throw new SafetensorsException(
                        file, entry.name(), "its bytes " + range(entry) + " overlap those of " + before);
            }
            if (entry.begin() > covered) {
                throw new SafetensorsException(
                        file, entry.name(), unowned(covered, entry.begin()) + " before its bytes " + range(entry));
            }
            covered = entry.end();
            before = Quoted.of(entry.name()) + " " + range(entry);
        }
        if (covered < dataBytes) {
            throw new SafetensorsException(file, null, unowned(covered, dataBytes) + " at the end of the file");
        }
    }

    private static String unowned(long from, long to) {
        return "bytes [" + from + ", " + to + "] belong to no tensor (the format allows no holes)";
    }

    private static String range(SafetensorsEntry entry) {
        return "[" + entry.begin() + ", " + entry.end() + "]";
    }
}
