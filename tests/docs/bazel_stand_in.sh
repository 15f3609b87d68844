#!/bin/bash
#
# Stands for `bazel` in the commands of a page, because a test builds nothing: what they name must be among the files of
# the test, which the page sees in bazel-bin. A program is run, and a pattern must find a test.
#
# Usage: bazel build|test|run [--FLAG...] TARGET... [-- WORD...]

set -euo pipefail

command="$1"
shift
while (($# > 0)) && [[ "$1" != -- ]]; do
  path="${PWD}/bazel-bin/${1#//}"
  case "$1" in
    --*) shift; continue ;;
    //*...) found="$(find -L "${path%...}" -name '*_test' -print -quit)" ;;
    //*:*) found="${path/://}" ;;
    //*) found="${path}/$(basename "${path}")" ;;
    *) echo "bazel: '$1' is no target" >&2; exit 2 ;;
  esac
  [[ -n "${found}" && -e "${found}" ]] || { echo "bazel: the test has nothing of $1" >&2; exit 1; }
  shift
done
if [[ "${command}" == run ]]; then
  cd "${TEST_SRCDIR}/${TEST_WORKSPACE}"
  exec "${found}" "${@:2}"
fi
