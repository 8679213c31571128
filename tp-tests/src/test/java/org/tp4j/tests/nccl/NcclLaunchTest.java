package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tests.comm.CollectiveContract;
import org.tp4j.tests.comm.ContractMain;
import org.tp4j.tests.comm.FailureMain;
import org.tp4j.tests.comm.MpiRun;

/** Ranks on simulated GPUs as processes: under mpirun and without, with a device each and sharing one. */
@Timeout(180)
class NcclLaunchTest {
    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    private static MpiRun mpirun(int ranks, Class<?> main) {
        MpiRun.assumeAvailable();
        return new MpiRun(ranks, main)
                .jvm("-D" + CudaLibraries.SIMULATOR + "=" + Simulator.folder(), "-Dtp.test.device=cuda")
                .limitSeconds(90);
    }

    @Test
    void shouldKeepTheContractUnderMpirun() throws Exception {
        long expected = CollectiveContract.checks().stream()
                .filter(check -> check.minRanks() <= 2)
                .count();
        MpiRun.Result result = mpirun(2, ContractMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=60", "-Dtp4j.comm.engine=nccl")
                .run();
        assertThat(result.output()).contains(expected + " checks passed").doesNotContain("[cudasim] leak");
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    @Test
    void shouldShareADeviceUnderMpirunThroughTheHost() throws Exception {
        MpiRun.Result result = mpirun(2, ContractMain.class)
                .variable("CUSIM_DEVICES", "1")
                .jvm("-Dtp4j.comm.timeoutSeconds=60")
                .args("sum of float32")
                .run();
        assertThat(result.output())
                .contains("6 checks passed")
                .contains("2 ranks share devices: collectives go through host memory");
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    @Test
    void shouldRefuseNcclOnASharedDevice() throws Exception {
        MpiRun.Result result = mpirun(2, ContractMain.class)
                .variable("CUSIM_DEVICES", "1")
                .jvm("-Dtp4j.comm.engine=nccl")
                .run();
        assertThat(result.exitCode()).isNotZero();
        assertThat(result.output()).contains("engine nccl needs a device for each of the 2 ranks");
    }

    @Test
    void shouldEndAllUnderMpirunWhenRanksDisagree(@TempDir Path meeting) throws Exception {
        MpiRun.Result result = mpirun(2, FailureMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=2", "-D" + FailureMain.MEETING + "=" + meeting)
                .args("disagree", "1")
                .run();
        assertThat(result.exitCode()).isNotZero().isNotEqualTo(-1);
        assertThat(result.output())
                .contains("result 2: 3.0")
                .doesNotContain("result 3")
                .containsPattern("rank [01] made a different call: allReduce");
    }

    @Test
    void shouldJoinRanksThatWereStartedWithoutMpi() throws Exception {
        List<RankProcesses.Result> results = new RankProcesses(2, ContractMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=60")
                .args("s")
                .variable("TP4J_SECRET", "a secret of sixteen characters")
                .run();
        assertThat(results)
                .allSatisfy(result ->
                        assertThat(result.exitCode()).as(result.output()).isZero());
        assertThat(results.get(0).output()).containsPattern("[0-9]{2,} checks passed");
        assertThat(results.get(1).output()).doesNotContain("[cudasim] leak");
    }

    @Test
    void shouldRefuseALocalRankWithoutADevice() throws Exception {
        List<RankProcesses.Result> results = new RankProcesses(3, ContractMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=20")
                .variable("CUSIM_DEVICES", "2")
                .run();
        assertThat(results.get(2).output())
                .contains("rank 2 of 3 has local rank 2, but this machine has 2 devices (cuda:0 to cuda:1); HINT");
        assertThat(results).allSatisfy(result -> assertThat(result.exitCode()).isOne());
    }

    @Test
    void shouldRefuseTwoRanksOnOneDevice() throws Exception {
        List<RankProcesses.Result> results = new RankProcesses(2, ContractMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=20")
                .variable("CUDA_VISIBLE_DEVICES", "0")
                .run();
        assertThat(results).allSatisfy(result -> {
            assertThat(result.exitCode()).isOne();
            assertThat(result.output())
                    .contains("ranks 0 and 1 have the same device")
                    .contains("HINT: give each rank its own by LOCAL_RANK or CUDA_VISIBLE_DEVICES");
        });
    }
}
