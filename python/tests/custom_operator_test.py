"""ONNX models with operators that only a backend in Python knows."""

import struct
import unittest

import ingot
import numpy as np


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    """An onnx.AttributeProto, as a field of a node."""
    if isinstance(value, float):
        encoded = varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    elif isinstance(value, int):
        encoded = number(3, value) + number(20, 2)
    elif isinstance(value, str):
        encoded = message(4, value) + number(20, 3)
    else:
        encoded = b"".join(number(8, element) for element in value) + number(20, 7)
    return message(5, message(1, name), encoded)


def node(op, inputs, outputs, domain="", **attributes):
    """An onnx.NodeProto, as a field of a graph."""
    fields = [message(1, name) for name in inputs] + [message(2, name) for name in outputs]
    fields += [message(3, f"the_{op}"), message(4, op), message(7, domain)]
    return message(1, *fields, *(attribute(name, value) for name, value in attributes.items()))


def value(field, name, *dims):
    """An onnx.ValueInfoProto of floats."""
    shape = [message(1, message(2, d) if isinstance(d, str) else number(1, d)) for d in dims]
    return message(field, message(1, name), message(2, message(1, number(1, 1), message(2, *shape))))


def model(*fields):
    graph = message(7, *fields, message(2, "graph"))
    opsets = message(8, number(2, 17)) + message(8, message(1, "com.example"), number(2, 1))
    return number(1, 8) + graph + opsets


MODEL = model(
    value(11, "x", "N", 3),
    node("Relu", ["x"], ["r"]),
    node("Mangle", ["r", "", "x"], ["m", "sums"], "com.example", scale=0.5, mode="up", axes=[1, 2]),
    node("Neg", ["m"], ["y"]),
    value(12, "y", "N", 3),
    value(12, "sums", "N"),
)

X = np.array([[-2, 0, 2], [1, 2, 3]], np.float32)


def infer(operands, attributes):
    x = operands[0]
    return [x, ingot.TensorType(x.dtype, x.shape[:1])]


def backends_with(mangle, infer=infer):
    backends = ingot.Backends()
    backends.register_operator(ingot.CustomOperator("com.example::Mangle", infer))
    backends.register_target(ingot.callback_target("mine", {"com.example::Mangle": mangle}))
    return backends


class CustomOperatorTest(unittest.TestCase):
    def test_a_model_with_one_runs(self):
        def mangle(r, nothing, x, **attributes):
            self.assertIsNone(nothing)
            self.assertEqual(attributes, {"scale": 0.5, "mode": "up", "axes": [1, 2]})
            return r * np.float32(attributes["scale"]) + x, x.sum(axis=1)

        backends = backends_with(mangle)
        placed = {node.op: node.target for node in ingot.explain(MODEL, target="mine,c", backends=backends)}
        self.assertEqual(placed, {"Relu": "c", "Mangle": "mine", "Neg": "c"})
        run = ingot.compile(MODEL, target="mine,c", backends=backends).load()
        self.assertEqual([o.type for o in run.outputs], ["f32[N, 3]", "f32[N]"])
        for x in (X, X[:1]):
            y, sums = run(x)
            np.testing.assert_allclose(y, -(np.maximum(x, 0) * 0.5 + x), rtol=1e-6)
            np.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-6)

    def test_attributes_that_are_not_finite_are_texts(self):
        minus_infinity = -float("inf")
        masked = model(
            value(11, "x", 3),
            node("Mangle", ["x"], ["y"], "com.example", mask=minus_infinity, fill=float("nan"), mode="inf"),
            value(12, "y", 3),
        )
        seen = []

        def infer(operands, attributes):
            seen.append(attributes)
            return operands

        def mangle(x, **attributes):
            seen.append(attributes)
            return np.full_like(x, float(attributes["mask"]))

        run = ingot.compile(masked, target="mine,c", backends=backends_with(mangle, infer)).load()
        np.testing.assert_array_equal(run([1, 2, 3]), [minus_infinity] * 3)
        for attributes in seen:
            self.assertEqual(attributes, {"mask": "-inf", "fill": "nan", "mode": "inf"})

    def test_without_the_backend_it_is_refused_by_name(self):
        with self.assertRaisesRegex(ingot.Error, r"Mangle \(com.example"):
            ingot.compile(MODEL, target="c")

    def test_without_the_target_it_is_refused_by_name(self):
        backends = backends_with(lambda *operands, **attributes: None)
        with self.assertRaisesRegex(ingot.Error, "the_Mangle.*custom"):
            ingot.compile(MODEL, target="c", backends=backends)

    def test_types_that_cannot_be_are_refused(self):
        for wrong, words in (
            (lambda operands, attributes: [operands[0]], "knows 1 results"),
            (lambda operands, attributes: [ingot.TensorType("float99", ())] * 2, "'f99'"),
            (lambda operands, attributes: [ingot.TensorType("float32", ("M",))] * 2, '"M" is neither'),
            (lambda operands, attributes: 1 / 0, "ZeroDivisionError"),
        ):
            with self.assertRaisesRegex(ingot.Error, words):
                ingot.compile(MODEL, target="mine,c", backends=backends_with(None, wrong))


if __name__ == "__main__":
    unittest.main()
