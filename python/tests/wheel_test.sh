#!/bin/bash
#
# Installs the wheel into a folder of its own and compiles and runs a model there: wheel_test.sh WHEEL MODEL

set -euo pipefail

WHEEL="$(realpath "$1")"
MODEL="$(realpath "$2")"
cd "${TEST_TMPDIR}"
python3 -m pip install --quiet --no-index --no-deps --no-compile --target=installed "${WHEEL}"
PYTHONPATH=installed python3 - "${MODEL}" <<'PYTHON'
import sys
import ingot, numpy
model = ingot.compile(sys.argv[1]).load()
x = numpy.arange(6, dtype="float32").reshape(2, 3)
y, count = model(x)
print(model, y, count)
assert (y == 2 * x + [1, 2, 3]).all() and count == 2
PYTHON
