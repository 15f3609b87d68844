"""From a model to a set of artifacts."""

import os
import tempfile
from typing import Any, Dict, Optional, Sequence

from ingot import _programs
from ingot.artifacts import ArtifactSet


def compile(  # The word of the field, as in `re.compile`.
    model: Any,
    *,
    target: str = "llvm",
    input_shapes: Optional[Dict[str, Sequence[int]]] = None,
    opt_level: int = 2,
    symbol_prefix: Optional[str] = None,
    pins: Optional[Dict[str, str]] = None,
    strict: Optional[str] = None,
    on_progress: Optional[_programs.OnProgress] = None,
) -> ArtifactSet:
    """Compiles a model. The same model and options give the same artifacts.

    Args:
      model: the path of an ONNX file or of relay text; the bytes of an ONNX file; or an
        onnx.ModelProto.
      target: what to compile for, as `ingot compile --target` takes it: "llvm -mcpu=native",
        "dnnl,llvm", or several variants, "v3: llvm -mcpu=x86-64-v3; v4: llvm -mcpu=x86-64-v4".
      input_shapes: fixes the shapes of inputs, by name.
      opt_level: 0 does only what is needed, 1 folds and fuses, 2 also lays out.
      symbol_prefix: what every symbol starts with; made from the model's name otherwise.
      pins: node of the model -> key or kind of the target that must take it.
      strict: the target that must take every node.
      on_progress: called with what is done now and how far all is, from 0 to 1.

    Raises:
      Error: the model is broken or needs what is not supported; the line names the node.
    """
    words = ["compile", f"--target={target}", f"--opt-level={opt_level}"]
    for name, shape in (input_shapes or {}).items():
        words.append(f"--input-shape={name}:" + "x".join(str(int(d)) for d in shape))
    for node, owner in (pins or {}).items():
        words.append(f"--pin={node}:{owner}")
    if strict is not None:
        words.append(f"--strict={strict}")
    if symbol_prefix is not None:
        words.append(f"--symbol-prefix={symbol_prefix}")
    if on_progress is not None:
        words.append("--progress-interval=50")
        on_progress("starting", 0.0)
    with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
        path = os.path.join(folder, "model.ingot")
        _programs.call(words + ["-o", path, "--", _path_of(model, folder)], on_progress)
        artifacts = ArtifactSet(path)
    if on_progress is not None:
        on_progress("done", 1.0)
    return artifacts


def _path_of(model: Any, folder: str) -> str:
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise TypeError(f"a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model)
    return path
