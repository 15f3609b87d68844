"""Targets whose operators are functions of this process."""

from types import MappingProxyType
from typing import Any, Callable, Mapping, Sequence

from ingot.artifact import InMemoryArtifact
from ingot.backends import TargetKind
from ingot.relay import Region, Target


def callback_target(
    name: str,
    functions: Mapping[str, Callable[..., Any]],
    doc: str = "",
    composites: Mapping[str, str] = MappingProxyType({}),
) -> TargetKind:
    """A kind of target that takes the operators in `functions`, by relay's names, or those of `composites`.

    Each function takes the operands, arrays of NumPy and None for one that is left out, and the
    operator's attributes by name; it returns the result, or a tuple of the results:

        callback_target("mine", {"leaky_relu": lambda x, alpha: np.where(x > 0, x, x * np.float32(alpha))})
    """

    def relay_to_runtime(target: Target, region: Region) -> Sequence[InMemoryArtifact]:
        return [InMemoryArtifact(region, lambda *inputs: _run(region, functions, inputs))]

    return TargetKind(
        name=name,
        doc=doc or "operators as calls of functions of this process",
        operators=sorted(set(functions) - set(composites)),
        composites=composites,
        relay_to_runtime=relay_to_runtime,
    )


def _run(region: Region, functions: Mapping[str, Callable[..., Any]], inputs: Sequence[Any]) -> Any:
    values = dict(region.constants)
    values.update((value.name, array) for value, array in zip(region.inputs, inputs))
    for node in region.nodes:
        operands = [None if value is None else values[value.name] for value in node.inputs]
        results = functions[node.op](*operands, **node.attrs)
        if len(node.outputs) == 1:
            results = (results,)
        values.update((value.name, result) for value, result in zip(node.outputs, results))
    return tuple(values[value.name] for value in region.outputs)
