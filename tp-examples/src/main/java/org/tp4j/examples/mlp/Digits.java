package org.tp4j.examples.mlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/**
 * 1,797 handwritten digits of 8x8 pixels. Every fifth image of each class is held out. From the UCI Machine Learning
 * Repository, "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998), CC BY 4.0.
 *
 * @param train the training images
 * @param test the held-out images, which accuracy is measured on
 */
public record Digits(Split train, Split test) {
    /** Pixels per image. */
    public static final int PIXELS = 64;

    /** Number of classes: the digits 0 to 9. */
    public static final int CLASSES = 10;

    private static final String RESOURCE = "/digits/digits.csv.gz";
    private static final int HOLD_OUT_EVERY = 5;
    private static final float MAX_PIXEL = 16; // in the file

    /**
     * One image.
     *
     * @param pixels row by row, between 0 (white) and 1 (ink)
     * @param label the digit it shows
     */
    public record Image(float[] pixels, int label) {}

    /**
     * Images that go through the model together.
     *
     * @param images in order
     */
    public record Batch(List<Image> images) {
        /** Number of images. */
        public int size() {
            return images.size();
        }

        /** The pixels as a tensor [size, 64]. */
        public Tensor pixels(Backend backend, DType dtype) {
            float[] all = new float[size() * PIXELS];
            for (int i = 0; i < size(); i++) {
                System.arraycopy(images.get(i).pixels, 0, all, i * PIXELS, PIXELS);
            }
            return Tensors.of(backend, all, size(), PIXELS).cast(dtype);
        }

        /** The labels as a tensor [size] of INT64. */
        public Tensor labels(Backend backend) {
            return Tensors.of(backend, images.stream().mapToLong(Image::label).toArray(), size());
        }

        /** The fraction of images whose label was predicted. */
        public double accuracy(long[] predicted) {
            int hits = 0;
            for (int i = 0; i < size(); i++) {
                hits += predicted[i] == images.get(i).label ? 1 : 0;
            }
            return (double) hits / size();
        }
    }

    /**
     * The training images or the held-out images.
     *
     * @param images in the order of the file
     */
    public record Split(List<Image> images) {
        /** Number of images. */
        public int size() {
            return images.size();
        }

        /** All images in one batch. */
        public Batch whole() {
            return new Batch(images);
        }

        /** All images, shuffled by seed and epoch only, in batches; the last batch may be smaller. */
        public List<Batch> batches(int size, long seed, int epoch) {
            List<Image> shuffled = new ArrayList<>(images);
            Collections.shuffle(shuffled, new Random(seed * 1_000_003 + epoch));
            List<Batch> batches = new ArrayList<>();
            for (int from = 0; from < shuffled.size(); from += size) {
                batches.add(new Batch(shuffled.subList(from, Math.min(shuffled.size(), from + size))));
            }
            return batches;
        }
    }

    /** Reads the data set, which is a resource of this module. */
    public static Digits load() {
        List<Image> train = new ArrayList<>();
        List<Image> test = new ArrayList<>();
        int[] seen = new int[CLASSES];
        try (InputStream raw = Digits.class.getResourceAsStream(RESOURCE)) {
            if (raw == null) {
                throw new IllegalStateException(RESOURCE + " is not on the class path; HINT: it is in tp-examples");
            }
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(new GZIPInputStream(raw), StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Image image = parse(line);
                boolean heldOut = seen[image.label]++ % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1;
                (heldOut ? test : train).add(image);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Digits(new Split(List.copyOf(train)), new Split(List.copyOf(test)));
    }

    private static Image parse(String line) {
        String[] fields = line.split(",", -1);
        float[] pixels = new float[PIXELS];
        for (int i = 0; i < PIXELS; i++) {
            pixels[i] = Integer.parseInt(fields[i]) / MAX_PIXEL;
        }
        return new Image(pixels, Integer.parseInt(fields[PIXELS]));
    }
}
