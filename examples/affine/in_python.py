"""Compiles, edits, links, loads and runs a model: in_python.py affine.relay"""

import os
import sys
import tempfile

import ingot
import numpy as np

artifacts = ingot.compile(sys.argv[1], target="c")
x = np.arange(6, dtype=np.float32).reshape(2, 3)

# An artifact is data: here the kernels, as C.
(path,) = [path for path in artifacts if path.endswith(".c")]
source = artifacts[path].text()

# The test runs what ships: the model is loaded from the library that was linked.
with tempfile.TemporaryDirectory() as folder:
    library = os.path.join(folder, "affine.so")
    artifacts.link(library)
    y, count = ingot.load(library)(x)
print(*(f"{value:g}" for value in y.flat))

artifacts[path] = source.replace("2.0f", "4.0f")
y, count = artifacts.load()(x)
print("edited:", *(f"{value:g}" for value in y.flat))
