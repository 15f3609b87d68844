#!/bin/bash
#
# Compares the layout of runtime/c_abi.h with what tvm-ffi documents and, where tvm-ffi is installed
# ($TVM_FFI_INCLUDE names its include folders, with colons between, or `tvm-ffi-config` does), with its own
# header: layout_test.sh C_ABI.h DOCUMENTED.h LAYOUT.c

set -euo pipefail

# Prints what a header says: layout HEADER FLAG...
layout() {
  local program="${TEST_TMPDIR}/layout"
  cc -std=c11 -Wall -Werror "-DHEADER=\"$1\"" "${@:2}" -o "${program}" "${LAYOUT}"
  "${program}"
}

OURS="$(realpath "$1")"
DOCUMENTED="$(realpath "$2")"
LAYOUT="$(realpath "$3")"
cd "${TEST_TMPDIR}"

layout "${OURS}" > ours.txt
layout "${DOCUMENTED}" > documented.txt
test "$(wc -l < ours.txt)" -ge 60
diff ours.txt documented.txt

flags=()
if [[ -n "${TVM_FFI_INCLUDE:-}" ]]; then
  flags=("-I${TVM_FFI_INCLUDE//:/ -I}")
elif command -v tvm-ffi-config > /dev/null; then
  flags=("$(tvm-ffi-config --cxxflags)")
fi
if [[ ${#flags[@]} -gt 0 ]]; then
  # shellcheck disable=SC2068 # These are words.
  layout tvm/ffi/c_api.h ${flags[@]} > theirs.txt
  diff ours.txt theirs.txt
  echo "the same as tvm-ffi's own header"
fi
