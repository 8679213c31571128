#!/usr/bin/env bash
# Trains the Megatron-style MLP on handwritten digits, by default on 2 ranks as threads; --help lists the options.
# Also: scripts/run-mlp.sh --launcher mpi --ranks 4, or mpirun -np 4 scripts/run-mlp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tp_run tp-examples org.tp4j.examples.cli.mlp.MlpMain "$@"
