#!/usr/bin/env bash
# Rehearses a release: builds a copy of this tree as a release version, signs it with a throw-away key, deploys it into a
# folder, checks every file of it, and builds a consumer project from it. Nothing leaves this machine. Options go to Maven.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
case ${1:-} in
    -h | --help)
        sed -n '2,3s/^# //p' "$TP_SCRIPT"
        exit 0
        ;;
esac
tp_find_java
command -v mvn >/dev/null || tp_fail "there is no mvn" "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)"
command -v gpg >/dev/null || tp_fail "nothing was rehearsed: a release is signed, and there is no gpg on the PATH" \
    "install GnuPG (Debian, Ubuntu: apt-get install gnupg; macOS: brew install gnupg)"

work=$(mktemp -d)
export GNUPGHOME=$work/gnupg
tp_clean() {
    gpgconf --kill gpg-agent 2>/dev/null || true
    rm -rf "$work"
}
trap tp_clean EXIT
repository=$work/repository
release=${TP_VERSION%-SNAPSHOT}

# A copy, so that the version can change and target folders stay as they are.
mkdir "$work/source"
tar -C "$TP_ROOT" --exclude=target --exclude=./.git -cf - . | tar -C "$work/source" -xf -
cd "$work/source"
for pom in pom.xml */pom.xml; do
    sed -i.bak "s|<version>$TP_VERSION</version>|<version>$release</version>|" "$pom"
done
# What the parent lists outside of profiles is published; tp-tests is not.
published=$(sed -n '/<modules>/,/<\/modules>/s|.*<module>\(.*\)</module>.*|\1|p; /<\/modules>/q' pom.xml)

mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-gen-key 'TP4J release rehearsal <rehearsal@example.com>' default default never 2>"$work/gpg.log" || {
    cat "$work/gpg.log" >&2
    tp_fail "gpg could not make a key in $GNUPGHOME" "gpg needs a short path for its socket: set TMPDIR to one, for instance /tmp"
}

echo "Building and signing $release ..."
JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never --no-transfer-progress -Prelease -Dtp.fast -Dtp.install \
    -Dmaven.install.skip=true "-DaltDeploymentRepository=rehearsal::file://$repository" deploy "$@"

failures=0
tp_wrong() {
    echo "WRONG: $1" >&2
    failures=$((failures + 1))
}

# tp_check_file FILE: it is there, signed with the key, and its checksums are right.
tp_check_file() {
    local name=${1#"$repository"/} kind sum
    [ -s "$1" ] || { tp_wrong "$name is missing" && return; }
    gpg --batch --quiet --verify "$1.asc" "$1" 2>/dev/null || tp_wrong "$name has no good signature"
    for kind in md5 sha1; do
        sum=$("${kind}sum" <"$1" | cut -d ' ' -f 1)
        [ "$sum" = "$(cat "$1.$kind" 2>/dev/null)" ] || tp_wrong "$name has no right $kind checksum"
    done
}

# tp_check_jar JAR ENTRY...
tp_check_jar() {
    local jar=$1 entries entry
    shift
    tp_check_file "$jar"
    [ -f "$jar" ] || return 0
    entries=$("$TP_JAVA_DIR/bin/jar" --list --file "$jar")
    for entry; do
        grep -qx "$entry" <<<"$entries" || tp_wrong "${jar#"$repository"/} lacks $entry"
    done
}

# tp_check_pom POM: what a public repository asks for, in the file itself or, of a module, in its parent.
tp_check_pom() {
    local pom=$1 element elements="name description"
    tp_check_file "$pom"
    [ -f "$pom" ] || return 0
    grep -q '<artifactId>tp4j-parent</artifactId>' <<<"$(sed -n '/<parent>/,/<\/parent>/p' "$pom")" \
        || elements+=" url inceptionYear organization licenses developers scm"
    for element in $elements; do
        grep -q "^  <$element[ >]" "$pom" || tp_wrong "${pom#"$repository"/} has no <$element>"
    done
    ! grep -q SNAPSHOT "$pom" || tp_wrong "${pom#"$repository"/} names a SNAPSHOT"
    ! grep -Eq '<(repositories|pluginRepositories|distributionManagement)>' "$pom" || tp_wrong "${pom#"$repository"/} names a repository"
}

base=$repository/org/tp4j
for module in tp4j-parent $published; do
    prefix=$base/$module/$release/$module-$release
    tp_check_pom "$prefix.pom"
    case $module in tp4j-parent | tp-bom) continue ;; esac
    tp_check_jar "$prefix.jar" META-INF/LICENSE META-INF/NOTICE
    tp_check_jar "$prefix-sources.jar" META-INF/LICENSE META-INF/NOTICE
    tp_check_jar "$prefix-javadoc.jar" index.html
done
for folder in "$base"/*/; do
    grep -qx "$(basename "$folder")" <<<"tp4j-parent
$published" || tp_wrong "$(basename "$folder") was deployed and is not to be published"
done

# What was deployed is also what a user needs.
echo "Building a consumer project from it ..."
cp -R tp-tests/src/test/resources/consumer-project "$work/consumer"
cache=$HOME/.m2/repository
for argument; do
    case $argument in -Dmaven.repo.local=*) cache=${argument#*=} ;; esac
done
if ! output=$(cd "$work/consumer" && JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never --no-transfer-progress -s settings.xml \
    "-Dcache=file://$cache" "-Dmodules=file://$repository" "-Dtp4j.version=$release" "-Dmaven.repo.local=$work/local" \
    compile exec:java -Dexec.mainClass=example.Main 2>&1); then
    echo "$output" >&2
    tp_wrong "the consumer project does not build or train (above)"
fi

[ $failures -eq 0 ] || tp_fail "$failures of the release's requirements are not met (above)" "the profile release of pom.xml makes these files"
echo "Ready: $(echo $published | wc -w | tr -d ' ') modules and their parent, $(find "$repository" -name '*.asc' | wc -l | tr -d ' ') signed files."
