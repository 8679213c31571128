package example;

import org.tp4j.tensor.Backends;

/** Placeholder. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.out.println("trained " + Backends.availability());
    }
}
