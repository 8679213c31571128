# What the scripts of this folder share: find the JDK, build on first use, assemble the java command, start mpirun.
# Sourced by them, not run. Environment they respect:
#   JAVA_HOME        the JDK (17 or newer); otherwise the java on PATH
#   TP4J_JAVA_OPTS   more JVM options, for instance "-Xmx8g"
#   TP4J_MPIRUN      the mpirun to use; TP4J_MPIRUN_OPTS: more options for it, for instance "--hostfile hosts"
#   TP4J_MAVEN_OPTS  more options for the build, for instance "-Pcuda-redist"
#   TP4J_CLASSPATH   run on this class path and build nothing
# shellcheck shell=bash

set -euo pipefail

TP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TP_SCRIPT=$TP_ROOT/scripts/$(basename "$0")
TP_STAMPS=$TP_ROOT/target/scripts
TP_VERSION=$(sed -n 's|^  <version>\(.*\)</version>.*|\1|p' "$TP_ROOT/pom.xml" | head -n 1)

tp_fail() {
    echo "$(basename "$0"): $1" >&2
    [ $# -lt 2 ] || echo "HINT: $2" >&2
    exit 2
}

# Sets TP_JAVA, TP_JAVA_DIR and TP_JAVA_VERSION (the feature number: 17, 21, ...).
tp_find_java() {
    if [ -n "${JAVA_HOME:-}" ]; then
        TP_JAVA=$JAVA_HOME/bin/java
        [ -x "$TP_JAVA" ] || tp_fail "JAVA_HOME is $JAVA_HOME, which has no bin/java" "point JAVA_HOME to a JDK 17 or newer"
    else
        TP_JAVA=$(command -v java) || tp_fail "no java found" "install a JDK 17 or newer, or set JAVA_HOME to one"
        TP_JAVA=$(readlink -f "$TP_JAVA" 2>/dev/null || echo "$TP_JAVA")
    fi
    TP_JAVA_DIR=$(cd "$(dirname "$TP_JAVA")/.." && pwd)
    # The release file answers without starting a JVM.
    local version
    version=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$TP_JAVA_DIR/release" 2>/dev/null || true)
    [ -n "$version" ] || version=$("$TP_JAVA" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p' | head -n 1)
    TP_JAVA_VERSION=${version%%[!0-9]*}
    [ "${TP_JAVA_VERSION:-0}" -ge 17 ] || tp_fail "$TP_JAVA is Java ${version:-of unknown version}, and 17 is needed" \
        "install a JDK 17 or newer, or set JAVA_HOME to one"
}

# The modules that MODULE is built from, itself last.
tp_modules() {
    echo tp-core tp-cpu tp-cuda tp-nccl tp-examples
    [ "$1" != tp-tests ] || echo tp-cudasim tp-tests
}

# Whether the build of MODULE is older than a source, or a jar of its class path has gone.
tp_is_stale() {
    local module=$1 stamp=$TP_STAMPS/$1.stamp classpath=$TP_ROOT/$1/target/classpath.txt entry m
    [ -f "$stamp" ] && [ -f "$classpath" ] || return 0
    local watched=("$TP_ROOT/pom.xml" "$TP_ROOT/tp-bom/pom.xml" "$TP_ROOT/scripts/build-native.sh")
    for m in $(tp_modules "$module"); do
        watched+=("$TP_ROOT/$m/pom.xml")
        [ ! -d "$TP_ROOT/$m/src/main" ] || watched+=("$TP_ROOT/$m/src/main")
        [ -f "$(tp_jar "$m")" ] || return 0
    done
    # Folders count too: deleting a file changes its folder's time only.
    [ -z "$(find "${watched[@]}" -newer "$stamp" -print 2>/dev/null | head -n 1)" ] || return 0
    local IFS=:
    for entry in $(cat "$classpath"); do
        [ -e "$entry" ] || return 0
    done
    return 1
}

tp_jar() {
    echo "$TP_ROOT/$1/target/$1-$TP_VERSION.jar"
}

tp_build_now() {
    local module=$1 log=$TP_STAMPS/build.log
    command -v mvn >/dev/null || tp_fail "the first run builds TP4J, and there is no mvn" "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)"
    [ -x "$TP_JAVA_DIR/bin/javac" ] || tp_fail "the first run builds TP4J, and $TP_JAVA_DIR has no compiler (a JRE)" "install a JDK 17 or newer, or set JAVA_HOME to one"
    echo "Building TP4J (first use, or sources changed) ..." >&2
    # Taken before the build: what changes meanwhile makes the next run build again.
    touch "$TP_STAMPS/$module.stamp.new"
    if ! (cd "$TP_ROOT" && JAVA_HOME=$TP_JAVA_DIR mvn -q -B -Dstyle.color=never -Dtp.fast -Dmaven.test.skip=true ${TP4J_MAVEN_OPTS:-} -pl "$module" -am package) >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        tp_fail "the build failed (above; also in $log)" "without a network, Maven needs its dependencies cached by an earlier build"
    fi
    grep '^build-native:' "$log" >&2 || true
    mv -f "$TP_STAMPS/$module.stamp.new" "$TP_STAMPS/$module.stamp"
}

# Builds MODULE if it is stale. Several processes may come at once (the ranks of mpirun): one builds, the others wait.
tp_build() {
    [ -z "${TP4J_CLASSPATH:-}" ] && [ -z "${TP4J_BUILT:-}" ] || return 0
    tp_is_stale "$1" || return 0
    mkdir -p "$TP_STAMPS"
    if command -v flock >/dev/null; then
        (
            flock 9
            ! tp_is_stale "$1" || tp_build_now "$1"
        ) 9>"$TP_STAMPS/build.lock"
    else
        local lock=$TP_STAMPS/build.lock.d waited=0
        until mkdir "$lock" 2>/dev/null; do
            sleep 1
            waited=$((waited + 1))
            [ $waited -lt 900 ] || tp_fail "another build has held $lock for 15 minutes" "remove that folder if no build is running"
        done
        (
            trap 'rmdir "$lock"' EXIT
            ! tp_is_stale "$1" || tp_build_now "$1"
        )
    fi
}

# How many ranks share this machine as processes (1 when not launched as one of several).
tp_local_processes() {
    echo "${OMPI_COMM_WORLD_LOCAL_SIZE:-${MPI_LOCALNRANKS:-${LOCAL_WORLD_SIZE:-1}}}"
}

# Passes standard error on, less the JVM's one line about the incubating Vector API, for which it has no switch.
# From the first other line on it is a plain cat, so that progress bars move.
tp_quiet_stderr() {
    trap '' INT
    local line=
    while IFS= read -r line; do
        case $line in
            "WARNING: Using incubator modules: jdk.incubator.vector") exec cat ;;
            *) printf '%s\n' "$line" ;;
        esac
        case $line in "Picked up "* | "NOTE: Picked up "*) ;; *) exec cat ;; esac
    done
    printf '%s' "$line"
}

