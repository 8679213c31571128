package org.tp4j.examples.mlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/**
 * Handwritten digits, 8x8 pixels each, in a part to train on and a part held out: of every class each fifth image. From the
 * UCI Machine Learning Repository, "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998), CC BY 4.0.
 *
 * @param train what is learnt from
 * @param test what accuracy is measured on
 */
record Digits(Part train, Part test) {
    static final int PIXELS = 64;
    static final int CLASSES = 10;

    private static final String RESOURCE = "/digits/digits.csv.gz";
    private static final int HOLD_OUT_EVERY = 5;
    private static final float WHITE = 16; // the largest pixel value of the file

    /** One image: pixels between 0 and 1, row by row, and the digit it shows. */
    record Image(float[] pixels, int label) {}

    /** Some images, and the tensors that a model is given of them. */
    record Batch(List<Image> images) {
        int size() {
            return images.size();
        }

        /** Pixels [size, 64]. */
        Tensor pixels(Backend backend, DType dtype) {
            float[] all = new float[size() * PIXELS];
            for (int i = 0; i < size(); i++) {
                System.arraycopy(images.get(i).pixels, 0, all, i * PIXELS, PIXELS);
            }
            return Tensors.of(backend, all, size(), PIXELS).cast(dtype);
        }

        /** Digits [size]. */
        Tensor labels(Backend backend) {
            return Tensors.of(backend, images.stream().mapToLong(Image::label).toArray(), size());
        }

        /** The share of images whose digit is the one guessed. */
        double shareOfHits(long[] guesses) {
            int hits = 0;
            for (int i = 0; i < size(); i++) {
                hits += guesses[i] == images.get(i).label ? 1 : 0;
            }
            return (double) hits / size();
        }
    }

    /** Images of one purpose. */
    record Part(List<Image> images) {
        int size() {
            return images.size();
        }

        /** All of them. */
        Batch whole() {
            return new Batch(images);
        }

        /** All of them in an order that depends on seed and epoch alone, cut into batches; the last may be smaller. */
        List<Batch> batches(int size, long seed, int epoch) {
            List<Image> shuffled = new ArrayList<>(images);
            java.util.Collections.shuffle(shuffled, new Random(seed * 1_000_003 + epoch));
            List<Batch> batches = new ArrayList<>();
            for (int from = 0; from < shuffled.size(); from += size) {
                batches.add(new Batch(shuffled.subList(from, Math.min(shuffled.size(), from + size))));
            }
            return batches;
        }
    }

    /** Reads the file that comes with the examples. */
    static Digits load() {
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
        return new Digits(new Part(List.copyOf(train)), new Part(List.copyOf(test)));
    }

    private static Image parse(String line) {
        String[] fields = line.split(",", -1);
        float[] pixels = new float[PIXELS];
        for (int i = 0; i < PIXELS; i++) {
            pixels[i] = Integer.parseInt(fields[i]) / WHITE;
        }
        return new Image(pixels, Integer.parseInt(fields[PIXELS]));
    }
}
