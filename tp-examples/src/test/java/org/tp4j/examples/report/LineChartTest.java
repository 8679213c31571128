package org.tp4j.examples.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tp4j.examples.report.LineChart.Series;

class LineChartTest {
    @Test
    void shouldLabelAxesWithRoundNumbers() {
        ValueAxis linear = ValueAxis.linear(0.9, 1);
        assertThat(linear.ticks().stream().map(linear::label))
                .containsExactly("0.9", "0.92", "0.94", "0.96", "0.98", "1");
        ValueAxis decades = ValueAxis.powersOfTen(0.004, 2.5);
        assertThat(decades.ticks().stream().map(decades::label)).containsExactly("0.001", "0.01", "0.1", "1");
    }

    @Test
    void shouldClampValuesToTheAxis() {
        ValueAxis decades = ValueAxis.powersOfTen(0.004, 2.5);
        assertThat(decades.fraction(0.001)).isCloseTo(0, within(1e-9));
        assertThat(decades.fraction(1e9)).isEqualTo(1);
    }

    @Test
    void shouldDrawASinglePoint() {
        Series only = new Series("a", "main", new double[] {1}, new double[] {0.5}, true);
        String chart = new LineChart("t", "x", ValueAxis.linear(0, 1), List.of(only)).html();
        assertThat(chart).contains("<circle").doesNotContain("NaN").doesNotContain("Infinity");
    }

    @Test
    void shouldRefuseASeriesWithAMissingValue() {
        assertThatThrownBy(() -> new Series("a", "main", new double[] {1, 2}, new double[] {0.5}, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("series 'a' has 2 x values and 1 y values");
    }
}
