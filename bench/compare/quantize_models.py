#!/usr/bin/python3
"""Writes quantised forms of a model with test data, for //bench/compare.

  apt-get install --no-install-recommends python3-onnx python3-numpy
  bazel build //bench/compare:onnxruntime_peer
  bench/compare/quantize_models.py FORM MODEL_FOLDER NEW_FOLDER
  bazel run //bench/compare -- NEW_FOLDER

FORM is one of
  u8       QuantizeLinear and DequantizeLinear around operators: data in u8,
           weights in i8 with a scale per channel
  i8       the same with data in i8 and zero points of 0
  dynamic  DynamicQuantizeLinear and MatMulInteger for products by constants

Batch normalizations are folded into the convolutions before them first, and
ranges of data are those of the folder's first data set, as ONNX Runtime runs
it. The inputs are copied; there are no expected outputs, since a rounding that
goes the other way changes all that follows.
"""
import collections
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

PEER = "bazel-bin/bench/compare/onnxruntime_peer"
QUANTISED = {
    "Add", "AveragePool", "Concat", "Conv", "ConvTranspose", "Flatten", "Gemm",
    "GlobalAveragePool", "MatMul", "MaxPool", "Mul", "Reshape", "Transpose"}
ACTIVATIONS = {"Clip", "Relu"}  # quantised after, not before
OLDEST = 13  # operator set with scales per channel
LEAST = 1e-8  # scale times steps


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def constants_of(graph):
    found = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and "value" in attributes(node):
            found[node.output[0]] = numpy_helper.to_array(
                attributes(node)["value"])
    return found


def fold_batch_norms(graph, constants):
    """Makes each part of the convolution that alone feeds it."""
    readers = collections.Counter(n for node in graph.node for n in node.input)
    readers.update(o.name for o in graph.output)
    makers = {node.output[0]: node for node in graph.node}
    for norm in [n for n in graph.node if n.op_type == "BatchNormalization"]:
        conv = makers.get(norm.input[0])
        if (conv is None or conv.op_type != "Conv"
                or readers[norm.input[0]] > 1
                or any(n not in constants
                       for n in [*conv.input[1:], *norm.input[1:]])):
            continue
        scale, bias, mean, variance = (constants[n] for n in norm.input[1:5])
        factor = scale / np.sqrt(variance + attributes(norm).get("epsilon",
                                                                 1e-5))
        if len(conv.input) > 2:
            mean = mean - constants[conv.input[2]]
        weights = constants[conv.input[1]]
        along = factor.reshape(-1, *[1] * (weights.ndim - 1))
        names = [f"{norm.output[0]}_{part}" for part in ("weight", "bias")]
        for name, values in zip(names, [weights * along,
                                        bias - mean * factor]):
            constants[name] = values.astype(np.float32)
            graph.initializer.append(
                numpy_helper.from_array(constants[name], name))
        conv.input[1:] = names
        conv.output[0] = norm.output[0]
        graph.node.remove(norm)


def with_zero(values):
    """The range of the values, of which there may be none, and of 0."""
    return float(values.min(initial=0)), float(values.max(initial=0))


