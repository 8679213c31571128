#!/usr/bin/env bash
# Shows that T ranks compute what one rank computes: scripts/parity.sh [--ranks 1,2,3,4] [--launcher threads|mpi].
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tp_run_each_ranks tp-tests org.tp4j.tests.parity.ParityMain "$@"
