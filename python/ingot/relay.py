"""What a backend in Python sees of a model: regions of relay's graph."""

import json
import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

# The operator of relay that stands for all that backends bring.
CUSTOM = "custom"

_DTYPES = {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Target(NamedTuple):
    """The target that a hook is asked for: `key: kind -option=value`."""

    key: str
    kind: str
    options: Mapping[str, str]


class Value(NamedTuple):
    """An input of a region, a constant, or a result of a node.

    A dimension that only a run knows is the text of a formula, such as "N" or "2 * N + 1".
    """

    name: str  # unique in the region
    dtype: str  # "float32", "int64", "bfloat16"
    shape: Tuple[Union[int, str], ...]
    is_constant: bool


class TensorType(NamedTuple):
    """The type of a result; a dimension that no number is, is one of an operand."""

    dtype: str
    shape: Tuple[Union[int, str], ...]


class Node(NamedTuple):
    """A call of an operator of relay; docs/relay_operators.md has them all.

    An operator that a backend brought is "domain::name", with the model's own attributes, in which a
    number that is not finite is the text "nan", "inf" or "-inf".
    """

    name: str
    op: str
    attrs: Mapping[str, Any]  # those that the call has, and defaults
    inputs: Sequence[Optional[Value]]  # None: an optional operand that is left out
    outputs: Sequence[Value]
    nodes: Sequence["Node"] = ()  # of a composite, which `op` names: the calls that it stands for


class Region(NamedTuple):
    """Neighbouring operators that a target took, as a function."""

    symbol: str  # under which it is called
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    constants: Mapping[str, np.ndarray]  # by name; bfloat16 as float32
    nodes: Sequence[Node]  # operands before what reads them
    text: str  # the same as relay's text
    keys: Mapping[str, str]  # of a kind with `constants`: their names -> what loaders ask for


def target_of(target: Dict[str, Any]) -> Target:
    return Target(target["key"], target["kind"], target["options"])


def node_of(node: Dict[str, Any]) -> Node:
    op, attrs, inputs = node["op"], node["attrs"], node["inputs"]
    if op == CUSTOM:
        # The inputs after the operands only bind symbols. A text may be one that the model has.
        op, inputs = attrs["name"], inputs[: attrs["operands"]]
        attrs = json.loads(attrs["attributes"])
    else:
        attrs = {name: _number(value) for name, value in attrs.items()}
    return Node(
        node["name"],
        op,
        attrs,
        operands_of(inputs),
        _values_of(node["outputs"]),
        [node_of(inner) for inner in node.get("nodes", ())],
    )


def operands_of(values: List[Optional[Dict[str, Any]]]) -> Sequence[Optional[Value]]:
    return [None if value is None else _value_of(value) for value in values]


def dtype_text(dtype: str) -> str:
    """The type as relay writes it: "f32"."""
    letters = dtype.rstrip("0123456789")
    short = {long: short for short, long in _DTYPES.items()}
    return short.get(letters, letters) + dtype[len(letters) :]


def to_numpy(dtype: str, array: np.ndarray) -> np.ndarray:
    """The array; one of bfloat16, which is one of their bits, as float32."""
    if dtype != "bfloat16":
        return array
    return (array.astype(np.uint32) << 16).view(np.float32)


def region_of(region: Dict[str, Any], payload: bytes) -> Region:
    constants, keys = {}, {}
    for constant in region["constants"]:
        value = _value_of(constant)
        offset, size = constant["bytes"]
        dtype = np.dtype("uint16" if value.dtype == "bfloat16" else value.dtype)
        array = np.frombuffer(payload, dtype, size // dtype.itemsize, offset).reshape(value.shape)
        constants[value.name] = to_numpy(value.dtype, array)
        if "key" in constant:
            keys[value.name] = constant["key"]
    return Region(
        region["symbol"],
        _values_of(region["inputs"]),
        _values_of(region["outputs"]),
        constants,
        [node_of(node) for node in region["nodes"]],
        region["text"],
        keys,
    )


def _value_of(value: Dict[str, Any]) -> Value:
    letters = value["dtype"].rstrip("0123456789")
    dtype = _DTYPES.get(letters, letters) + value["dtype"][len(letters) :]
    return Value(value["name"], dtype, tuple(value["shape"]), value.get("constant", False))


def _values_of(values: List[Dict[str, Any]]) -> Sequence[Value]:
    return [_value_of(value) for value in values]


def _number(value: Any) -> Any:
    """The value, as which JSON has a text where it is not finite."""
    if isinstance(value, list):
        return [_number(element) for element in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
