package org.tp4j.checkpoint;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.TpException;

/** A safetensors file that cannot be read or written: which file, which of its tensors, and why. */
public final class SafetensorsException extends TpException {
    private static final long serialVersionUID = 1L;

    private final transient Path file;
    private final @Nullable String tensor;
    private final String reason;

    /**
     * An exception about a file, or about one tensor of it.
     *
     * @param file the file
     * @param tensor the tensor's name as in the file, or null for the file as a whole
     * @param reason what was found and how to fix it
     */
    public SafetensorsException(Path file, @Nullable String tensor, String reason) {
        this(file, tensor, reason, null);
    }

    /** As {@link #SafetensorsException(Path, String, String)}, with what led to it. */
    public SafetensorsException(Path file, @Nullable String tensor, String reason, @Nullable Throwable cause) {
        super(file + ": " + (tensor == null ? "" : "tensor " + Quoted.of(tensor) + ": ") + reason);
        if (cause != null) {
            initCause(cause);
        }
        this.file = file;
        this.tensor = tensor;
        this.reason = reason;
    }

    /** The file. */
    public Path file() {
        return file;
    }

    /** Name of the tensor, exactly as in the file; empty for the file as a whole. */
    public Optional<String> tensor() {
        return Optional.ofNullable(tensor);
    }

    /** The message without file and tensor. */
    public String reason() {
        return reason;
    }
}
