package org.tp4j.checkpoint;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import org.tp4j.tensor.Region;

/**
 * Streams the bytes of a box of one tensor through a buffer, in row-major order of the box, reading little more than
 * the box itself.
 *
 * <p>The box is a nest of levels of equal steps around runs of adjacent bytes. Dimensions taken whole merge into the one
 * outside of them and dimensions of one index vanish, so few levels and long runs remain. Runs below a page that lie less
 * than a page apart are read together: reading one page costs the disk the same however little of it is needed.
 */
final class BoxReader {
    /** Gaps smaller than this are read and discarded: the usual page size of file systems. */
    static final int PAGE_BYTES = 4096;

    /** Largest read that spans gaps. */
    static final int SPAN_BYTES = 1 << 16;

    private final FileBytes file;
    private final String tensor;
    private final boolean empty;

    /** Position of the box's first byte. */
    private final long begin;

    /** Bytes of one run. */
    private final long runBytes;

    /** Steps of each level and bytes between them, outermost first. */
    private final long[] counts;

    private final long[] strideBytes;

    /** Bytes from the first to the last of one step of each level; one more entry, that of a run. */
    private final long[] extentBytes;

    /** The outermost level from which on all gaps are small; the number of levels if none is. */
    private final int spanLevel;

    private final ByteBuffer span;
    private long spanBegin;

    /** The box {@code region} of the tensor of {@code elementBytes}-byte elements that begins at {@code tensorBegin}. */
    BoxReader(FileBytes file, String tensor, long tensorBegin, Region region, int elementBytes) {
        this.file = file;
        this.tensor = tensor;
        this.empty = region.local().elements() == 0;
        int dims = empty ? 0 : region.local().dims(); // strides of an empty tensor may not fit a long
        long[] strides = empty ? new long[0] : region.global().strides();
        long first = 0;
        long[] count = new long[dims];
        long[] stride = new long[dims];
        int levels = 0;
        boolean mergeable = false; // whether the last level steps over whole indices of the dimension before this one
        for (int d = 0; d < dims; d++) {
            long local = region.local().size(d);
            first += region.offsets()[d] * strides[d];
            boolean whole = local == region.global().size(d);
            if (mergeable && whole) {
                count[levels - 1] *= local;
                stride[levels - 1] = strides[d];
            } else if (local > 1) {
                count[levels] = local;
                stride[levels] = strides[d];
                levels++;
                mergeable = true;
            } else {
                mergeable = false;
            }
        }
        boolean adjacent = levels > 0 && stride[levels - 1] == 1;
        this.runBytes = adjacent ? count[--levels] * elementBytes : elementBytes;
        this.begin = tensorBegin + first * elementBytes;
        this.counts = Arrays.copyOf(count, levels);
        this.strideBytes =
                Arrays.stream(stride, 0, levels).map(s -> s * elementBytes).toArray();
        this.extentBytes = new long[levels + 1];
        extentBytes[levels] = runBytes;
        int spanFrom = levels;
        for (int l = levels - 1; l >= 0; l--) {
            if (spanFrom == l + 1 && strideBytes[l] - extentBytes[l + 1] < PAGE_BYTES && runBytes < SPAN_BYTES) {
                spanFrom = l;
            }
            extentBytes[l] = (counts[l] - 1) * strideBytes[l] + extentBytes[l + 1];
        }
        this.spanLevel = spanFrom;
        long spanned = spanFrom == levels ? 0 : Math.min(SPAN_BYTES, extentBytes[spanFrom]);
        this.span = ByteBuffer.allocate((int) spanned).limit(0);
    }

    /**
     * Passes the box's bytes to {@code sink} in pieces that lie in {@code staging}; all but the last fill it.
     */
    void forEachPiece(ByteBuffer staging, Consumer<ByteBuffer> sink) {
        if (empty) {
            return;
        }
        staging.clear();
        long[] index = new long[counts.length];
        do {
            long at = begin;
            long blockEnd = 0;
            for (int l = 0; l <= counts.length; l++) {
                if (l == spanLevel) {
                    blockEnd = at + extentBytes[l];
                }
                at += l < counts.length ? index[l] * strideBytes[l] : 0;
            }
            copyRun(at, blockEnd, staging, sink);
        } while (advance(index));
        if (staging.position() > 0) {
            sink.accept(staging.flip());
        }
    }

    private void copyRun(long runBegin, long blockEnd, ByteBuffer staging, Consumer<ByteBuffer> sink) {
        long at = runBegin;
        long end = runBegin + runBytes;
        while (at < end) {
            int n = (int) Math.min(end - at, staging.remaining());
            if (spanLevel == counts.length) {
                staging.limit(staging.position() + n);
                file.read(staging, at, tensor);
                staging.limit(staging.capacity());
            } else {
                copySpanned(at, n, blockEnd, staging);
            }
            at += n;
            if (!staging.hasRemaining()) {
                sink.accept(staging.flip());
                staging.clear();
            }
        }
    }

    private void copySpanned(long at, int n, long blockEnd, ByteBuffer staging) {
        if (at < spanBegin || at + n > spanBegin + span.limit()) {
            span.clear().limit((int) Math.min(span.capacity(), blockEnd - at));
            file.read(span, at, tensor);
            spanBegin = at;
        }
        staging.put(staging.position(), span, (int) (at - spanBegin), n);
        staging.position(staging.position() + n);
    }

    private boolean advance(long[] index) {
        for (int l = index.length - 1; l >= 0; l--) {
            if (++index[l] < counts[l]) {
                return true;
            }
            index[l] = 0;
        }
        return false;
    }
}
