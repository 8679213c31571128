#!/bin/sh
# Builds the simulated CUDA libraries that tests run on where there is no GPU:
#   build.sh SOURCES OUT JCUDA_NATIVES_JAR JCUBLAS_NATIVES_JAR
# makes OUT/{libcuda.so.1,libcublas.so.12,libnvrtc.so.12,libnccl.so.2} of the C++ in SOURCES.
# The jars say which functions JCuda's natives import; what the simulator lacks of these gets a stub that reports itself
# (a missing symbol would end the JVM). CXX and CXXFLAGS are respected.
set -eu

[ $# -eq 4 ] || { echo "usage: build.sh SOURCES OUT JCUDA_NATIVES_JAR JCUBLAS_NATIVES_JAR" >&2; exit 2; }
sources=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
jcuda=$3
jcublas=$4

compiler=${CXX:-g++}
if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
    echo "cudasim: the CUDA simulator is for Linux on x86_64; tests on simulated devices are skipped" >&2
    exit 0
fi
if ! command -v "${compiler%% *}" >/dev/null 2>&1; then
    echo "cudasim: no C++ compiler ($compiler) found, so tests on simulated devices are skipped; install g++ and build again" >&2
    exit 0
fi

mkdir -p "$out/work" "$out/include"
# Faults are left by jumping from one stack to another, which _FORTIFY_SOURCE takes for an attack.
flags="-std=c++17 -O1 -fPIC -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -U_FORTIFY_SOURCE ${CXXFLAGS:-}"

# The JNI libraries of JCuda, only to read their imports.
natives=$out/work/natives
if [ ! -d "$natives" ] || [ "$jcuda" -nt "$natives" ] || [ "$jcublas" -nt "$natives" ]; then
    rm -rf "$natives.$$"
    mkdir -p "$natives.$$"
    jar=${JAVA_HOME:+$JAVA_HOME/bin/}jar
    for archive in "$jcuda" "$jcublas"; do
        (cd "$natives.$$" && "$jar" xf "$archive")
    done
    rm -rf "$natives"
    mv "$natives.$$" "$natives"
    touch "$natives"
fi

# What simulated kernels are compiled with.
for header in "$sources"/kernel/*.h; do
    cmp -s "$header" "$out/include/$(basename "$header")" || cp "$header" "$out/include/"
done

# library SONAME PREFIX STATUS IMPORTER "FLAGS" "LIBRARIES" SOURCE...
# PREFIX is that of its exported functions, STATUS what a stub returns, IMPORTER the JNI library that calls it.
library() {
    soname=$1 prefix=$2 status=$3 importer=$4 extra=$5 libraries=$6
    shift 6
    target=$out/$soname
    # Up to date when newer than its sources, every header and this script.
    if [ -f "$target" ] && [ -z "$(find "$sources" "$0" -type f \
        \( -newer "$target" -a \( -name '*.h' -o -name '*.sh' \) \) | head -n 1)" ] &&
        [ -z "$(find "$@" -newer "$target" | head -n 1)" ]; then
        return
    fi
    work=$out/work/$soname.$$
    mkdir -p "$work"
    # One translation unit a library: most of the time would go into the same headers again and again.
    for source; do
        printf '#include "%s"\n' "$source"
    done >"$work/all.cpp"
    # shellcheck disable=SC2086
    $compiler $flags $extra -I"$sources" -c "$work/all.cpp" -o "$work/all.o"
    : >"$work/stubs.list"
    if [ -n "$importer" ]; then
        nm --defined-only "$work/all.o" | awk 'NF == 3 {print $3}' | sort -u >"$work/defined"
        nm -D --undefined-only "$natives"/lib/lib"$importer"-*.so | awk '{print $2}' | sed 's/@.*//' | grep "^$prefix" |
            sort -u | comm -23 - "$work/defined" >"$work/stubs.list"
    fi
    awk -v status="$status" '
        BEGIN { print "#include <cstdio>" }
        {
            printf "extern \"C\" __attribute__((visibility(\"default\"))) int %s() {", $1
            printf " fprintf(stderr, \"[cudasim] %s is not simulated\\n\"); return %s; }\n", $1, status
        }' "$work/stubs.list" >"$work/stubs.cpp"
    # JCuda's natives look their functions up under a version node named as the library.
    case $soname in
        libcublas* | libnvrtc*) node=$soname ;;
        *) node= ;;
    esac
    printf '%s { global: %s*; local: *; };\n' "$node" "$prefix" >"$work/exports"
    # shellcheck disable=SC2086
    $compiler $flags -shared -Wl,-soname,"$soname" -Wl,--version-script="$work/exports" \
        "$work/all.o" "$work/stubs.cpp" $libraries -o "$target.$$" -lpthread -ldl -lrt
    # The finished library appears at once: nobody ever loads half of it.
    mv -f "$target.$$" "$target"
    rm -rf "$work"
}

library libcuda.so.1 cu 801 JCudaDriver "-O2 -Wno-stringop-overflow" "" "$sources"/driver/*.cpp
library libcublas.so.12 cublas 15 JCublas2 "-O3 -march=native" "$out/libcuda.so.1" "$sources"/cublas/*.cpp
library libnvrtc.so.12 nvrtc 11 JNvrtc "" "" "$sources"/nvrtc/*.cpp
library libnccl.so.2 nccl 5 "" "" "$out/libcuda.so.1 -Wl,-rpath,\$ORIGIN" "$sources"/nccl/*.cpp
