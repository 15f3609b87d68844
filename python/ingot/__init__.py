"""Ingot: compiles machine-learning models to artifacts that are plain data, and runs them.

    import ingot

    artifacts = ingot.compile("model.onnx", target="llvm")
    model = artifacts.load()          # or later, elsewhere: ingot.load("model.so")
    y = model(x)                      # NumPy arrays, or anything with __dlpack__
"""

from ingot._errors import Error
from ingot.artifacts import Artifact, ArtifactSet, open_set, pack
from ingot.compiler import compile
from ingot.model import Executor, Model, TensorInfo, load

__all__ = [
    "Artifact",
    "ArtifactSet",
    "Error",
    "Executor",
    "Model",
    "TensorInfo",
    "compile",
    "load",
    "open_set",
    "pack",
]
