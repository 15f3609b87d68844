"""Ingot: compiles machine-learning models to artifacts that are plain data, and runs them.

    import ingot

    artifacts = ingot.compile("model.onnx", target="llvm")
    model = artifacts.load()          # or later, elsewhere: ingot.load("model.so")
    y = model(x)                      # NumPy arrays, or anything with __dlpack__
"""

from ingot._errors import Error
from ingot._protocol import serve
from ingot.artifact import Artifact, InMemoryArtifact
from ingot.artifacts import ArtifactSet, open_set, pack
from ingot.backends import Backends, CustomOperator, InspectorRule, TargetKind, Tensor
from ingot.callback import callback_target
from ingot.compiler import compile, explain
from ingot.model import Executor, Model, TensorInfo, load
from ingot.relay import Node, Region, Target, TensorType, Value
from ingot.report import Differences, PlacedNode, Placement

__all__ = [
    "Artifact",
    "ArtifactSet",
    "Backends",
    "CustomOperator",
    "Differences",
    "Error",
    "Executor",
    "InMemoryArtifact",
    "InspectorRule",
    "Model",
    "Node",
    "PlacedNode",
    "Placement",
    "Region",
    "Target",
    "TargetKind",
    "Tensor",
    "TensorInfo",
    "TensorType",
    "Value",
    "callback_target",
    "compile",
    "explain",
    "load",
    "open_set",
    "pack",
    "serve",
]
