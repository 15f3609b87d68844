"""From a model to a set of artifacts, or to who would make them."""

import operator
import os
import tempfile
from typing import Any, Dict, List, Optional, Sequence

from ingot import _programs
from ingot._errors import Error
from ingot._progress import bar_for_here
from ingot._protocol import Server
from ingot.artifacts import ArtifactSet
from ingot.backends import Backends
from ingot.report import PlacedNode, Placement


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
    progress: bool = True,
    backends: Optional[Backends] = None,
    tuning_log: Optional[str] = None,
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
      progress: without `on_progress`, shows a bar in a terminal or a notebook while work takes a while.
      backends: targets, loaders and inspectors of this program. Hooks are called in another thread
        than this one, one at a time.
      tuning_log: the path of a log that `ingot tune` wrote: its parameters are taken for the kernels that it knows.

    Raises:
      Error: the model is broken or needs what is not supported; the line names the node.
    """
    words = ["compile", *_options(target, input_shapes, pins, strict, opt_level)]
    if symbol_prefix is not None:
        words.append(f"--symbol-prefix={symbol_prefix}")
    if tuning_log is not None:
        words.append(f"--tuning-log={os.fspath(tuning_log)}")
    shown = bar_for_here() if on_progress is None and progress else None
    report = on_progress or shown
    if report is not None:
        words.append("--progress-interval=50")
        report("starting", 0.0)
    try:
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            path = os.path.join(folder, "model.ingot")
            server = None if backends is None else Server(backends)
            words += ["-o", path, "--", _path_of(model, folder)]
            _programs.call(words, report, server=server)
            artifacts = ArtifactSet(path, backends, () if server is None else server.live)
        if report is not None:
            report("done", 1.0)
    finally:
        if shown is not None:
            shown.close()
    return artifacts


def explain(
    model: Any,
    *,
    target: str = "llvm",
    input_shapes: Optional[Dict[str, Sequence[int]]] = None,
    opt_level: int = 2,
    pins: Optional[Dict[str, str]] = None,
    strict: Optional[str] = None,
    backends: Optional[Backends] = None,
) -> Placement:
    """Says which target would take each node of a model, and why not an earlier one.

    No code is generated. Arguments are as those of `compile`; `target` is one variant.
    """
    words = ["explain", "--json", "--quiet", *_options(target, input_shapes, pins, strict, opt_level)]
    server = None if backends is None else Server(backends)
    with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
        printed = _programs.call([*words, "--", _path_of(model, folder)], server=server)
    answer = _programs.last_json(printed)
    if "nodes" not in answer:
        names = ", ".join(answer["variants"])
        raise Error(f"explain is of one variant; give the targets of one of {names} alone", "INVALID_ARGUMENT")
    return Placement(
        PlacedNode(
            node["name"],
            node["op"],
            node["target"],
            {why["target"]: why["reason"] for why in node["why_not"]},
        )
        for node in answer["nodes"]
    )


def _options(
    target: str,
    input_shapes: Optional[Dict[str, Sequence[int]]],
    pins: Optional[Dict[str, str]],
    strict: Optional[str],
    opt_level: int,
) -> List[str]:
    words = [f"--target={target}", f"--opt-level={opt_level}"]
    for name, shape in (input_shapes or {}).items():
        words.append(f"--input-shape={name}:" + "x".join(str(operator.index(d)) for d in shape))
    for node, owner in (pins or {}).items():
        words.append(f"--pin={node}:{owner}")
    if strict is not None:
        words.append(f"--strict={strict}")
    return words


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
