#!/usr/bin/env bash
# What a GPU computes is what the processor computes, on Mesa's software Vulkan (lavapipe): no GPU is needed, and speed
# means nothing here.
#
#     scripts/gpu_check.sh             # with the feature `wgpu` on lavapipe
#     scripts/gpu_check.sh cuda:1      # with the feature `cuda` on a card that is there
#
# The feature `wgpu` is built alone: with `vulkan`, shaders are SPIR-V, and lavapipe crashes while it compiles them.
# The first build is some 370 crates and takes more than ten minutes on 2 cores, so `.ci/run` does not call this:
# call it by hand after a change of what computes, of what is read back, or of Burn's version.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:-wgpu}
feature=${device%%:*}
target=${CARGO_TARGET_DIR:-target}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Without it, EGL complains each time that it is asked for OpenGL.
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$out}

if [ $# = 0 ]; then
  icd=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
  if [ ! -e "$icd" ]; then
    apt-get update --quiet && apt-get install --quiet --yes mesa-vulkan-drivers
  fi
  # No other driver: a GPU that is there is not what is asked about.
  export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
fi

# Both packages at once, so that the dependencies are built once for all that follows.
packages=(--locked --profile gpu-check -p rehearsal -p rehearsal-cli --features "rehearsal/$feature,rehearsal-cli/$feature")
program=$target/gpu-check/rehearsal

echo "== build"
cargo build "${packages[@]}"

echo "== what is not there is refused with a sentence, and exit code 2"
refused() {
  local expected=$1 code=0 said
  shift
  said=$("$@" 2>&1) || code=$?
  if [ "$code" != 2 ] || ! grep -qF "$expected" <<< "$said"; then
    echo "expected exit code 2 and \"$expected\", got $code: $said" >&2
    exit 1
  fi
  echo "$said"
}
refused "there is no device $feature:99" "$program" run --device "$feature:99"
if [ $# = 0 ]; then
  refused "there is no $feature device on this machine" \
    env VK_ICD_FILENAMES=/nowhere VK_DRIVER_FILES=/nowhere LIBGL_DRIVERS_PATH=/nowhere __EGL_VENDOR_LIBRARY_FILENAMES=/nowhere \
    "$program" bench step --device "$feature"
fi

echo "== PyTorch's numbers; every method for a few steps; saved here, resumed there; the same bits twice"
REHEARSAL_DEVICE=$device cargo test "${packages[@]}" --test parity --test devices -- --test-threads 1

echo "== from the command line: a run says what computed it"
small=(--classes 4 --tasks 2 --train-per-class 20 --test-per-class 5 --width 4 --memory 20 --candidates 12 --threads 2)
"$program" run --quiet --device "$device" "${small[@]}" --out "$out/whole"
python3 - "$out/whole/result.json" "$feature" <<'PYTHON'
import json, sys
record = json.load(open(sys.argv[1]))
[computed] = record["computed"]
print(computed)
assert computed["device"].startswith(sys.argv[2]) and computed["adapter"] and computed["kernels"] == "composed", computed
PYTHON

echo "== times of a step, which mean nothing on lavapipe"
"$program" bench step --device "$device" --width 4 --size 8 --repeats 3
echo "all well on $device"
