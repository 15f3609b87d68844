#!/bin/bash
#
# Runs each example of this folder, none of which has more than 60 lines.

set -euo pipefail

cd examples/affine
for file in in_*.c in_*.cc in_*.py python_callable.py; do
  (($(wc -l < "${file}") <= 60)) || { echo "${file} has more than 60 lines"; exit 1; }
done
(($(/usr/bin/python3 -c 'import json, sys
cells = json.load(sys.stdin)["cells"]
print(sum(len(cell["source"]) for cell in cells if cell["cell_type"] == "code"))' < affine.ipynb) <= 60))
cd ../..

# The README names each of them, and its commands are those of programs that are there.
for name in in_cpp in_c in_c_api in_python python_callable notebook; do
  grep --quiet --fixed-strings "\`bazel run //examples/affine:${name}\`" README.md || { echo "README.md has no ${name}"; exit 1; }
done

# Runs a program, whose output must have a line: expect LINE WORD...
expect() {
  local output
  output="$("${@:2}")"
  echo "${output}"
  grep --quiet --fixed-strings --line-regexp -- "$1" <(sed 's/ *$//' <<< "${output}") \
    || { echo "no line '$1' from ${*:2}"; exit 1; }
}

readonly NUMBERS="1 4 7 7 10 13"
expect "${NUMBERS}" examples/affine/in_cpp "${LIBRARY}"
expect "${NUMBERS}" examples/affine/in_c
expect "${NUMBERS}" examples/affine/in_c_api "${LIBRARY}"

export XDG_CACHE_HOME="${TEST_TMPDIR}/cache"
python=(examples/affine/run_python.sh "${WHEEL}")
expect "edited: 1 6 11 13 18 23" "${python[@]}" examples/affine/in_python.py "${MODEL}"
expect "double is called with (2, 3)" "${python[@]}" examples/affine/python_callable.py "${MODEL}"
expect "True" "${python[@]}" examples/affine/run_notebook.py examples/affine/affine.ipynb
