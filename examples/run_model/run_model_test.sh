#!/bin/bash
#
# Runs the example on models with fixed and with other shapes, and on what is none.
#
# Usage: run_model_test.sh RUN_MODEL CONV2D.so LENGTHS.so...

set -euo pipefail

readonly RUN_MODEL="$1"
readonly CONV2D="$2"
shift 2

files="$(mktemp -d)"
trap 'rm -rf "${files}"' EXIT

die() {
  echo "FAILED: $*" >&2
  exit 1
}

# Fails unless the example prints $1 when it is run with the other arguments.
expect() {
  local wanted="$1" output
  shift
  output="$("${RUN_MODEL}" "$@" 2>&1)" || true
  echo "${output}"
  [[ "${output}" == *"${wanted}"* ]] || die "'${wanted}' was not printed"
}

# Writes the .npy file $1 with f32 elements of shape $2, whose bytes are $3.
write_npy() {
  local header="{'descr': '<f4', 'fortran_order': False, 'shape': $2, }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n%b' "${header}" "$3" > "$1"
}

expect "3: 2x" "${CONV2D}"

# 1, 2 and 4.
write_npy "${files}/x.npy" "(3,)" '\0\0\x80\x3f\0\0\0\x40\0\0\x80\x40'
write_npy "${files}/square.npy" "(1, 1)" '\0\0\x80\x3f'
write_npy "${files}/cut.npy" "(4,)" '\0\0\x80\x3f'
for library in "$@"; do
  expect "second: 2: -1 -4" "${library}" "${files}/x.npy"
  expect "twice: 6: 1 2 4 1" "${library}" "${files}/x.npy"
  expect "twice: 2: 0.5 0.5" "${library}"
  expect "has another rank than the input" "${library}" "${files}/square.npy"
  expect "is cut off" "${library}" "${files}/cut.npy"
  expect "more than the model has inputs" "${library}" "${files}/x.npy" "${files}/x.npy"
done
# What it writes it also reads.
(cd "${files}" && mkdir out) && expect "second" -o "${files}/out/" "$1" "${files}/x.npy"
expect "twice: 4: -1 -4 -1 -4" "$1" "${files}/out/0.npy"
expect "is no .npy file" "$1" "$0"

if "${RUN_MODEL}" /dev/null 2> /dev/null; then
  die "an empty file was taken for a model"
fi
