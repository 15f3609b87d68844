"""Artifacts: what a code generator makes, as data, or as an object of this process."""

from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np

from ingot.relay import Region

# The loader of objects of this process.
LIVE_LOADER = "callback"


class Artifact(NamedTuple):
    """One artifact. In a set, `content` shows the bytes where the file is mapped, without a copy.

    A code generator makes artifacts of a loader, a file name and a content, which may be a text
    then; the compiler knows the rest.
    """

    loader: str
    file_name: str
    content: Union[memoryview, bytes, str]
    target_key: str = ""
    codegen_id: str = ""

    @property
    def path(self) -> str:
        return f"{self.target_key}/{self.codegen_id}/{self.file_name}"

    def data(self) -> bytes:
        """A copy of the content."""
        return self.content.encode() if isinstance(self.content, str) else bytes(self.content)

    def text(self) -> str:
        """The content of a text file, such as C source."""
        return self.data().decode()


class InMemoryArtifact:
    """A function of this process as the code of a region. No file holds it.

    A set with one runs like any other, but cannot be saved, dumped or linked.
    """

    def __init__(
        self,
        region: Region,
        function: Callable[..., Any],
        from_dlpack: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        """The code of `region` is a call of `function`.

        Args:
          region: of the hook `relay_to_runtime`.
          function: takes the region's inputs, read-only arrays of NumPy, and returns its output, or a
            tuple of its outputs: arrays, or anything with `__dlpack__` in memory of a CPU, of the
            region's types. They are copied. An exception ends the run. It may be called by several
            threads.
          from_dlpack: makes of each input what `function` takes instead, such as torch.from_dlpack.
            Nothing is copied; the tensors are there until `function` returns. Where NumPy does not
            know an output's type, bfloat16, the result must be a tensor of that library.
        """
        self.file_name = f"{region.symbol}.{LIVE_LOADER}"
        self.symbol = region.symbol
        self.function = function
        self._from_dlpack = from_dlpack
        self._num_inputs = len(region.inputs)

    def call(self, *tensors: Any) -> None:
        """The function as loaded models call it: inputs, then outputs."""
        results = self.function(*map(self._operand, tensors[: self._num_inputs]))
        outputs = tensors[self._num_inputs :]
        if len(outputs) == 1 and not isinstance(results, (tuple, list)):
            results = (results,)
        if len(results) != len(outputs):
            raise ValueError(f"{self.symbol} gives {len(results)} results, not {len(outputs)}")
        for index, (output, result) in enumerate(zip(outputs, results)):
            if output.dtype == "bfloat16" and self._from_dlpack is not None:
                place, value = self._from_dlpack(output), result
            else:
                place, value = output.numpy(), _to_array(result)
            if (value.dtype, value.shape) != (place.dtype, place.shape):
                raise ValueError(
                    f"{self.symbol} gives {value.dtype}{list(value.shape)} as result {index}, "
                    f"not {place.dtype}{list(place.shape)}"
                )
            place[...] = value

    def _operand(self, tensor: Any) -> Any:
        if self._from_dlpack is not None:
            return self._from_dlpack(tensor)
        array = tensor.numpy()
        array.setflags(write=False)
        return array

    def __repr__(self) -> str:
        return f"<ingot.InMemoryArtifact {self.file_name}: {self.function!r}>"


AnyArtifact = Union[Artifact, InMemoryArtifact]


def live_loader(live: Sequence[InMemoryArtifact]) -> Callable[[Sequence[tuple], Any], Any]:
    """The loader of a set's objects, whose artifacts hold their numbers."""

    def load_group(group: Sequence[tuple], constant: Any) -> Any:
        functions = {}
        for _, _, _, file_name, content in group:
            if not content.isdigit() or int(content) >= len(live):
                raise ValueError(
                    f"{file_name}: a function of the process that compiled the model, which no file holds"
                )
            artifact = live[int(content)]
            functions[artifact.symbol] = artifact.call
        return functions

    return load_group


def _to_array(result: Any) -> np.ndarray:
    if not isinstance(result, np.ndarray) and hasattr(result, "__dlpack__"):
        return np.from_dlpack(result)
    return np.asarray(result)
