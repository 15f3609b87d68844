#!/bin/bash
#
# Says which functions of the compiler no random ONNX model touches: schedules, passes and their
# rules, operators, converters. They are compiled for counting; everything else comes from the cache.
#
# Usage: tests/fuzz/onnx/coverage.sh [MODELS [FIRST_SEED]]

set -euo pipefail

readonly LLVM=/usr/lib/llvm-19/bin
readonly COUNT=-fprofile-instr-generate
readonly FOLDERS=(compiler/te compiler/schedules compiler/relay/passes compiler/relay/ops
  compiler/relay/interpreter compiler/relay/import compiler/frontends/onnx)
readonly MODELS="${1:-1000}"
readonly SEED="${2:-1}"

cd "$(dirname "$0")/../../.."
where="$(IFS='|'; echo "${FOLDERS[*]}")"
bazel build //tests/fuzz/onnx:onnx_fuzz \
  --per_file_copt="^(${where})/.*\\.cc\$@${COUNT},-fcoverage-mapping" --linkopt="${COUNT}" >&2

WORK_DIR="$(mktemp -d)"
readonly WORK_DIR
trap 'rm -rf "${WORK_DIR}"' EXIT

# Failures are another command's concern. "%4m" merges what all processes count into four files.
LLVM_PROFILE_FILE="${WORK_DIR}/%4m.profraw" bazel-bin/tests/fuzz/onnx/onnx_fuzz \
  --models="${MODELS}" --seed="${SEED}" --failures="${WORK_DIR}" --reduce=false > /dev/null || true
"${LLVM}/llvm-profdata" merge -o "${WORK_DIR}/all" "${WORK_DIR}"/*.profraw

mapfile -t sources < <(find "${FOLDERS[@]/#/${PWD}/}" -name '*.cc' ! -name '*_test.cc')
# Bazel compiles files under the name of this folder. A row is a function's name, then regions, lines
# and branches: how many there are, how many were missed, and the part that was executed.
"${LLVM}/llvm-cov" report bazel-bin/tests/fuzz/onnx/onnx_fuzz -instr-profile="${WORK_DIR}/all" \
  -path-equivalence=/proc/self/cwd,"${PWD}" -show-functions -Xdemangler="${LLVM}/llvm-cxxfilt" \
  -show-branch-summary=false "${sources[@]}" |
  awk '
    /^File / { file = $2; gsub(/^.*\/compiler\/|:$|\047/, "", file) }
    /%$/ && !/^TOTAL/ {
      ++all
      if ($0 !~ / 0\.00%$/) next
      ++untouched
      sub(/( +[0-9]+ +[0-9]+ +[0-9.]+%)+$/, "")
      print "compiler/" file ": " $0
    }
    END { printf "%d of %d functions are untouched\n", untouched, all }'
