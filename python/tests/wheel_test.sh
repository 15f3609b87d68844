#!/bin/bash
#
# Installs the wheel into a fresh environment, and compiles and runs a model there in one command:
# wheel_test.sh WHEEL FACE_DETECTOR.onnx

set -euo pipefail

WHEEL="$(realpath "$1")"
MODEL="$(realpath "$2")"
cd "${TEST_TMPDIR}"
# NumPy is Debian's.
/usr/bin/python3 -m venv --without-pip --system-site-packages fresh
/usr/bin/python3 -m pip --python fresh/bin/python install --quiet --no-index --no-deps --no-compile "${WHEEL}"
ln -s "${MODEL}" face.onnx
fresh/bin/python -c "import ingot, numpy as np; model = ingot.compile('face.onnx').load(); print(model, *(y.shape for y in model(np.ones(model.inputs[0].shape, 'f4'))))" \
  | tee printed
fresh/bin/python -c "import ingot; print(ingot.__file__)" | grep "${TEST_TMPDIR}/fresh/"
grep -F '(1, 512, 1) (1, 384, 1)' printed
