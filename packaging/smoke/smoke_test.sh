#!/bin/bash
#
# Uses what the packages install as people do: the command, the C API by pkg-config and by CMake, Python, the man page and
# the shell's completion.
#
# Usage: smoke_test.sh PREFIX MODEL.relay RUN.c CMakeLists.txt
#   PREFIX       /usr, or where else the packages' files are
#   MODEL.relay  y = 2 x + [1, 2, 3] for rows of x
#   RUN.c        a program on the C API that runs any model

set -euo pipefail

prefix="$(realpath "$1")"
model="$(realpath "$2")"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
cp "$3" "${work}/run.c"
cp "$4" "${work}/CMakeLists.txt"
cd "${work}"
export XDG_CACHE_HOME="${work}/cache"
if [[ "${prefix}" != /usr ]]; then
  export PATH="${prefix}/bin:${PATH}"
  export LD_LIBRARY_PATH="${prefix}/lib"
  export MANPATH="${prefix}/share/man"
  export PKG_CONFIG_PATH="${prefix}/share/pkgconfig"
  export CMAKE_PREFIX_PATH="${prefix}"
  export PYTHONPATH="${prefix}/lib/python3/dist-packages"
fi

# Fails unless the rest of the words, as a command, print $1.
expect() {
  local wanted="$1" output
  shift
  output="$("$@" 2>&1)" || true
  if [[ "${output}" != *"${wanted}"* ]]; then
    printf 'FAILED: "%s" should print "%s", not:\n%s\n' "$*" "${wanted}" "${output}" >&2
    exit 1
  fi
  echo "ok: $*"
}

[[ "$(command -v ingot)" -ef "${prefix}/bin/ingot" ]]
version="$(ingot --version)"
version="${version#ingot }"
expect "${version}" pkg-config --modversion ingot

ingot compile --quiet "${model}" -o model.ingot
ingot compile --quiet --target=c "${model}" -o c.ingot
ingot link --quiet model.ingot -o model.so
ingot link --quiet c.ingot -o c.so
expect "f32[1, 3]" ingot run c.so
expect "optimal" ingot check model.so

read -ra flags <<< "$(pkg-config --cflags --libs ingot)"
cc run.c -o run "${flags[@]}"
expect "y: f32[rows, 3], 3 elements" ./run model.so 2
cmake -S . -B by_cmake > /dev/null
cmake --build by_cmake > /dev/null
expect "y: f32[rows, 3], 3 elements" by_cmake/run c.so

cat > model.py << 'PYTHON'
import sys

import ingot
import numpy

assert ingot.__file__.startswith(sys.argv[1]), ingot.__file__
x = numpy.arange(6, dtype="float32").reshape(2, 3)
for model in ingot.load("model.so"), ingot.compile(sys.argv[2]).load():
    y, count = model(x)
    assert (y == 2 * x + [1, 2, 3]).all() and count == 2
print("done")
PYTHON
expect done /usr/bin/python3 model.py "${prefix}" "${model}"

for page in ingot ingot-compiler; do
  expect "input\\-shape=NAME" zcat "${prefix}/share/man/man1/${page}.1.gz"
done

# Prints what the shell offers after the words that are there: complete WORD...
complete_words() {
  # shellcheck disable=SC2034  # The completion reads them.
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _ingot
  echo "${COMPREPLY[*]}"
}
# shellcheck source=/dev/null
source "${prefix}/share/bash-completion/completions/ingot"
expect "verify" complete_words ingot ver
expect "--test-data= --threads= --target=" complete_words ingot verify --t
expect "--passes=" complete_words ingot opt --p
