#!/usr/bin/env bash
# Learns in one go, within five minutes, what TP4J does on this machine's NVIDIA GPU, and writes it down (docs/gpu-check.md).
# Needs what scripts/gpu-bundle.sh has made, the driver, and CUDA's libraries somewhere, such as in a Python installation; no
# JDK, no Maven, no network.
#   scripts/gpu-check.sh [--bundle DIR] [--out DIR] [--seconds 300] [--simulate]
# --bundle    default target/gpu-bundle
# --out       default $OUT, else target/gpu-check: gpu-check.json (everything), gpu-check.txt (the table), gpu-check.log
# --simulate  on devices simulated on the host, all of it small: to try the check itself
# Exit code: 0 if all stages passed, 1 if not, 2 if nothing could be checked.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What this machine is: a stage of the check, and all there is to learn where Java does not start.
versions() {
    date -u +%Y-%m-%dT%H:%M:%SZ
    uname -srm
    grep -h '^PRETTY_NAME=' /etc/os-release || true
    ldd --version 2>/dev/null | head -n 1 || true
    grep -m 1 '^model name' /proc/cpuinfo || true
    echo "cores $(nproc), memory $(awk '/^MemTotal/ {print int($2 / 1048576)}' /proc/meminfo) GiB"
    ulimit -l | sed 's/^/locked memory limit: /'
    df -h /dev/shm 2>/dev/null | tail -n 1 || true
    env | grep -E '^(CUDA|NVIDIA|NCCL|LD_LIBRARY_PATH|PATH=)' | sort || true
    cat /proc/driver/nvidia/version 2>/dev/null || true
    ldconfig -p 2>/dev/null | grep -E 'libcuda\.so|libcublas|libnvrtc|libnccl|libnvidia-ml' || true
    ! command -v nvcc >/dev/null || nvcc --version | tail -n 2
    local python=${TP4J_PYTHON:-python3}
    ! command -v "$python" >/dev/null || "$python" - <<'PYTHON' || true
import glob, json, os, sys, sysconfig
print("python", sys.version.split()[0], sys.executable)
for file in sorted(glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*", "lib", "*.so*"))):
    if any(name in file for name in ("libcublas", "libnvrtc", "libnccl", "libcudart")):
        print(file, os.path.getsize(file))
try:
    import torch
    facts = dict(torch=torch.__version__, cuda=torch.version.cuda, gpu=torch.cuda.is_available())
    if facts["gpu"]:
        facts.update(device=torch.cuda.get_device_name(), nccl=".".join(map(str, torch.cuda.nccl.version())),
                     cudnn=torch.backends.cudnn.version())
    print(json.dumps(facts))
except ImportError as e:
    print(e)
PYTHON
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --format=csv,noheader \
            --query-gpu=name,driver_version,memory.total,memory.used,clocks.max.sm,clocks.sm,power.limit,temperature.gpu,mig.mode.current,compute_mode || true
        nvidia-smi
    else
        echo "no nvidia-smi"
        [ -n "${TP4J_GPU_CHECK_SIMULATED:-}" ] || return 1
    fi
}

simulate=
for argument; do
    case $argument in
        --versions)
            versions
            exit
            ;;
        --simulate) simulate=yes ;;
        -h | --help)
            sed -n '2,/^# shellcheck/ { /^# shellcheck/! s/^# \{0,1\}//p }' "${BASH_SOURCE[0]}"
            exit 0
            ;;
    esac
done
bundle=$(tp_option bundle "$TP_ROOT/target/gpu-bundle" "$@")
out=$(tp_option out "${OUT:-$TP_ROOT/target/gpu-check}" "$@")
seconds=$(tp_option seconds 300 "$@")
case $seconds in '' | *[!0-9]* | 0) tp_fail "--seconds is '$seconds'" "a whole number, such as 300" ;; esac
[ -f "$bundle/manifest.json" ] || tp_fail "--bundle is $bundle, which holds no manifest.json" \
    "make the bundle on a development machine: scripts/gpu-bundle.sh"
mkdir -p "$out"
out=$(cd "$out" && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/logs" "$scratch/tmp"

# Not every machine has xz; Python's library can do it too.
unpack() {
    if command -v xz >/dev/null; then
        tar -C "$scratch" -xJf "$1"
    else
        "${TP4J_PYTHON:-python3}" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$1" "$scratch"
    fi
}
packed=("$bundle"/*.tar.xz)
pids=()
for archive in "${packed[@]}"; do
    unpack "$archive" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || tp_fail "$bundle could not be unpacked to $scratch" "see that there is room, and xz or python3"
done

simulator=
if [ -n "$simulate" ]; then
    simulator=$TP_ROOT/tp-cudasim/target/cudasim
    [ -f "$simulator/libcuda.so.1" ] || tp_fail "--simulate: no simulated CUDA libraries in $simulator" \
        "build TP4J where there is g++: mvn -q -Dtp.fast -DskipTests package"
    # One device, as the machine has that this is about.
    export CUSIM_DEVICES=1 TP4J_GPU_CHECK_SIMULATED=1
fi

# A runtime that does not start leaves only the machine's description.
if ! "$scratch/java/bin/java" -version >"$scratch/logs/java.log" 2>&1; then
    cat "$scratch/logs/java.log" >&2
    versions 2>&1 | tee "$out/gpu-check.log" || true
    printf '{"check": "TP4J on a GPU", "passed": false, "stages": [{"name": "java", "outcome": "failed"}]}\n' >"$out/gpu-check.json"
    tp_fail "the bundle's Java runtime does not start (above)" "compare the system libraries it needs: ldd java/lib/server/libjvm.so"
fi

command=("$scratch/java/bin/java" -cp "$scratch/lib/*" "-Djava.io.tmpdir=$scratch/tmp" -XX:+UseSerialGC -Xmx256m
    org.tp4j.tests.gpu.GpuCheckMain --out "$out" --scratch "$scratch" --script "$TP_SCRIPT"
    --torch-script "$TP_ROOT/scripts/torch_mlp.py" --python "${TP4J_PYTHON:-python3}" --golden "$scratch/golden"
    --manifest "$bundle/manifest.json" --simulator "$simulator" --seconds $((seconds > SECONDS ? seconds - SECONDS : 1)))
# PyTorch compiles into a folder of this check's own.
export TORCHINDUCTOR_CACHE_DIR=$scratch/inductor TRITON_CACHE_DIR=$scratch/triton
code=0
timeout -k 10 $((seconds + 30)) "${command[@]}" || code=$?
exit $code
