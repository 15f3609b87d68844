"""ONNX models as bytes, by protobuf's wire format and nothing else.

A library would refuse much of what a hostile file holds. Messages are made from the inside: each function returns the
bytes of one message, and `field` wraps them for the message around it.
"""

import struct

FLOAT, UINT8, INT8, INT64, STRING = 1, 2, 3, 7, 8


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: an integer as a varint, a float as four bytes, anything else with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def tensor(name, dtype, dims, raw=b"", strings=()):
    return (fields(1, dims) + field(2, dtype) + fields(6, strings) + field(8, name) +
            (field(9, raw) if raw else b""))


def int64s(name, values, dims=None):
    dims = [len(values)] if dims is None else dims
    return tensor(name, INT64, dims, struct.pack("<%dq" % len(values), *values))


def floats(name, values, dims=None):
    dims = [len(values)] if dims is None else dims
    return tensor(name, FLOAT, dims, struct.pack("<%df" % len(values), *values))


def value(name, dtype, dims):
    """An input or output; a dimension is a number or a symbol's name."""
    shape = b"".join(field(1, field(1 if isinstance(d, int) else 2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def attribute(name, given):
    """An attribute: an int, a float, a string, a list of ints, or ("graph" | "tensor", bytes)."""
    if isinstance(given, int):
        body = field(3, given) + field(20, 2)
    elif isinstance(given, float):
        body = field(2, given) + field(20, 1)
    elif isinstance(given, str):
        body = field(4, given) + field(20, 3)
    elif isinstance(given, tuple) and given[0] == "graph":
        body = field(6, given[1]) + field(20, 5)
    elif isinstance(given, tuple) and given[0] == "tensor":
        body = field(5, given[1]) + field(20, 4)
    else:
        body = fields(8, given) + field(20, 7)
    return field(1, name) + body


def node(op, inputs, outputs, name=None, domain="", **attributes):
    return (fields(1, inputs) + fields(2, outputs) + field(3, name or outputs[0]) + field(4, op) +
            b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + field(7, domain))


def graph(nodes, inputs=(), outputs=(), constants=()):
    return (fields(1, nodes) + field(2, "hostile") + fields(5, constants) + fields(11, inputs) + fields(12, outputs))


def function(name, inputs, outputs, nodes):
    return (field(1, name) + fields(4, inputs) + fields(5, outputs) + fields(7, nodes) +
            field(9, field(1, "") + field(2, 18)) + field(9, field(1, "own") + field(2, 1)) + field(10, "own"))


def model(body, functions=(), opset=18):
    return (field(1, 9) + field(7, body) + field(8, field(1, "") + field(2, opset)) +
            field(8, field(1, "own") + field(2, 1)) + fields(25, functions))
