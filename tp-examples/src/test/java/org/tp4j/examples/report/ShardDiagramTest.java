package org.tp4j.examples.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShardDiagramTest {
    @Test
    void shouldDrawRepeatedModulesOnce() {
        String diagram = new ShardDiagram(ParameterShardsTest.twoLayers(2, 6), 2).html();
        assertThat(diagram).containsOnlyOnce("<h3>* <small>&times; 2</small></h3>");
        assertThat(diagram).contains("rank 0: rows 0-2", "rank 1: rows 3-5");
    }
}
