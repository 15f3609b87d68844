#!/bin/bash
#
# Runs the example on a model, and checks that it does not drag a compiler along.
#
# Usage: run_model_test.sh RUN_MODEL MODEL.so

set -euo pipefail

die() {
  echo "FAILED: $*" >&2
  exit 1
}

readonly RUN_MODEL="$1"
readonly MODEL="$2"

output="$("${RUN_MODEL}" "${MODEL}")"
echo "${output}"
[[ "${output}" == *": f32["* ]] || die "no output was printed"

if "${RUN_MODEL}" /dev/null 2> /dev/null; then
  die "an empty file was taken for a model"
fi
if ldd "${RUN_MODEL}" | grep LLVM; then
  die "the program links LLVM"
fi
