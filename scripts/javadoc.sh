#!/usr/bin/env bash
# Writes the Javadoc of all library modules as one site, target/reports/apidocs/index.html. Options go to Maven.
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
site=$TP_ROOT/target/reports/apidocs
rm -rf "$site"
# The examples are a program, and tp-bom has no code.
JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never --no-transfer-progress -Dtp.fast -Dtp.install -pl '!tp-bom,!tp-examples' javadoc:aggregate@site "$@"
# A package that is internal may be exported to a sibling: it is not part of the API for that.
if grep -E '(^|\.)internal(\.|$)' "$site/element-list" >&2; then
    tp_fail "the site documents internal packages (above)" "excludePackageNames of pom.xml leaves them out"
fi
echo "Written: $site/index.html"
