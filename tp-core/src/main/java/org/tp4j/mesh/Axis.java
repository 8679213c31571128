package org.tp4j.mesh;

import org.tp4j.comm.ProcessGroup;

/**
 * One axis of a mesh as this rank sees it: the ranks that differ from it only in this coordinate.
 *
 * <p>Axes are compared by identity: a slice of a mesh shares the axes of that mesh.
 */
public final class Axis {
    private final String name;
    private final ProcessGroup group;

    Axis(String name, ProcessGroup group) {
        this.name = name;
        this.group = group;
    }

    /** Name, such as {@code tp}. */
    public String name() {
        return name;
    }

    /** Number of ranks along it. */
    public int size() {
        return group.size();
    }

    /** This rank's coordinate along it, from 0. */
    public int coordinate() {
        return group.rank();
    }

    /** The group of the ranks along it. */
    public ProcessGroup group() {
        return group;
    }

    @Override
    public String toString() {
        return name + "=" + size();
    }
}
