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

# Both tables have the command of each of them, and no other.
names="$(printf '%s\n' in_c in_c_api in_cpp in_python notebook python_callable)"
# shellcheck disable=SC2016 # Nothing here is for the shell to replace.
for page in README.md examples/affine/README.md; do
  grep --only-matching '`bazel run //examples/affine:[^`]*`' "${page}" | sed 's/.*:\(.*\)`/\1/' | LC_ALL=C sort \
    | diff <(echo "${names}") - || { echo "${page} has other commands than there are programs"; exit 1; }
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
