from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

# Target key, codegen, loader, file name, content.
_Artifact = Tuple[str, str, str, str, bytes]
# It gives the type of a constant and its elements; of bfloat16 their bits.
_Constant = Callable[[str], Tuple[str, np.ndarray]]
_Info = Tuple[str, Tuple[Optional[int], ...], str, str]

class Model:
    def __init__(
        self,
        path: str,
        threads: int,
        check_digests: bool,
        variant: str,
        loaders: Dict[str, Callable[[List[_Artifact], _Constant], Mapping[str, Callable[..., None]]]],
    ) -> None: ...
    def inputs(self) -> List[_Info]: ...
    def outputs(self) -> List[_Info]: ...
    def variant(self) -> str: ...

class Executor:
    def __init__(self, model: Model) -> None: ...
    def set_input(self, index: int, tensor: Any) -> None:
        """Sets input `index` for the next runs, which read the tensor's memory.

        `tensor` is a NumPy array, or has `__dlpack__` and lies in memory of a CPU. Its type must be
        the input's. An array that is not dense, or not aligned, is copied first.
        """
    def clear_inputs(self) -> None:
        """Lets go of all tensors that were set; each must be set again before a run."""
    def run(self) -> None:
        """Computes the outputs. Python's lock is free meanwhile."""
    def output(self, index: int) -> np.ndarray:
        """Output `index` of the last run, read-only and not copied.

        The memory outlives the executor, but the next run changes what is in it.
        """
    def copies(self) -> Tuple[np.ndarray, ...]:
        """All outputs of the last run, as the caller's own."""
    def export(self, index: int) -> "Exported":
        """The same for another library: `torch.from_dlpack(executor.export(0))`."""

class Tensor:
    """A tensor of a run. Its memory is there until the function returns that was called with it."""

    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def dtype(self) -> str:
        """As NumPy has it, or "bfloat16"."""
    def numpy(self) -> np.ndarray:
        """An array that shows the memory. Those of inputs are only to be read."""
    def __dlpack__(self, stream: Optional[int] = None) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...

class Exported:
    def __dlpack__(self, stream: Optional[int] = None) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...

class Set:
    def __init__(self, path: str) -> None: ...
    def __len__(self) -> int: ...
    def names(self, index: int) -> Tuple[str, str, str, str]: ...
    def content(self, index: int) -> memoryview: ...
    def replace(self, index: int, content: bytes) -> None: ...
    def write(self, path: str) -> None: ...
