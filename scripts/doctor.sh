#!/usr/bin/env bash
# Says what of TP4J works on this machine, what does not, and what to install.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tp_run tp-examples org.tp4j.examples.doctor.DoctorMain "$@"