# tp_exec_java MODULE MAIN ARGS...: becomes that JVM.
tp_exec_java() {
    local module=$1 main=$2
    shift 2
    local classpath=${TP4J_CLASSPATH:-}
    [ -n "$classpath" ] || classpath=$(tp_jar "$module"):$(cat "$TP_ROOT/$module/target/classpath.txt")
    local options=(-cp "$classpath" -Djava.awt.headless=true -XX:+UseParallelGC)
    # Ranks that are processes share the machine's memory; leave the rest to the natives and the system.
    options+=("-XX:MaxRAMPercentage=$((70 / $(tp_local_processes))).0")
    [ "$TP_JAVA_VERSION" -lt 22 ] || options+=(--enable-native-access=ALL-UNNAMED)
    # A cut-down runtime may lack the Vector API: the scalar code then does the work.
    if ! grep -q '^MODULES=' "$TP_JAVA_DIR/release" 2>/dev/null || grep -q '^MODULES=.*jdk\.incubator\.vector' "$TP_JAVA_DIR/release"; then
        options+=(--add-modules jdk.incubator.vector)
        exec 2> >(tp_quiet_stderr >&2)
    fi
    # shellcheck disable=SC2206
    options+=(${TP4J_JAVA_OPTS:-})
    exec "$TP_JAVA" "${options[@]}" "$main" "$@"
}

# Prepares --simulate: builds the simulated CUDA libraries and has this script's JVM use them.
tp_simulate() {
    local argument jars
    for argument; do
        [ "$argument" != --simulate ] || break
    done
    [ "${argument:-}" = --simulate ] || return 0
    mkdir -p "$TP_STAMPS"
    jars=$(tr : '\n' <"$TP_ROOT/tp-examples/target/classpath.txt" | grep -E '/(jcuda|jcublas)-natives-[^/]*\.jar$' | sort -r) || true
    (
        ! command -v flock >/dev/null || flock 9
        # shellcheck disable=SC2086
        JAVA_HOME=$TP_JAVA_DIR sh "$TP_ROOT/tp-cudasim/src/main/resources/org/tp4j/cudasim/build.sh" \
            "$TP_ROOT/tp-cudasim/src/main/resources/org/tp4j/cudasim/sources" "$TP_ROOT/tp-cudasim/target/cudasim" $jars
    ) 9>"$TP_STAMPS/simulator.lock"
    [ -f "$TP_ROOT/tp-cudasim/target/cudasim/libcuda.so.1" ] || tp_fail "--simulate: the simulated CUDA libraries could not be built (above)" "they need Linux on x86_64 and g++"
    TP4J_JAVA_OPTS="-Dtp4j.cuda.simulator=$TP_ROOT/tp-cudasim/target/cudasim -Dtp4j.cuda.kernelCache=$TP_ROOT/tp-cudasim/target/cudasim/kernels ${TP4J_JAVA_OPTS:-}"
}

