"""Loaded models and their runs."""

import collections
import os
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ingot import _native
from ingot._errors import Error
from ingot.artifact import LIVE_LOADER, InMemoryArtifact, live_loader
from ingot.backends import Backends
from ingot.report import table


class TensorInfo(NamedTuple):
    """An input or an output. A dimension of `shape` is None where a run decides."""

    name: str
    shape: Tuple[Optional[int], ...]
    dtype: str  # "float32", "int64", "bfloat16"
    type: str  # for a person, with names of dimensions: "f32[batch, 3]"


class Executor(_native.Executor):
    """The memory for one run at a time; not for several threads at once.

    Nothing is copied: runs read inputs where they are, and outputs are shown where they are, until
    the next run. `set_input`, `run`, `output` and `export` are in _native.pyi.
    """

    def __init__(self, model: "Model") -> None:
        super().__init__(model._native)


class Model:
    """A model that can run. May be called by several threads at once."""

    def __init__(
        self,
        path: str,
        threads: int,
        check_digests: bool,
        variant: str,
        backends: Optional[Backends] = None,
        live: Sequence[InMemoryArtifact] = (),
    ) -> None:
        """See `load`. `live` are the objects of a set that this process compiled."""
        loaders = {LIVE_LOADER: live_loader(live)}
        for name, loader in (backends or Backends())._native_loaders().items():
            if name in loaders:
                raise Error(f"the loader '{name}' is Ingot's own", "ALREADY_EXISTS")
            loaders[name] = loader
        self._native = _native.Model(path, threads, check_digests, variant, loaders)
        self.inputs: Sequence[TensorInfo] = tuple(TensorInfo(*i) for i in self._native.inputs())
        self.outputs: Sequence[TensorInfo] = tuple(TensorInfo(*o) for o in self._native.outputs())
        self.variant: str = self._native.variant()  # that was chosen; "" if there is only one
        self._index = {info.name: i for i, info in enumerate(self.inputs)}
        self._idle = collections.deque()  # executors; append and pop are atomic

    def executor(self) -> Executor:
        """An executor of one's own, for runs that copy nothing."""
        return Executor(self)

    def __call__(self, *inputs: Any) -> Union[np.ndarray, Tuple[np.ndarray, ...]]:
        """Runs the model on inputs in its order; returns its only output, or a tuple of all.

        Inputs are as Executor.set_input takes them; numbers and lists become arrays of the input's
        type, or TypeError where it cannot hold them. Outputs are the caller's own.
        """
        if len(inputs) != len(self.inputs):
            names = ", ".join(info.name for info in self.inputs)
            raise TypeError(f"the model takes {len(self.inputs)} inputs ({names}), not {len(inputs)}")
        outputs = self._run(enumerate(inputs))
        return outputs[0] if len(outputs) == 1 else outputs

    def run(self, inputs: Dict[str, Any]) -> Dict[str, np.ndarray]:
        """Runs the model on inputs by name; returns all outputs by name. As __call__ otherwise."""
        for name in inputs:
            if name not in self._index:
                raise TypeError(f"the model has no input {name!r}; it has {list(self._index)}")
        for name in self._index:
            if name not in inputs:
                raise TypeError(f"the input {name!r} is missing")
        outputs = self._run((self._index[name], value) for name, value in inputs.items())
        return {info.name: value for info, value in zip(self.outputs, outputs)}

    def _run(self, inputs: Any) -> Tuple[np.ndarray, ...]:
        try:
            executor = self._idle.pop()
        except IndexError:
            executor = Executor(self)
        try:
            for index, value in inputs:
                if not isinstance(value, np.ndarray) and not hasattr(value, "__dlpack__"):
                    value = _to_array(value, self.inputs[index])
                executor.set_input(index, value)
            executor.run()
            return executor.copies()
        finally:
            executor.clear_inputs()
            self._idle.append(executor)

    def _repr_html_(self) -> str:
        return table(
            ("", "name", "type"),
            [("input", i.name, i.type) for i in self.inputs]
            + [("output", o.name, o.type) for o in self.outputs],
        )

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name}: {i.type}" for i in self.inputs)
        outputs = ", ".join(f"{o.name}: {o.type}" for o in self.outputs)
        return f"<ingot.Model ({inputs}) -> ({outputs})>"


def _to_array(value: Any, info: TensorInfo) -> np.ndarray:
    """Numbers or lists of them as an array of the input's type, which must be able to hold them."""
    wrong = f"input {info.name!r} is {info.type}, and "
    if info.dtype == "bfloat16":
        raise TypeError(wrong + "NumPy has no bfloat16; give a tensor with __dlpack__")
    dtype, given = np.dtype(info.dtype), np.asarray(value)
    if given.dtype.kind not in ("biufc" if dtype.kind == "c" else "biuf"):
        raise TypeError(wrong + f"an array of {given.dtype} cannot be one")
    with np.errstate(invalid="ignore"):
        array = given.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(array, given):
        raise TypeError(wrong + f"{dtype} cannot hold all of the numbers that are given")
    return array


def load(
    path: "Union[str, os.PathLike[str]]",
    *,
    threads: int = 1,
    check_digests: bool = False,
    variant: str = "",
    backends: Optional[Backends] = None,
) -> Model:
    """Loads a library that `ingot link` made, or a set with nothing to link.

    Its code runs in this process: load only what you trust.

    Args:
      path: the file.
      threads: how many a run may use, the calling one included.
      check_digests: whether weights are compared with their digests; the rest always is.
      variant: of a set with several, the one to load; the best that can run here otherwise.
      backends: whose loaders the model may need.
    """
    return Model(os.fspath(path), threads, check_digests, variant, backends)
