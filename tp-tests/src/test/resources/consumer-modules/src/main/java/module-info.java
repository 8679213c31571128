/** Laid over consumer-project: the same program as a module. */
module com.example.consumer {
    requires org.tp4j.core;
    requires org.tp4j.cpu;
}
