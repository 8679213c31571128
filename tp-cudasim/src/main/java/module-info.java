/** Simulated CUDA devices for tests, and a JUnit extension that runs tests on them. */
module org.tp4j.cudasim {
    requires transitive org.tp4j.cuda;
    requires org.slf4j;
    requires static transitive org.junit.jupiter.api;
    requires static org.jspecify;

    exports org.tp4j.cudasim;
}
