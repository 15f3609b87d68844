#!/bin/bash
#
# Each file of a model equals that of the same model from another folder by another action: FILE...

set -euo pipefail

compared=0
for first in "$@"; do
  [[ ${first} == *_first.* ]] || continue
  second="${first/_first./_second.}"
  cmp "${first}" "${second}" || exit 1
  compared=$((compared + 1))
done
((compared == 10)) || { echo "${compared} files were compared"; exit 1; }
