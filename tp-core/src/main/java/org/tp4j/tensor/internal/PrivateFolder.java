package org.tp4j.tensor.internal;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;

/**
 * Folders of files that a process loads and trusts, such as libraries and compiled kernels: owned by this user and closed to
 * all others, mode 0700. Where files have no such modes, every folder is accepted.
 */
public final class PrivateFolder {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OTHERS_WRITE =
            EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);
    private static final Path THIS_PROCESS = Path.of("/proc/self");

    private PrivateFolder() {}

    /**
     * A cache folder, created if missing: the one that a system property names, or else one below {@code ~/.cache/tp4j}.
     *
     * @param property the system property
     * @param name folder below {@code ~/.cache/tp4j}; empty for that one itself
     * @throws IOException if this user has no home folder, or the folder cannot be created or must not be trusted; the message
     *     names the property
     */
    public static Path cache(String property, String name) throws IOException {
        String hint = "; HINT: name another folder with -D" + property + "=FOLDER";
        String set = System.getProperty(property, "");
        try {
            return open(set.isEmpty() ? home().resolve(".cache").resolve("tp4j").resolve(name) : Path.of(set));
        } catch (IOException e) {
            throw new IOException(reason(e) + hint, e);
        }
    }

    private static Path home() throws IOException {
        String home = System.getProperty("user.home", "");
        if (!Path.of(home).isAbsolute()) { // "?" for a user without an entry in the password file
            throw new IOException("this user has no home folder (user.home is '" + home + "')");
        }
        return Path.of(home);
    }

    private static String reason(IOException e) {
        return e.getClass() == IOException.class ? String.valueOf(e.getMessage()) : e.toString();
    }

    /**
     * Creates a folder of mode 0700, or checks one that exists. If others can read it, that is taken from them; if they can
     * write, it is refused, since its content may be theirs.
     *
     * @return the folder's real path
     * @throws IOException if it cannot be created, is owned by somebody else, or others can write to it
     */
    public static Path open(Path folder) throws IOException {
        Path absolute = folder.toAbsolutePath();
        create(absolute);
        Path real = absolute.toRealPath();
        PosixFileAttributeView view = Files.getFileAttributeView(real, PosixFileAttributeView.class);
        if (view == null) {
            return real;
        }
        PosixFileAttributes attributes = view.readAttributes();
        UserPrincipal user = user(real);
        if (!attributes.owner().equals(user)) {
            throw new IOException("folder " + real + " belongs to user " + attributes.owner() + ", not to " + user
                    + ", so its content cannot be trusted");
        }
        Set<PosixFilePermission> permissions = EnumSet.copyOf(attributes.permissions());
        permissions.retainAll(OTHERS_WRITE);
        if (!permissions.isEmpty()) {
            throw new IOException("folder " + real + " can be written by others ("
                    + PosixFilePermissions.toString(attributes.permissions())
                    + "), so its content cannot be trusted; delete it, or chmod 700 if you trust what is in it");
        }
        if (!attributes.permissions().equals(OWNER_ONLY)) {
            view.setPermissions(OWNER_ONLY);
        }
        return real;
    }

    private static void create(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = folder.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        boolean modes = parent != null && Files.getFileStore(parent).supportsFileAttributeView("posix");
        FileAttribute<?>[] attributes = modes
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
                : new FileAttribute<?>[0];
        try {
            Files.createDirectory(folder, attributes);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            } // otherwise another process was faster
        }
    }

    /** The user that this process runs as, whatever its name: the owner of its own files. */
    private static UserPrincipal user(Path writable) throws IOException {
        try {
            return Files.getOwner(THIS_PROCESS);
        } catch (NoSuchFileException e) { // not Linux
            Path probe = Files.createTempFile(writable, ".tp4j-owner", "");
            try {
                return Files.getOwner(probe);
            } finally {
                Files.delete(probe);
            }
        }
    }
}
