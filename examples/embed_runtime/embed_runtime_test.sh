#!/bin/bash
#
# Runs the example on a model, and checks that it does not drag a compiler along.
#
# Usage: embed_runtime_test.sh EMBED_RUNTIME MODEL.so

set -euo pipefail

die() {
  echo "FAILED: $*" >&2
  exit 1
}

readonly EMBED_RUNTIME="$1"
readonly MODEL="$2"

output="$("${EMBED_RUNTIME}" "${MODEL}")"
echo "${output}"
[[ "${output}" == *": f32["* ]] || die "no output was printed"

if "${EMBED_RUNTIME}" /dev/null 2> /dev/null; then
  die "an empty file was taken for a model"
fi
if ldd "${EMBED_RUNTIME}" | grep LLVM; then
  die "the program links LLVM"
fi