def ranges_of(model, constants, files):
    """The least and greatest element of every f32 value of interest."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = onnx.shape_inference.infer_shapes(copy).graph
    types = {v.name: v.type.tensor_type.elem_type
             for v in [*graph.value_info, *graph.input, *graph.output]}
    inputs = [i.name for i in model.graph.input if i.name not in constants]
    names = []
    for node in model.graph.node:
        if node.op_type in QUANTISED | ACTIVATIONS:
            names += [n for n in [*node.input, *node.output]
                      if n and n not in constants and n not in inputs
                      and types.get(n) == TensorProto.FLOAT]
    names = list(dict.fromkeys(names))
    del copy.graph.output[:]
    copy.graph.output.extend(
        helper.make_tensor_value_info(n, TensorProto.FLOAT, None)
        for n in names)
    ranges = {}
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(copy, folder + "/model.onnx")
        subprocess.run([PEER, folder + "/model.onnx", "1", *files],
                       input=f"save {folder}\n", text=True, check=True,
                       stdout=subprocess.DEVNULL)
        for i, name in enumerate(names):
            ranges[name] = with_zero(np.load(f"{folder}/{i}.npy"))
    for name, file in zip(inputs, files):
        with open(file, "rb") as f:
            values = numpy_helper.to_array(TensorProto.FromString(f.read()))
        if values.dtype == np.float32:
            ranges[name] = with_zero(values)
    return ranges


class Quantiser:
    """Writes the nodes of a graph once more, between roundings."""

    def __init__(self, graph, signed, constants, ranges):
        self.graph, self.signed = graph, signed
        self.constants, self.ranges = constants, ranges
        self.type = np.int8 if signed else np.uint8
        self.nodes, self.initializers = [], []
        self.rounded = {}  # by name: what stands for it, and the scale
        self.users = {}
        for node in graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)

    def constant(self, stem, values):
        name = f"{stem}_q{len(self.initializers)}"
        self.initializers.append(
            numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, op, inputs, stem, **attrs):
        name = f"{stem}_n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attrs))
        return name

    def step(self, low, high):
        """The scale and zero point for numbers between these."""
        if self.signed:
            return np.float32(max(-low, high, LEAST) / 127), np.int8(0)
        scale = max(high - low, LEAST) / 255
        return np.float32(scale), np.uint8(np.clip(round(-low / scale), 0, 255))

    def dequantised(self, values, scale, zero, stem, axis=0):
        return self.add("DequantizeLinear",
                        [self.constant(stem, values),
                         self.constant(stem, scale), self.constant(stem, zero)],
                        stem, axis=axis)

    def round_data(self, name):
        if name not in self.rounded:
            scale, zero = self.step(*self.ranges[name])
            step = [self.constant(name, scale), self.constant(name, zero)]
            data = self.add("QuantizeLinear", [name, *step], name)
            self.rounded[name] = (
                self.add("DequantizeLinear", [data, *step], name), scale)
        return self.rounded[name][0]

    def round_weights(self, name, axis):
        """The name of what stands for them, and the scales of channels."""
        values = self.constants[name]
        others = tuple(i for i in range(values.ndim) if i != axis)
        scales = np.maximum(np.abs(values).max(axis=others, initial=0),
                            LEAST) / 127
        along = np.expand_dims(scales, others)
        scales = scales.astype(np.float32)
        return self.dequantised(np.round(values / along).astype(np.int8),
                                scales, np.zeros(scales.shape, np.int8), name,
                                axis), scales

    def round_constant(self, name):
        values = self.constants[name]
        scale, zero = self.step(*with_zero(values))
        limits = np.iinfo(self.type)
        rounded = np.clip(np.round(values / scale) + float(zero), limits.min,
                          limits.max).astype(self.type)
        return self.dequantised(rounded, scale, zero, name)

    def takes(self, node):
        """Whether to quantise around the node."""
        if node.op_type not in QUANTISED:
            return False
        names = [n for n in node.input if n]
        if not any(n in self.ranges for n in names):
            return False
        if node.op_type not in {"Add", "Concat", "MatMul", "Mul"}:
            return True
        return all(n in self.ranges or
                   (n in self.constants and
                    self.constants[n].dtype == np.float32) for n in names)

    def operands(self, node):
        data_scale = scales = None
        attrs = attributes(node)
        for i, name in enumerate(node.input):
            if name in self.ranges:
                yield self.round_data(name)
                if i == 0:
                    data_scale = self.rounded[name][1]
                continue
            values = self.constants.get(name)
            if values is None or values.dtype != np.float32:
                yield name
            elif i == 1 and node.op_type in {"Conv", "ConvTranspose", "Gemm",
                                             "MatMul"}:
                axis = {"Conv": 0, "ConvTranspose": 1,
                        "Gemm": 0 if attrs.get("transB") else 1,
                        "MatMul": values.ndim - 1}[node.op_type]
                rounded, scales = self.round_weights(name, axis)
                yield rounded
            elif (i == 2 and node.op_type in {"Conv", "Gemm"}
                  and values.ndim == 1):
                scale = (scales * data_scale).astype(np.float32)
                yield self.dequantised(
                    np.round(values / scale).astype(np.int32), scale,
                    np.zeros(scale.shape, np.int32), name)
            elif values.size and node.op_type in {"Add", "Concat", "Mul"}:
                yield self.round_constant(name)
            else:
                yield name

    def waits(self, name, node):
        """Whether the one that reads it is rounded instead."""
        users = self.users.get(name, [])
        return (node.op_type in {"Add", "Conv", "Gemm", "MatMul"}
                and len(users) == 1 and users[0].op_type in ACTIVATIONS)

    def run(self):
        waiting = set()
        for node in self.graph.node:
            new = onnx.NodeProto()
            new.CopyFrom(node)
            if self.takes(node):
                operands = list(self.operands(node))
            else:
                operands = [self.rounded.get(n, (n,))[0] for n in node.input]
            del new.input[:]
            new.input.extend(operands)
            self.nodes.append(new)
            for name in node.output:
                if name not in self.ranges:
                    continue
                if self.takes(node) and self.waits(name, node):
                    waiting.add(name)
                elif self.takes(node) or (node.op_type in ACTIVATIONS and
                                          node.input[0] in waiting):
                    self.round_data(name)


class DynamicQuantiser(Quantiser):
    """Only products by constant matrices, whose data run time quantises."""

    def matrix(self, node):
        """The second operand [k, n] if the node is such a product."""
        attrs = attributes(node)
        values = self.constants.get(node.input[1]) if len(
            node.input) > 1 else None
        plain = node.op_type == "MatMul" or (
            node.op_type == "Gemm" and not attrs.get("transA")
            and attrs.get("alpha", 1) == 1 and attrs.get("beta", 1) == 1)
        if (not plain or values is None or values.ndim != 2
                or values.dtype != np.float32
                or node.input[0] in self.constants):
            return None
        return values.T if attrs.get("transB") else values

    def run(self):
        for node in self.graph.node:
            values = self.matrix(node)
            if values is None:
                self.nodes.append(node)
                continue
            x, y = node.input[0], node.output[0]
            scale = np.float32(np.abs(values).max(initial=LEAST) / 127)
            parts = [f"{x}_{part}{len(self.nodes)}" for part in "dsz"]
            self.nodes.append(
                helper.make_node("DynamicQuantizeLinear", [x], parts))
            weights = self.constant(
                x, np.ascontiguousarray(np.round(values / scale), np.int8))
            sums = self.add("MatMulInteger",
                            [parts[0], weights, parts[2],
                             self.constant(x, np.int8(0))], x)
            real = self.add("Cast", [sums], x, to=TensorProto.FLOAT)
            both = self.add("Mul", [parts[1], self.constant(x, scale)], x)
            if node.op_type == "Gemm" and len(node.input) > 2:
                real = self.add("Mul", [real, both], x)
                self.nodes.append(
                    helper.make_node("Add", [real, node.input[2]], [y]))
            else:
                self.nodes.append(helper.make_node("Mul", [real, both], [y]))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in {"u8", "i8", "dynamic"}:
        sys.exit(__doc__)
    form, source, folder = sys.argv[1:]
    model = onnx.load(source + "/model.onnx")
    if all(o.domain or o.version < OLDEST for o in model.opset_import):
        model = version_converter.convert_version(model, OLDEST)
    files = sorted(glob.glob(source + "/test_data_set_0/input_*.pb"),
                   key=lambda file: int(file[:-3].split("_")[-1]))
    graph, constants = model.graph, constants_of(model.graph)
    fold_batch_norms(graph, constants)
    if form == "dynamic":
        quantiser = DynamicQuantiser(graph, False, constants, {})
    else:
        quantiser = Quantiser(graph, form == "i8", constants,
                              ranges_of(model, constants, files))
    quantiser.run()
    del graph.node[:], graph.value_info[:]
    graph.node.extend(quantiser.nodes)
    used = {name for node in graph.node for name in node.input}
    kept = [t for t in [*graph.initializer, *quantiser.initializers]
            if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    os.makedirs(folder + "/test_data_set_0", exist_ok=True)
    onnx.save(model, folder + "/model.onnx")
    for file in files:
        shutil.copy(file, folder + "/test_data_set_0")


if __name__ == "__main__":
    main()
