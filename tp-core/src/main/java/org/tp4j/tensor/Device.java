package org.tp4j.tensor;

/**
 * A place where tensors live and are computed, such as {@code cpu} or {@code cuda:1}.
 *
 * @param type what kind of device, {@code cpu}, {@code cuda} or {@code meta}
 * @param index which of its kind, from 0
 */
public record Device(String type, int index) {
    /** The host's processor. */
    public static final Device CPU = new Device("cpu", 0);

    /** Checks the fields. */
    public Device {
        if (type.isEmpty() || index < 0) {
            throw new IllegalArgumentException("no such device: type '" + type + "', index " + index);
        }
    }

    @Override
    public String toString() {
        return type.equals("cpu") || type.equals("meta") ? type : type + ":" + index;
    }
}
