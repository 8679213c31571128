#!/usr/bin/env bash
# Measures; prints one line of JSON: scripts/bench.sh mlp|op|gpu [options], --help lists them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tp_run tp-tests org.tp4j.tests.bench.BenchMain "$@"
