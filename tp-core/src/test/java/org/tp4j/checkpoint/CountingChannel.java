package org.tp4j.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that counts what is read of it, can return it in small pieces, and can fail. */
final class CountingChannel extends FileChannel {
    private final FileChannel inner;
    private final int maxReadBytes;
    long bytesRead;
    long reads;
    boolean failing;

    CountingChannel(Path path, int maxReadBytes) throws IOException {
        this.inner = FileChannel.open(path, StandardOpenOption.READ);
        this.maxReadBytes = maxReadBytes;
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException {
        if (failing) {
            throw new IOException("the disk is on fire");
        }
        int limit = to.limit();
        to.limit(to.position() + Math.min(limit - to.position(), maxReadBytes));
        int n = inner.read(to, position);
        to.limit(limit);
        bytesRead += Math.max(n, 0);
        reads++;
        return n;
    }

    @Override
    public long size() throws IOException {
        return inner.size();
    }

    @Override
    protected void implCloseChannel() throws IOException {
        inner.close();
    }

    @Override
    public int read(ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void force(boolean metadata) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from, long position) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }
}
