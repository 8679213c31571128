#!/usr/bin/env bash
# Runs the reference vectors of a folder: scripts/conformance.sh DIR [--ranks 1,2,3,4] [--launcher threads|mpi].
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tp_run_each_ranks tp-tests org.tp4j.tests.conformance.ConformanceMain "$@"
