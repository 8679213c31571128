#!/usr/bin/env bash
# Installs TP4J into the local Maven repository: jars and sources of every published module, without tests. --javadoc adds
# Javadoc jars. Other options go to Maven.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
javadoc=(-Dmaven.javadoc.skip)
case ${1:-} in
    -h | --help)
        sed -n '2,3s/^# //p' "$TP_SCRIPT"
        exit 0
        ;;
    --javadoc)
        javadoc=(-DadditionalJOption=-J-XX:TieredStopAtLevel=1)
        shift
        ;;
esac
tp_find_java
command -v mvn >/dev/null || tp_fail "there is no mvn" "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)"
cd "$TP_ROOT"
# The second compiler of the JVM costs a build as short as this one more than it brings.
export MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}"
JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never --no-transfer-progress -Dtp.fast -Dtp.install "${javadoc[@]}" install "$@"
echo "Installed org.tp4j $TP_VERSION: tp-bom, tp-core, tp-cpu, tp-cuda, tp-nccl, tp-cudasim, tp-examples."