# tp_option NAME DEFAULT ARGS...: prints the value of --NAME VALUE or --NAME=VALUE (the last one given).
tp_option() {
    local name=$1 value=$2
    shift 2
    while [ $# -gt 0 ]; do
        case $1 in
            "--$name") value=${2:-} ;;
            "--$name="*) value=${1#*=} ;;
        esac
        shift
    done
    echo "$value"
}

tp_asks_for_help() {
    local argument
    for argument; do
        case $argument in -h | --help | -V | --version) return 0 ;; esac
    done
    return 1
}

# Whether mpirun (Open MPI; MPICH and Slurm by PMI) started this process.
tp_is_launched() {
    [ -n "${OMPI_COMM_WORLD_SIZE:-}" ] || [ -n "${PMI_SIZE:-}" ] || [ -n "${PMIX_RANK:-}" ]
}

# tp_mpirun_command N ARGS...: sets TP_COMMAND to what starts this script again as N processes, each with ARGS.
tp_mpirun_command() {
    local ranks=$1
    shift
    case $ranks in '' | *[!0-9]* | 0) tp_fail "--ranks is '$ranks', and --launcher mpi needs a number of processes, 1 or more" ;; esac
    local mpirun=${TP4J_MPIRUN:-mpirun} options=(-np "$ranks") cores
    command -v "$mpirun" >/dev/null || tp_fail "--launcher mpi needs $mpirun, which was not found" \
        "install an MPI (Debian, Ubuntu: apt-get install openmpi-bin; macOS: brew install open-mpi), or use --launcher threads"
    if "$mpirun" --version 2>/dev/null | grep -qi 'open.\?mpi'; then
        cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
        # A JVM is more than one thread: bound to a single core its compiler and collector would take the rank's time.
        options+=(--bind-to none)
        # Ranks that wait for a message poll; with more ranks than cores they must let the others run.
        [ "$ranks" -le "$cores" ] || options+=(--oversubscribe --mca mpi_yield_when_idle 1)
        [ "$(id -u)" != 0 ] || options+=(--allow-run-as-root)
    fi
    # shellcheck disable=SC2206
    options+=(${TP4J_MPIRUN_OPTS:-})
    TP_COMMAND=(env TP4J_BUILT=1 "$mpirun" "${options[@]}" "$TP_SCRIPT" "$@")
}

# tp_run MODULE MAIN ARGS...: runs MAIN of MODULE; under mpirun when the arguments say --launcher mpi.
tp_run() {
    local module=$1 main=$2
    shift 2
    tp_find_java
    tp_build "$module"
    if ! tp_is_launched && ! tp_asks_for_help "$@" && [ "$(tp_option launcher threads "$@")" = mpi ]; then
        tp_mpirun_command "$(tp_option ranks 2 "$@")" "$@"
        exec "${TP_COMMAND[@]}" </dev/null
    else
        tp_simulate "$@"
        tp_exec_java "$module" "$main" "$@"
    fi
}

# Like tp_run, for runners that take --ranks 1,2,3,4 and end with "N passed, N failed, N skipped": under MPI each
# number of ranks is a run of its own, and the last line is the sum of theirs.
tp_run_each_ranks() {
    local module=$1 main=$2
    shift 2
    if tp_is_launched || tp_asks_for_help "$@" || [ "$(tp_option launcher threads "$@")" != mpi ]; then
        tp_run "$module" "$main" "$@"
        return
    fi
    tp_find_java
    tp_build "$module"
    local rest=() count ranks n code passed=0 failed=0 skipped=0 p f s
    ranks=$(tp_option ranks 1,2,3,4 "$@")
    while [ $# -gt 0 ]; do
        case $1 in
            --ranks) [ $# -eq 1 ] || shift ;;
            --ranks=*) ;;
            *) rest+=("$1") ;;
        esac
        shift
    done
    count=$(mktemp)
    # shellcheck disable=SC2064
    trap "rm -f '$count'" EXIT
    for n in ${ranks//,/ }; do
        code=0
        : >"$count"
        tp_mpirun_command "$n" ${rest[@]+"${rest[@]}"} --ranks "$n"
        "${TP_COMMAND[@]}" </dev/null | awk -v count="$count" '
            /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { print $1, $3, $5 > count; next }
            { print; fflush() }' || code=$?
        read -r p f s <"$count" || { p=0 f=0 s=0 code=1; }
        # A run that broke off counts as a failure even where no case of it had failed.
        [ $code -eq 0 ] || [ "$f" -gt 0 ] || f=1
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}
