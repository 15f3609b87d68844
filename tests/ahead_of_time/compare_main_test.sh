#!/bin/bash
#
# Checks that linked models run alike in both ways, bit for bit.
#
# Usage: compare_main_test.sh COMPARE_MAIN MODEL.so...

set -euo pipefail

readonly COMPARE_MAIN="$1"
shift
[[ $# -gt 0 ]] || exit 1
for library in "$@"; do
  answer="$("${COMPARE_MAIN}" "${library}")" || true
  echo "${library}: ${answer}"
  [[ "${answer}" == same* ]] || exit 1
done
