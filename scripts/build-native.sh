#!/bin/sh
# Compiles each MODULE/src/main/native/NAME.c into MODULE/target/classes/native/OS-ARCH/libNAME.so (.dylib on macOS).
# Called by the Maven build after javac, which has left the JNI headers in MODULE/target/native-headers.
# Code that several .c files share lives in .h files beside them. A version script NAME.map beside NAME.c gives the library
# that script's version node, and the same as its soname. CC and CFLAGS are respected.
# Without a C compiler the build goes on and says so in one line.
set -eu

module=$1
sources=$module/src/main/native
[ -d "$sources" ] || exit 0
set -- "$sources"/*.c
[ -e "$1" ] || exit 0

case $(uname -s) in
    Linux) os=linux suffix=so link=-shared libs=-ldl ;;
    Darwin) os=macosx suffix=dylib link=-dynamiclib libs= ;;
    *) echo "build-native: no natives for $(uname -s); the pure-Java parts work without them" >&2; exit 0 ;;
esac
case $(uname -m) in
    x86_64 | amd64) arch=x86_64 ;;
    aarch64 | arm64) arch=aarch64 ;;
    *) arch=$(uname -m) ;;
esac

compiler=${CC:-}
for candidate in gcc cc clang; do
    [ -n "$compiler" ] || ! command -v $candidate >/dev/null 2>&1 || compiler=$candidate
done
if [ -z "$compiler" ] || ! command -v "${compiler%% *}" >/dev/null 2>&1; then
    echo "build-native: no C compiler (${CC:-gcc, cc, clang}) found, so $(basename "$module") is built without its natives; install gcc and build again" >&2
    exit 0
fi

# Inside a JRE's home the headers may be one folder up.
jni=
for home in "${JAVA_HOME:-}" "${JAVA_HOME:-}/.."; do
    [ -n "$jni" ] || ! [ -f "$home/include/jni.h" ] || jni=$home/include
done
if [ -z "$jni" ]; then
    echo "build-native: no include/jni.h under JAVA_HOME (${JAVA_HOME:-unset}), so $(basename "$module") is built without its natives; use a full JDK" >&2
    exit 0
fi
case $os in
    macosx) jni_os=$jni/darwin ;;
    *) jni_os=$jni/$os ;;
esac

headers=$module/target/native-headers
out=$module/target/classes/native/$os-$arch
mkdir -p "$out" "$headers"
for source; do
    library=$out/lib$(basename "$source" .c).$suffix
    # Up to date when newer than every source and header it could have come from.
    if [ -f "$library" ] && [ -z "$(find "$sources" "$headers" "$0" -type f -newer "$library" 2>/dev/null | head -n 1)" ]; then
        continue
    fi
    versioned=
    map=${source%.c}.map
    if [ -f "$map" ]; then
        [ $os = linux ] || continue
        versioned="-Wl,--version-script=$map -Wl,-soname,$(sed -n 's/ .*//p' "$map" | head -n 1)"
    fi
    # A temporary name first: nobody ever loads half a library.
    # shellcheck disable=SC2086
    $compiler -std=gnu11 -O3 -fPIC $link -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden ${CFLAGS:-} \
        -I"$headers" -I"$sources" -I"$jni" -I"$jni_os" "$source" $versioned -o "$library.$$" -lm -lpthread $libs
    mv -f "$library.$$" "$library"
done
