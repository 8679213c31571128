#!/usr/bin/env bash
# Makes target/gpu-bundle: all that scripts/gpu-check.sh needs on a machine with a GPU that has no JDK, no Maven and no network.
# A Java runtime cut to size, TP4J's jars with their natives, its device tests, the libraries they use, reference vectors.
#   scripts/gpu-bundle.sh [--golden DIR] [--to DIR] [--without-openblas]
# --golden defaults to ../shared/golden where that is, else to the vectors among the tests. XZ_OPT (default "-7 -T0") says how
# hard to compress. With TP4J_BUILT=1 nothing is built.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit_mb=55
to=$(tp_option to "$TP_ROOT/target/gpu-bundle" "$@")
golden=$(tp_option golden "" "$@")
openblas=yes
for argument; do
    case $argument in
        --without-openblas) openblas=no ;;
        -h | --help)
            sed -n '2,/^# shellcheck/ { /^# shellcheck/! s/^# \{0,1\}//p }' "${BASH_SOURCE[0]}"
            exit 0
            ;;
    esac
done
[ -n "$golden" ] || for golden in "$TP_ROOT/../shared/golden" "$TP_ROOT/tp-tests/src/test/resources/golden"; do
    [ ! -f "$golden/index.json" ] || break
done
[ -f "$golden/index.json" ] || tp_fail "--golden is $golden, which holds no index.json" "name the folder of the reference vectors"
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || tp_fail "the bundle is for Linux on x86-64, this is $(uname -sm)"
for tool in xz tar; do
    command -v $tool >/dev/null || tp_fail "no $tool found" "install it (Debian, Ubuntu: apt-get install xz-utils tar)"
done
tp_find_java
if ! [ -x "$TP_JAVA_DIR/bin/jlink" ] || ! [ -d "$TP_JAVA_DIR/jmods" ]; then
    tp_fail "$TP_JAVA_DIR has no jlink or no jmods" \
        "install a full JDK 17 or newer (Debian, Ubuntu: openjdk-17-jdk-headless), or set JAVA_HOME to one"
fi

# Everything but the tests' run; offline first, as nothing changes between two bundles.
build() {
    local log=$TP_STAMPS/bundle-build.log arguments=(-q -B -Dstyle.color=never -Dtp.fast -DskipTests -pl tp-tests -am package)
    mkdir -p "$TP_STAMPS"
    echo "Building TP4J ..." >&2
    (cd "$TP_ROOT" && export JAVA_HOME=$TP_JAVA_DIR && { mvn -o "${arguments[@]}" || mvn "${arguments[@]}"; }) \
        >"$log" 2>&1 </dev/null && return
    cat "$log" >&2
    tp_fail "the build failed (above; also in $log)"
}
[ -n "${TP4J_BUILT:-}" ] || build
classpath=$TP_ROOT/tp-tests/target/test-classpath.txt
[ -f "$classpath" ] || tp_fail "TP4J is not built: no $classpath" "leave TP4J_BUILT out"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bundle" "$work/lib"
export XZ_OPT=${XZ_OPT:--7 -T0}

# What the jars and the tests ask of Java; the check's dry run would miss one that is left out.
modules=java.base,java.instrument,java.logging,java.management,java.naming,java.xml,jdk.incubator.vector,jdk.unsupported
modules=$modules,jdk.zipfs # by which JUnit looks into jars
"$TP_JAVA_DIR/bin/jlink" --add-modules $modules --strip-java-debug-attributes --no-header-files --no-man-pages \
    --output "$work/java" 2>&1 | { grep -v "Using incubator modules" || true; }
tar -C "$work" --owner=0 --group=0 -cJf "$work/bundle/java.tar.xz" java

# The tests' libraries, less what none of the stages uses. JCuda's natives for the driver, NVRTC and cuBLAS alone. Large jars
# are stored as they are, so that xz compresses them better than the jar does.
repack_bytes=1000000
repack() { # repack JAR [PATTERN...]: without the files of these names
    local jar=$1 pattern
    shift
    mkdir "$work/unpacked"
    (cd "$work/unpacked" && "$TP_JAVA_DIR/bin/jar" xf "$jar")
    for pattern; do
        find "$work/unpacked" -name "$pattern" -delete
    done
    "$TP_JAVA_DIR/bin/jar" c0Mf "$work/lib/$(basename "$jar")" -C "$work/unpacked" .
    rm -rf "$work/unpacked"
}
for jar in $(tr : '\n' <"$classpath") "$(tp_jar tp-tests)"; do
    case $(basename "$jar") in
        archunit* | jmh-* | jopt-simple* | commons-math3*) continue ;;
        openblas*) [ $openblas = yes ] || continue ;;
        jcuda-natives-* | jcublas-natives-*)
            repack "$jar" 'libJNvPTXCompiler-*' 'libJCudaRuntime-*' 'libJCublas-*'
            continue
            ;;
    esac
    if [ "$(stat -c %s "$jar")" -ge $repack_bytes ]; then
        repack "$jar"
    else
        cp "$jar" "$work/lib/"
    fi
done
for module in $(tp_modules tp-tests); do
    [ -f "$work/lib/$(basename "$(tp_jar "$module")")" ] || tp_fail "the class path of the tests has no jar of $module" \
        "build with Maven's package phase, which makes the jars"
done
"$TP_JAVA_DIR/bin/jar" c0f "$work/lib/device-tests.jar" -C "$TP_ROOT/tp-tests/target/test-classes" org
tar -C "$work" --owner=0 --group=0 -cJf "$work/bundle/lib.tar.xz" lib
mkdir "$work/golden"
cp -r "$golden/." "$work/golden/"
tar -C "$work" --owner=0 --group=0 -cJf "$work/bundle/golden.tar.xz" golden

commit=$(git -C "$TP_ROOT" rev-parse HEAD 2>/dev/null || echo unknown)
dirty=false
[ -z "$(git -C "$TP_ROOT" status --porcelain 2>/dev/null)" ] || dirty=true
{
    printf '{\n  "commit": "%s",\n  "uncommitted_changes": %s,\n  "version": "%s",\n' "$commit" $dirty "$TP_VERSION"
    printf '  "java": "%s",\n  "made": "%s",\n' "$("$work/java/bin/java" -version 2>&1 | sed -n 's/.*"\(.*\)".*/\1/p')" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '  "golden_cases": %s,\n' "$(find "$golden" -name '*.safetensors' | wc -l)"
    printf '  "jars": [%s],\n' "$(cd "$work/lib" && printf '"%s", ' -- *.jar | sed 's/^"--", //; s/, $//')"
    printf '  "bytes": {%s}\n}\n' "$(cd "$work/bundle" && stat -c '"%n": %s' -- *.xz | paste -sd, | sed 's/,/, /g')"
} >"$work/bundle/manifest.json"

rm -rf "$to"
mkdir -p "$(dirname "$to")"
mv "$work/bundle" "$to"
bytes=$(du -sb "$to" | cut -f1)
(cd "$to" && stat -c '%10s  %n' -- *)
echo "$bytes bytes in $to"
[ "$bytes" -lt $((limit_mb * 1000 * 1000)) ] || tp_fail "the bundle has $bytes bytes, and $limit_mb MB are the limit" \
    "leave OpenBLAS out with --without-openblas"
