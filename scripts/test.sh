#!/usr/bin/env bash
# Every test and check of TP4J: all modules, all static checks. Options go to Maven; "scripts/test.sh -pl tp-core"
# tests one module. The tests that need an MPI are skipped, and counted as such, where there is no mpirun.
# --soak runs the long runs instead, which look for memory, threads and descriptors that grow: about half an hour.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
case ${1:-} in
    -h | --help)
        sed -n '2,4s/^# //p' "$TP_SCRIPT"
        exit 0
        ;;
esac
tp_find_java
command -v mvn >/dev/null || tp_fail "there is no mvn" "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)"
command -v "${TP4J_MPIRUN:-mpirun}" >/dev/null || echo "No mpirun here: the tests over MPI will be skipped (Debian, Ubuntu: apt-get install openmpi-bin)." >&2
cd "$TP_ROOT"
if [ "${1:-}" = --soak ]; then
    shift
    JAVA_HOME=$TP_JAVA_DIR exec mvn -B --no-transfer-progress test -Dtp.fast -pl tp-tests -am -Dgroups=soak -Dtp.test.excluded= \
        -Dtp.test.limitSeconds=7200 -Dsurefire.failIfNoSpecifiedTests=false "$@"
fi
if [ $# -gt 0 ]; then
    JAVA_HOME=$TP_JAVA_DIR exec mvn -B --no-transfer-progress verify "$@"
fi
# A whole build: the other scripts need none of their own after it.
mkdir -p "$TP_STAMPS"
touch "$TP_STAMPS/tp-examples.stamp.new" "$TP_STAMPS/tp-tests.stamp.new"
JAVA_HOME=$TP_JAVA_DIR mvn -B --no-transfer-progress verify
for module in tp-examples tp-tests; do
    mv -f "$TP_STAMPS/$module.stamp.new" "$TP_STAMPS/$module.stamp"
done
