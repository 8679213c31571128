#!/usr/bin/env bash
# Installs TP4J into the local Maven repository: jars, sources and Javadoc of every published module, without tests.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
case ${1:-} in
    -h | --help)
        sed -n '2s/^# //p' "$TP_SCRIPT"
        exit 0
        ;;
esac
tp_find_java
command -v mvn >/dev/null || tp_fail "there is no mvn" "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)"
cd "$TP_ROOT"
JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never --no-transfer-progress -Dtp.fast -Dtp.install install "$@"
echo "Installed org.tp4j $TP_VERSION: tp-bom, tp-core, tp-cpu, tp-cuda, tp-nccl, tp-cudasim, tp-examples."
