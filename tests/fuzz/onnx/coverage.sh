#!/bin/bash
#
# Says which functions of the compiler no random ONNX model touches: schedules, passes and their
# rules, operators, converters. They are compiled for counting; everything else comes from the cache.
#
# Usage: tests/fuzz/onnx/coverage.sh [MODELS [FIRST_SEED]]

set -euo pipefail

readonly LLVM=/usr/lib/llvm-19/bin
readonly COUNT=-fprofile-instr-generate
readonly WHERE='^compiler/(te|relay/passes|relay/ops|frontends/onnx)/.*\.cc$'
readonly MODELS="${1:-1000}"
readonly SEED="${2:-1}"

cd "$(dirname "$0")/../../.."
bazel build //tests/fuzz/onnx:onnx_fuzz \
  --per_file_copt="${WHERE}@${COUNT},-fcoverage-mapping" --linkopt="${COUNT}" >&2

WORK_DIR="$(mktemp -d)"
readonly WORK_DIR
trap 'rm -rf "${WORK_DIR}"' EXIT

# Failures are another command's concern. "%4m" merges what all processes count into four files.
LLVM_PROFILE_FILE="${WORK_DIR}/%4m.profraw" bazel-bin/tests/fuzz/onnx/onnx_fuzz \
  --models="${MODELS}" --seed="${SEED}" --failures="${WORK_DIR}" --reduce=false > /dev/null || true
"${LLVM}/llvm-profdata" merge -o "${WORK_DIR}/all" "${WORK_DIR}"/*.profraw

"${LLVM}/llvm-cov" report bazel-bin/tests/fuzz/onnx/onnx_fuzz -instr-profile="${WORK_DIR}/all" \
  -show-functions -Xdemangler="${LLVM}/llvm-cxxfilt" -show-branch-summary=false \
  -show-region-summary=false compiler |
  awk '
    /^File / { file = $2; sub(/:$/, "", file); sub(/^.*\/compiler\//, "compiler/", file) }
    # The name, then lines, missed lines and the part that was executed.
    / 0\.00%$/ && !/^TOTAL/ {
      name = $0
      sub(/ +[0-9]+ +[0-9]+ +0\.00%$/, "", name)
      print file ": " name
      ++untouched
    }
    /%$/ && !/^TOTAL/ { ++all }
    END { printf "%d of %d functions are untouched\n", untouched, all }'
