package org.tp4j.tensor;

/** What holds elements in a {@link Storage}: an array, a tensor. */
public interface HasStorage {
    /** The memory that holds this rank's elements. */
    Storage storage();
}
