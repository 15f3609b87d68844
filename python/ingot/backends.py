"""Backends in Python: targets, loaders and inspectors, registered as those in C++ are."""

import dataclasses
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ingot import _native
from ingot._errors import Error
from ingot.artifact import AnyArtifact, Artifact
from ingot.relay import Node, Region, Target, TensorType, Value, to_numpy

Tensor = _native.Tensor

# Computes one call: reads the tensors of a region's inputs, which come first, and writes those of
# its outputs. They are there until it returns. It may be called by several threads.
Function = Callable[..., None]

# It gives the constant of a key that the code generator was told (Region.keys): read-only, where the
# set is mapped, but for a bfloat16, which becomes a float32. A loader may call it while it runs.
Constant = Callable[[str], np.ndarray]

# "loadbinary": from all artifacts of one target key that name the loader to functions by symbol.
LoadBinary = Callable[[Sequence[Artifact], Constant], Mapping[str, Function]]


@dataclasses.dataclass(frozen=True)
class TargetKind:
    """A kind of target with regions.

    Attributes:
      name: what `target=` calls it.
      relay_to_runtime: makes the artifacts of a region. One for the loader "native" is C or an object
        file that exports `__tvm_ffi_<symbol>`; the functions of others are their loaders' business.
      doc: one line.
      operators: that it may take, by relay's names, or those of custom operators; None: `supports` is
        asked about all.
      composites: calls that it takes as one, by the names that it gives them: what they look like, such as
        "[relu](add(dense(*, const), const))": `*` is any value, `a|b` a choice, and `[a](x)` may be just `x`.
        They are tried in this order, and before single operators.
      supports: None where the target takes a call, or why not; a composite is a call of its name. Takes
        every call if there is none.
      constants: whether constants of its regions stay in there, however large, for `relay_to_runtime` to
        read and for its loaders to ask for; otherwise those of more than one element are inputs.
      loaders: that its artifacts name, beside "native".
      options: what `-name=value` means, by name.
      min_region: regions with fewer operators stay with the next target.
      link_libraries: that native code needs: "m", or with the Debian package, "openblas:libopenblas0".
    """

    name: str
    relay_to_runtime: Callable[[Target, Region], Sequence[AnyArtifact]]
    doc: str = ""
    operators: Optional[Sequence[str]] = None
    composites: Mapping[str, str] = dataclasses.field(default_factory=dict)
    supports: Optional[Callable[[Target, Node], Optional[str]]] = None
    constants: bool = False
    loaders: Sequence[str] = ()
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    min_region: int = 1
    link_libraries: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class InspectorRule:
    """What can be said of artifacts that meet every condition that is not empty.

    Attributes:
      name: unique, such as "my_graph.formula".
      inspect: text for a person. It may raise for what it cannot read.
      file_suffixes: the file name ends in one of these.
      loader: the artifact's.
      codegen_id: the artifact's.
      output_suffix: of the file beside the artifact in a dumped set; "" for none.
    """

    name: str
    inspect: Callable[[Artifact], str]
    file_suffixes: Sequence[str] = ()
    loader: str = ""
    codegen_id: str = ""
    output_suffix: str = ""


@dataclasses.dataclass(frozen=True)
class CustomOperator:
    """An operator of ONNX models that Ingot does not know.

    A target whose `operators` name it computes it. Equal operands must give equal results.

    Attributes:
      name: "domain::operator".
      infer: the types of the results, from the operands, None for one that is left out, and the
        attributes. An operand may stand for its type.
    """

    name: str
    infer: Callable[
        [Sequence[Optional[Value]], Mapping[str, Any]], Sequence[Union[TensorType, Value]]
    ]


class Backends:
    """A registry: a value, filled by calls. `compile`, `load` and `inspect` take it.

    Registering a name again raises Error, as does one of Ingot's own when the registry is used.
    """

    def __init__(self) -> None:
        self.targets: Dict[str, TargetKind] = {}
        self.loaders: Dict[str, LoadBinary] = {}
        self.inspectors: Dict[str, InspectorRule] = {}
        self.operators: Dict[str, CustomOperator] = {}

    def register_target(self, kind: TargetKind) -> None:
        """Makes the kind known to `target=` by its name."""
        _add(self.targets, "target kind", kind.name, kind)

    def register_loader(self, name: str, load: LoadBinary) -> None:
        """Gives artifacts of that loader to `load`, once for each target key."""
        _add(self.loaders, "loader", name, load)

    def register_inspector(self, rule: InspectorRule) -> None:
        """Asks the rule what it says of artifacts, in `inspect` and beside them in a dump."""
        _add(self.inspectors, "inspector", rule.name, rule)

    def register_operator(self, operator: CustomOperator) -> None:
        """Lets models have the operator."""
        _add(self.operators, "operator", operator.name, operator)

    def _native_loaders(self) -> Dict[str, Callable[[List[tuple], Callable], Mapping[str, Function]]]:
        """The loaders as the native module calls them."""
        return {name: _with_artifacts(load) for name, load in self.loaders.items()}


def _add(registry: Dict, what: str, name: str, entry: object) -> None:
    if name in registry:
        raise Error(f"the {what} '{name}' is registered already", "ALREADY_EXISTS")
    registry[name] = entry


def _with_artifacts(load: LoadBinary) -> Callable[[List[tuple], Callable], Mapping[str, Function]]:
    def load_group(group: List[tuple], constant: Callable) -> Mapping[str, Function]:
        artifacts = [
            Artifact(loader, file_name, content, target_key, codegen_id)
            for target_key, codegen_id, loader, file_name, content in group
        ]
        return load(artifacts, lambda key: to_numpy(*constant(key)))

    return load_group
