package org.tp4j.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.cuda.CudaLibraries;

/** NVIDIA's library where it is installed; all of it works without a GPU. */
@Timeout(60)
class RealNcclTest {
    @BeforeAll
    static void needsNccl() {
        Optional<String> unavailable = Nccl.unavailable();
        Assumptions.assumeTrue(unavailable.isEmpty(), () -> unavailable.orElse(""));
    }

    @Test
    void shouldTellItsVersion() {
        int version = JNccl.ncclGetVersion();
        assertThat(version).isGreaterThan(2000);
        assertThat(Nccl.description()).startsWith("NCCL " + JNccl.versionText(version) + " (");
    }

    @Test
    void shouldMakeADifferentIdEachTime() {
        NcclUniqueId id = JNccl.ncclGetUniqueId();
        assertThat(JNccl.ncclGetUniqueId()).isNotEqualTo(id);
        assertThat(NcclUniqueId.of(id.bytes())).isEqualTo(id);
        assertThat(id.bytes()).isNotEqualTo(new byte[NcclUniqueId.NCCL_UNIQUE_ID_BYTES]);
    }

    @Test
    void shouldGiveTheWordsForItsResults() {
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclSuccess)).isEqualTo("no error");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclUnhandledCudaError)).contains("unhandled cuda error");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclSystemError)).contains("unhandled system error");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclInternalError)).contains("internal error");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclInvalidArgument)).contains("invalid argument");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclInvalidUsage)).contains("invalid usage");
        assertThat(JNccl.ncclGetErrorString(NcclResult.ncclInProgress)).contains("in progress");
    }

    @Test
    void shouldFailCleanlyWithoutADevice() {
        Assumptions.assumeTrue(CudaLibraries.unavailable().isPresent(), "there is a GPU here");
        NcclUniqueId id = JNccl.ncclGetUniqueId();
        for (int i = 0; i < 2; i++) {
            NcclException e = catchThrowableOfType(NcclException.class, () -> JNccl.ncclCommInitRank(1, id, 0));
            assertThat(e.result()).isEqualTo(NcclResult.ncclUnhandledCudaError);
            assertThat(e.call()).isEqualTo("ncclCommInitRank");
            assertThat(e.lastError()).contains("CUDA");
            assertThat(e)
                    .hasMessageStartingWith("ncclCommInitRank failed with ncclUnhandledCudaError (unhandled cuda error")
                    .hasMessageContaining("HINT: NCCL logs more with NCCL_DEBUG=WARN");
        }
    }

    @Test
    void shouldRefuseSettingsThatCannotBe() {
        assertThatThrownBy(() -> JNccl.ncclCommInitRankConfig(
                        1, JNccl.ncclGetUniqueId(), 0, NcclConfig.initializer().withBlocking(7)))
                .isInstanceOf(NcclException.class);
    }

    @Test
    void shouldRefuseAGroupThatWasNotStarted() {
        assertThatThrownBy(JNccl::ncclGroupEnd)
                .isInstanceOf(NcclException.class)
                .hasMessageStartingWith("ncclGroupEnd failed with ncclInvalidUsage");
    }

    @Test
    void shouldKnowTheFunctionsOfItsVersion() {
        Assumptions.assumeTrue(JNccl.ncclGetVersion() >= 22800, "an older library");
        assertThat(JNccl.has("ncclAlltoAll")).isTrue();
        assertThat(JNccl.has("ncclCommSplit")).isTrue();
        assertThat(JNccl.has("ncclCommInitRankConfig")).isTrue();
        assertThat(JNccl.has("ncclNothing")).isFalse();
    }
}
