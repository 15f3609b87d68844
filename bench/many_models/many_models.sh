#!/bin/bash
#
# Starts a process with many models: copies of the given ones under different names.
#
# Usage: many_models.sh MANY_MODELS [--count=N] [--limit=SECONDS] MODEL.so[=DATA]...
#   DATA     a folder of ONNX's test data, test_data_set_0, with the inputs; otherwise these are zeros
#   --count  how many models (240); copies take turns
#   --limit  seconds that loading and running all of them may take

set -euo pipefail

PROGRAM="$(realpath "$1")"
readonly PROGRAM
shift
count=240
flags=()
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --count=*) count="${1#*=}" ;;
    *) flags+=("$1") ;;
  esac
  shift
done

# Bazel starts programs elsewhere and says where the user is.
cd "${BUILD_WORKING_DIRECTORY:-.}"
[[ $# -gt 0 ]] || {
  echo "usage: many_models.sh MANY_MODELS [--count=N] [--limit=SECONDS] MODEL.so[=DATA]..." >&2
  exit 2
}
WORK="$(mktemp -d)"
readonly WORK
trap 'rm -rf "${WORK}"' EXIT

models=("$@")
copies=()
for ((i = 0; i < count; ++i)); do
  word="${models[i % ${#models[@]}]}"
  model="${word%%=*}"
  copy="${WORK}/$(printf '%03d' "${i}")_$(basename "${model}")"
  cp -L "${model}" "${copy}"
  copies+=("${copy}${word#"${model}"}")
done
"${PROGRAM}" "${flags[@]}" "${copies[@]}"
