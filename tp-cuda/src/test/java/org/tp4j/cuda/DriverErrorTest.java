package org.tp4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DriverErrorTest {
    @Test
    void shouldSayThatAStubIsNoDriver() {
        assertThat(CudaLibraries.startError(34))
                .contains("the stub library of a CUDA toolkit (CUDA_ERROR_STUB_LIBRARY)")
                .contains("is a folder 'stubs' in LD_LIBRARY_PATH?");
        assertThat(CudaLibraries.startError(35)).isEqualTo("error 35");
    }
}
