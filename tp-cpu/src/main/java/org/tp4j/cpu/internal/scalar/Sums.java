package org.tp4j.cpu.internal.scalar;

/**
 * The order in which sums are taken, the same for scalar and vector loops of any width: element i of a block of 128 goes
 * into column i mod 16; the eight numbers of a column are added pairwise in floats, blocks in doubles; numbers after the
 * last whole block go into their column in doubles; at last the columns are added pairwise.
 */
public final class Sums {
    /** Columns. */
    public static final int COLUMNS = 16;

    /** Elements of a block. */
    public static final int BLOCK = 8 * COLUMNS;

    private static final ThreadLocal<double[]> SCRATCH = ThreadLocal.withInitial(() -> new double[COLUMNS]);

    private Sums() {}

    /** Sixteen zeros, this thread's own until the next call. */
    public static double[] columns() {
        double[] columns = SCRATCH.get();
        for (int j = 0; j < COLUMNS; j++) {
            columns[j] = 0;
        }
        return columns;
    }

    /** The sum of the columns; overwrites them. */
    public static double total(double[] columns) {
        for (int width = COLUMNS / 2; width > 0; width /= 2) {
            for (int j = 0; j < width; j++) {
                columns[j] += columns[j + width];
            }
        }
        return columns[0];
    }

    /** Adds x[at ... at + n]. */
    public static void add(float[] x, int at, int n, double[] columns) {
        int i = 0;
        for (; i + BLOCK <= n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j++) {
                int k = at + i + j;
                float a = x[k] + x[k + COLUMNS] + (x[k + 2 * COLUMNS] + x[k + 3 * COLUMNS]);
                float b = x[k + 4 * COLUMNS] + x[k + 5 * COLUMNS] + (x[k + 6 * COLUMNS] + x[k + 7 * COLUMNS]);
                columns[j] += a + b;
            }
        }
        for (; i < n; i++) {
            columns[i % COLUMNS] += x[at + i];
        }
    }

    /** Adds the squares of x[at ... at + n] - shift. */
    public static void addSquares(float[] x, int at, float shift, int n, double[] columns) {
        int i = 0;
        for (; i + BLOCK <= n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j++) {
                int k = at + i + j;
                float a = squares(x[k] - shift, x[k + COLUMNS] - shift);
                float b = squares(x[k + 2 * COLUMNS] - shift, x[k + 3 * COLUMNS] - shift);
                float c = squares(x[k + 4 * COLUMNS] - shift, x[k + 5 * COLUMNS] - shift);
                float d = squares(x[k + 6 * COLUMNS] - shift, x[k + 7 * COLUMNS] - shift);
                columns[j] += a + b + (c + d);
            }
        }
        for (; i < n; i++) {
            float d = x[at + i] - shift;
            columns[i % COLUMNS] += (double) d * d;
        }
    }

    private static float squares(float a, float b) {
        return a * a + b * b;
    }

    /** Adds the products of x[xAt ... xAt + n] and y[yAt ... yAt + n]. */
    public static void addProducts(float[] x, int xAt, float[] y, int yAt, int n, double[] columns) {
        int i = 0;
        for (; i + BLOCK <= n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j++) {
                float a = products(x, xAt + i + j, y, yAt + i + j);
                float b = products(x, xAt + i + j + 2 * COLUMNS, y, yAt + i + j + 2 * COLUMNS);
                float c = products(x, xAt + i + j + 4 * COLUMNS, y, yAt + i + j + 4 * COLUMNS);
                float d = products(x, xAt + i + j + 6 * COLUMNS, y, yAt + i + j + 6 * COLUMNS);
                columns[j] += a + b + (c + d);
            }
        }
        for (; i < n; i++) {
            columns[i % COLUMNS] += (double) x[xAt + i] * y[yAt + i];
        }
    }

    private static float products(float[] x, int xAt, float[] y, int yAt) {
        return x[xAt] * y[yAt] + x[xAt + COLUMNS] * y[yAt + COLUMNS];
    }
}
