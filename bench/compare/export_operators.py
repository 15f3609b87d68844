#!/usr/bin/python3
"""Writes models of one operator, or of a few that belong together, for //bench/compare.

  apt-get install --no-install-recommends python3-onnx python3-numpy
  bench/compare/export_operators.py FOLDER [NAME...]
  bazel run //bench/compare -- FOLDER

Each becomes FOLDER/NAME/model.onnx with random constants and one set of random
inputs beside it, 1.5 GB in all. With NAMEs, only those are written whose name
starts with one of them; their data is the same as without.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BOOL, UINT8, INT32, INT64 = (
    TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64)
FLOAT16, FLOAT, DOUBLE = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE
RANDOM = np.random.default_rng(7)
IMAGE, FEATURES, VOLUME = (1, 64, 56, 56), (1, 256, 64, 64), (64, 128, 256)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(end, *shape, start=0, dtype=np.int64):
    return RANDOM.integers(start, end, shape, dtype)


def unsigned_bytes(*shape):
    return integers(255, *shape, dtype=np.uint8)


def tensor(name, value):
    """Makes one of an array, a float, or a shape of normally distributed numbers."""
    if isinstance(value, float):
        value = np.float32(value)
    array = normal(*value) if isinstance(value, tuple) else np.asarray(value)
    return numpy_helper.from_array(array, name)


class Model:
    """A model in the making, whose values are known by their names."""

    def __init__(self, name, inputs, results=(FLOAT,), opset=17):
        self.name = name
        self.inputs = [tensor(f"input_{i}", value) for i, value in enumerate(inputs)]
        self.results = results
        self.opset = opset
        self.operators = []
        self.constants = []

    def operand(self, value):
        """The name of a value, which is given, or of a constant, which is made."""
        if isinstance(value, str):
            return value
        self.constants.append(tensor(f"constant_{len(self.constants)}", value))
        return self.constants[-1].name

    def add(self, operator, *operands, results=1, **attributes):
        """Adds an operator and returns the name of its result, or all names of several."""
        names = [f"value_{len(self.operators)}_{i}" for i in range(results)]
        operands = [self.operand(value) for value in operands]
        self.operators.append(helper.make_node(operator, operands, names, **attributes))
        return names if results > 1 else names[0]

    def end(self, operator, *operands, **attributes):
        """Adds the operator whose results are the model's, and returns the model."""
        self.add(operator, *operands, results=len(self.results), **attributes)
        return self

    def save(self, folder):
        data = os.path.join(folder, self.name, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        inputs = [helper.make_tensor_value_info(taken.name, taken.data_type, taken.dims)
                  for taken in self.inputs]
        outputs = [helper.make_tensor_value_info(name, element, None)
                   for name, element in zip(self.operators[-1].output, self.results)]
        graph = helper.make_graph(self.operators, self.name, inputs, outputs, self.constants)
        opsets = {"": self.opset, **{node.domain: 1 for node in self.operators if node.domain}}
        opsets = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
        ir_version = 10 if self.opset > 20 else 8
        model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
        onnx.save(model, os.path.join(folder, self.name, "model.onnx"))
        for i, taken in enumerate(self.inputs):
            onnx.save_tensor(taken, os.path.join(data, f"input_{i}.pb"))


def begin(name, inputs, **options):
    """A model without operators, and the names of its inputs."""
    model = Model(name, inputs, **options)
    return model, *[taken.name for taken in model.inputs]


def single(name, operator, inputs, constants=(), results=(FLOAT,), opset=17, **attributes):
    """A model of one operator, whose operands are the inputs and then the constants."""
    model, *names = begin(name, inputs, results=results, opset=opset)
    return model.end(operator, *names, *constants, **attributes)


def elementwise():
    above_zero = np.abs(normal(*FEATURES)) + 0.1
    for operator in ("Abs Asinh Atan Ceil Cos Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu "
                     "Log Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign "
                     "Sqrt Tanh").split():
        data = above_zero if operator in ("Log", "Sqrt") else FEATURES
        yield single("ew_" + operator.lower(), operator, [data], opset=18)
    for operator in ("Add", "Mul", "Div", "Pow", "Max", "PRelu"):
        data = above_zero if operator == "Pow" else FEATURES
        yield single("ew2_" + operator.lower(), operator, [data, (256, 1, 1)])
        yield single("ew2same_" + operator.lower(), operator, [data, FEATURES])
    size = 1 << 20
    whole = [integers(100, size), integers(100, size) + 1]
    yield single("ew_mod", "Mod", whole, results=[INT64])
    yield single("ew_intdiv", "Div", whole, results=[INT64])
    yield single("ew_fmod", "Mod", [(size,), np.abs(normal(size)) + 1], fmod=1)
    mask = normal(*FEATURES) > 0
    yield single("ew_not", "Not", [mask], results=[BOOL])
    yield single("ew_greater", "Greater", [FEATURES, FEATURES], results=[BOOL])
    yield single("ew_where", "Where", [mask, FEATURES, FEATURES])
    yield single("ew_clip", "Clip", [FEATURES], [-1.0, 1.0])


def casts():
    floats, whole = 30 * np.abs(normal(*FEATURES)), integers(100, *FEATURES)
    for name, data, element in [
            ("f32f16", floats, FLOAT16), ("f32b", floats, BOOL), ("f32u8", floats, UINT8),
            ("f32i64", floats, INT64), ("f16f32", floats.astype(np.float16), FLOAT),
            ("u8f32", unsigned_bytes(*FEATURES), FLOAT), ("i64f32", whole, FLOAT),
            ("i64i32", whole, INT32)]:
        yield single("cast_" + name, "Cast", [data], results=[element], to=element)


def reductions():
    for operator in ("Mean", "Max", "Sum", "L2", "Prod", "LogSumExp", "Min", "SumSquare", "L1"):
        more = [[0], [1, 2], [0, 2]] if operator in ("Mean", "Max") else []
        for axes in [[1], [2], *more]:
            name = f"red_{operator.lower()}_{''.join(map(str, axes))}"
            yield single(name, "Reduce" + operator, [VOLUME], [np.int64(axes)], opset=18)
    for axis in range(3):
        yield single(f"red_argmax_{axis}", "ArgMax", [VOLUME], results=[INT64], axis=axis)
        yield single(f"red_argmin_{axis}", "ArgMin", [VOLUME], results=[INT64], axis=axis)
        yield single(f"softmax_{axis}", "Softmax", [VOLUME], axis=axis)
        yield single(f"logsoftmax_{axis}", "LogSoftmax", [VOLUME], axis=axis)
        yield single(f"cumsum_{axis}", "CumSum", [VOLUME], [np.int64(axis)])
    yield single("softmax_big", "Softmax", [(8, 50000)], axis=-1)
    yield single("hardmax", "Hardmax", [VOLUME], axis=-1)
    yield single("layernorm", "LayerNormalization", [VOLUME], [(256,), (256,)])
    yield single("layernorm768", "LayerNormalization", [(1, 512, 768)], [(768,), (768,)])
    scale, variance = [(64,), (64,)], np.abs(normal(64)) + 0.5
    yield single("instnorm", "InstanceNormalization", [IMAGE], scale)
    yield single("groupnorm", "GroupNormalization", [IMAGE], scale, opset=21, num_groups=8)
    yield single("batchnorm", "BatchNormalization", [IMAGE], [*scale, (64,), variance])
    yield single("lpnorm", "LpNormalization", [VOLUME], axis=1, p=2)
    yield single("lrn", "LRN", [IMAGE], size=5, alpha=1e-4, beta=0.75)
    yield single("mvn", "MeanVarianceNormalization", [IMAGE])


def moves():
    yield single("d2s_dcr", "DepthToSpace", [(1, 64, 112, 112)], blocksize=2, mode="DCR")
    yield single("d2s_crd", "DepthToSpace", [(1, 64, 112, 112)], blocksize=2, mode="CRD")
    yield single("s2d", "SpaceToDepth", [(1, 16, 224, 224)], blocksize=2)
    for axis in range(3):
        yield single(f"concat_{axis}", "Concat", [VOLUME, VOLUME], axis=axis)
        yield single(f"split_{axis}", "Split", [VOLUME], results=[FLOAT, FLOAT], axis=axis)
    for name, shape, *places in [  # starts, ends, axes and steps
            ("step", FEATURES, [0, 0], [64, 64], [2, 3], [2, 2]),
            ("rev", FEATURES, [-1], [-1000], [3], [-1]),
            ("focus", (1, 3, 640, 640), [1, 1], [640, 640], [2, 3], [2, 2])]:
        yield single("slice_" + name, "Slice", [shape], [np.int64(place) for place in places])
    for mode in ("constant", "reflect", "edge"):
        yield single("pad_" + mode, "Pad", [IMAGE], [np.int64([0, 0, 3, 3] * 2)], mode=mode)
    yield single("tile", "Tile", [VOLUME], [np.int64([1, 2, 2])])
    yield single("expand", "Expand", [(1, 128, 1)], [np.int64(VOLUME)])
    yield single("trilu", "Trilu", [(8, 512, 512)], upper=0)
    yield single("revseq", "ReverseSequence", [(128, 64, 64), integers(127, 64) + 1],
                 batch_axis=1, time_axis=0)
    for order in [(0, 2, 1), (1, 0, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0)]:
        yield single("tr_%d%d%d" % order, "Transpose", [(128, 192, 256)], perm=order)
    for name, shape, order in [
            ("nhwc", (1, 64, 112, 112), (0, 2, 3, 1)), ("nchw", (1, 112, 112, 64), (0, 3, 1, 2)),
            ("nhwc3", (1, 3, 640, 640), (0, 2, 3, 1)), ("nchw3", (1, 640, 640, 3), (0, 3, 1, 2)),
            ("heads", (1, 512, 12, 64), (0, 2, 1, 3)), ("2d", (2048, 2048), (1, 0)),
            ("6d", (1, 4, 4, 56, 56, 16), (0, 5, 3, 1, 4, 2))]:
        yield single("tr_" + name, "Transpose", [shape], perm=order)
    data = unsigned_bytes(1, 640, 640, 3)
    yield single("tr_u8", "Transpose", [data], results=[UINT8], perm=(0, 3, 1, 2))
    data = unsigned_bytes(2048, 2048)
    yield single("tr_2d_u8", "Transpose", [data], results=[UINT8], perm=(1, 0))
    data = integers(100, 1024, 1024)
    yield single("tr_2d_i64", "Transpose", [data], results=[INT64], perm=(1, 0))


def indexing():
    yield single("gather_0", "Gather", [(30000, 384), integers(30000, 1, 512)], axis=0)
    yield single("gather_1", "Gather", [VOLUME, integers(128, 100)], axis=1)
    yield single("gather_2", "Gather", [VOLUME, integers(256, 100)], axis=2)
    yield single("gatherel_1", "GatherElements", [VOLUME, integers(128, *VOLUME)], axis=1)
    yield single("gatherel_2", "GatherElements", [VOLUME, integers(256, 64, 128, 64)], axis=2)
    yield single("gathernd", "GatherND", [VOLUME, integers(64, 4096, 2)])
    # Only where they are added may several updates go to the same place.
    places = RANDOM.random(VOLUME).argsort(axis=1)[:, :64]
    yield single("scatterel", "ScatterElements", [VOLUME, places, places.shape], axis=1)
    operands = [VOLUME, integers(128, *places.shape), places.shape]
    yield single("scatterel_add", "ScatterElements", operands, opset=16, axis=1, reduction="add")
    places = np.stack(np.divmod(RANDOM.permutation(4096), 64), axis=1)
    yield single("scatternd", "ScatterND", [VOLUME, places, (4096, 256)])
    yield single("onehot", "OneHot", [integers(1000, 64, 128)],
                 [np.int64(1000), np.float32([0, 1])], axis=-1)
    both = [FLOAT, INT64]
    for count, size in [(10, 1000), (100, 8400), (1000, 20000), (5, 50000)]:
        yield single(f"topk_{count}_{size}", "TopK", [(4, size)], [np.int64([count])], both)
    yield single("topk_ax1", "TopK", [(8, 100, 64)], [np.int64([10])], both, axis=1)
    yield single("range_nonzero", "NonZero", [normal(512, 512) > 0], results=[INT64])
    yield single("compress", "Compress", [VOLUME, normal(128) > 0], axis=1)
    yield single("unique", "Unique", [integers(500, 10000)], results=[INT64] * 4)
    corners, sizes = RANDOM.random((2, 1, 2000, 2), np.float32)
    boxes = np.concatenate([corners, corners + sizes * 0.1], axis=2)
    yield single("nms", "NonMaxSuppression", [boxes, RANDOM.random((1, 10, 2000), np.float32)],
                 [np.int64([100]), np.float32([0.5]), np.float32([0.3])], [INT64])


def resizing():
    for name, shape, scale, mode, places, attributes in [
            ("nearest2", IMAGE, 2, "nearest", "asymmetric", {"nearest_mode": "floor"}),
            ("linear2", IMAGE, 2, "linear", "half_pixel", {}),
            ("linear_ac", IMAGE, 2, "linear", "align_corners", {}),
            ("cubic2", IMAGE, 2, "cubic", "half_pixel", {}),
            ("linear_down", (1, 3, 640, 640), 0.35, "linear", "half_pixel", {})]:
        yield single("rs_" + name, "Resize", [shape], ["", np.float32([1, 1, scale, scale])],
                     mode=mode, coordinate_transformation_mode=places, **attributes)
    grid = RANDOM.random((1, 56, 56, 2), np.float32) * 2 - 1
    yield single("gridsample", "GridSample", [IMAGE, grid])
    regions = np.sort(RANDOM.random((100, 2, 2), np.float32) * 50, axis=1).reshape(100, 4)
    yield single("roialign", "RoiAlign", [(1, 256, 50, 50), regions, np.zeros(100, np.int64)],
                 output_height=7, output_width=7, sampling_ratio=2)


def pools():
    halved = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield single("maxpool2", "MaxPool", [IMAGE], **halved)
    yield single("avgpool2", "AveragePool", [IMAGE], **halved)
    for size, step in [(3, 2), (5, 1), (13, 1)]:
        window = {"kernel_shape": [size] * 2, "strides": [step] * 2, "pads": [size // 2] * 4}
        yield single(f"maxpool{size}", "MaxPool", [IMAGE], **window)
        yield single(f"avgpool{size}", "AveragePool", [IMAGE], **window)
    yield single("maxpool_idx", "MaxPool", [IMAGE], results=[FLOAT, INT64], **halved)
    yield single("lppool", "LpPool", [IMAGE], p=2, **halved)
    yield single("gap", "GlobalAveragePool", [(1, 2048, 7, 7)])
    yield single("gmp", "GlobalMaxPool", [IMAGE])
    yield single("pool1d", "MaxPool", [(1, 128, 4096)], kernel_shape=[2], strides=[2])
    yield single("pool3d", "MaxPool", [(1, 32, 16, 28, 28)], kernel_shape=[2] * 3,
                 strides=[2] * 3)


def convolution(operator, name, rank, channels, filters, kernel, places, pad=0, step=1, group=1,
                dilation=1, **attributes):
    """Sizes are tuples, or numbers that hold in each dimension."""
    def each(size):
        return list(size) if isinstance(size, tuple) else [size] * rank

    if pad:
        attributes["pads"] = each(pad) * 2
    if step != 1:
        attributes["strides"] = each(step)
    if dilation != 1:
        attributes["dilations"] = each(dilation)
    transposed = operator == "ConvTranspose"
    ends = (channels, filters // group) if transposed else (filters, channels // group)
    return single(name, operator, [(1, channels, *each(places))],
                  [normal(*ends, *each(kernel)) * 0.05, (filters,)], group=group, **attributes)


def convolutions():
    for name, *row in [  # channels, filters, kernel, places, padding, step, groups, dilation
            ("3x3_64_56", 64, 64, 3, 56, 1), ("3x3_16_160", 16, 16, 3, 160, 1),
            ("3x3_512_7", 512, 512, 3, 7, 1), ("3x3_1_64", 1, 64, 3, 128, 1),
            ("3x3_64_1", 64, 1, 3, 128, 1), ("3x3_32s2_160", 32, 64, 3, 160, 1, 2),
            ("3x3_dil2", 128, 128, 3, 28, 2, 1, 1, 2), ("5x5_32", 32, 64, 5, 56, 2),
            ("3x3_dil12_aspp", 256, 64, 3, 33, 12, 1, 1, 12), ("9x9_3_out", 64, 3, 9, 128, 4),
            ("6x6s2_3", 3, 32, 6, 320, 2, 2), ("7x7s2_3", 3, 64, 7, 224, 3, 2),
            ("4x4s4_3", 3, 96, 4, 224, 0, 4), ("16x16s16_3", 3, 384, 16, 224, 0, 16),
            ("1x7", 128, 128, (1, 7), 17, (0, 3)), ("7x1", 128, 128, (7, 1), 17, (3, 0)),
            ("1x1_64_256", 64, 256, 1, 56), ("1x1_1024_7", 1024, 1024, 1, 7),
            ("1x1_24_144", 24, 144, 1, 56), ("1x1_21", 256, 21, 1, 65),
            ("1x1_255", 256, 255, 1, 40), ("1x1s2", 256, 512, 1, 56, 0, 2),
            ("dw3_144", 144, 144, 3, 56, 1, 1, 144), ("dw3s2_96", 96, 96, 3, 112, 1, 2, 96),
            ("dw5_240", 240, 240, 5, 28, 2, 1, 240), ("dw7_96", 96, 96, 7, 56, 3, 1, 96),
            ("dw31", 64, 64, 31, 56, 15, 1, 64), ("dwmult2", 32, 64, 3, 56, 1, 1, 32),
            ("g32_resnext", 128, 128, 3, 56, 1, 1, 32), ("g4", 64, 64, 3, 56, 1, 1, 4),
            ("g2_1x1", 116, 116, 1, 28, 0, 1, 2)]:
        yield convolution("Conv", "conv_" + name, 2, *row)
    for name, *row in [  # rank, and the same
            ("1d_k3_256", 1, 256, 256, 3, 400, 1), ("1d_k10s5", 1, 1, 512, 10, 16000, 0, 5),
            ("1d_k31dw", 1, 256, 256, 31, 400, 15, 1, 256), ("1d_1x1", 1, 512, 1024, 1, 200),
            ("1d_dil", 1, 64, 64, 3, 4000, 8, 1, 1, 8), ("1d_k3s2_512", 1, 512, 512, 3, 3199, 0, 2),
            ("1d_k128_w2v", 1, 768, 768, 128, 49, 64, 1, 16),
            ("1d_stft", 1, 1, 258, 256, 16000, 0, 64), ("3d_3", 3, 32, 32, 3, (16, 28, 28), 1),
            ("3d_dw", 3, 64, 64, 3, (8, 28, 28), 1, 1, 64), ("3d_1", 3, 64, 128, 1, (8, 28, 28)),
            ("3d_first", 3, 3, 32, (3, 7, 7), (8, 112, 112), (1, 3, 3), (1, 2, 2))]:
        yield convolution("Conv", "conv_" + name, *row)
    yield single("conv_dynw", "Conv", [IMAGE, (64, 64, 3, 3)], pads=[1] * 4)


def transposed_convolutions():
    for name, *row in [  # rank, channels, filters, kernel, places, padding, step, groups
            ("2x2s2", 2, 64, 32, 2, 64, 0, 2), ("4x4s2", 2, 64, 32, 4, 64, 1, 2),
            ("3x3s1", 2, 64, 64, 3, 32, 1), ("dw4s2", 2, 64, 64, 4, 40, 1, 2, 64),
            ("64x64s32", 2, 21, 21, 64, 16, 16, 32), ("1d_16s8", 1, 128, 64, 16, 400, 4, 8),
            ("1d_256s64", 1, 258, 1, 256, 200, 0, 64), ("3d", 3, 32, 16, 2, (8, 28, 28), 0, 2)]:
        yield convolution("ConvTranspose", "convt_" + name, *row)
    yield convolution("ConvTranspose", "convt_3x3s2", 2, 64, 32, 3, 64, 1, 2,
                      output_padding=[1, 1])


def products():
    for name, data, weights in [
            ("128_768_3072", (1, 128, 768), (768, 3072)), ("vecout", (4096, 1024), (1024, 1)),
            ("1_768_3072", (1, 1, 768), (768, 3072)), ("4_1024_1024", (4, 1024), (1024, 1024)),
            ("gemv", (1, 4096), (4096, 4096)), ("odd_127_511_1023", (127, 511), (511, 1023)),
            ("1000cls", (1, 2048), (2048, 1000)), ("1000x1000", (1000, 1000), (1000, 1000))]:
        yield single("mm_" + name, "MatMul", [data], [weights])
    for name, left, right in [
            ("512cube", (512, 512), (512, 512)), ("17_33_65", (17, 33), (33, 65)),
            ("dyn_gemv", (1, 4096), (4096, 4096)), ("batch16small", (64, 16, 16), (64, 16, 16)),
            ("batch_qk", (1, 12, 384, 64), (1, 12, 64, 384)),
            ("batch_av", (1, 12, 384, 384), (1, 12, 384, 64)),
            ("4d_bcast", (8, 16, 64, 64), (64, 64))]:
        yield single("mm_" + name, "MatMul", [left, right])
    halves = [normal(*shape).astype(np.float16) for shape in [(256, 512), (512, 512)]]
    yield single("mm_f16", "MatMul", halves[:1], halves[1:], results=[FLOAT16])
    whole = [integers(100, size, 256, dtype=np.int32) for size in (128, 256)]
    yield single("mm_i32", "MatMul", whole, results=[INT32])
    doubles = [RANDOM.standard_normal((256, 256)) for _ in range(2)]
    yield single("mm_f64", "MatMul", doubles, results=[DOUBLE])
    yield single("gemm_tb", "Gemm", [(128, 768)], [(3072, 768), (3072,)], transB=1)
    yield single("gemm_ta", "Gemm", [(768, 128), (768, 512)], transA=1)
    yield single("gemm_tt", "Gemm", [(768, 128), (512, 768)], transA=1, transB=1, alpha=0.5)
    yield single("gemm_dyn_tb", "Gemm", [(512, 512), (512, 512)], transB=1)
    for name, equation, *shapes in [
            ("bhqd", "bhqd,bhkd->bhqk", (1, 12, 256, 64), (1, 12, 256, 64)),
            ("bqhd", "bqhd,bkhd->bhqk", (1, 256, 12, 64), (1, 256, 12, 64)),
            ("outer", "i,j->ij", (2000,), (1000,)), ("ij", "ij,jk->ik", (512, 512), (512, 512)),
            ("diag", "bii->bi", (64, 128, 128)), ("sum", "bij->bj", (64, 128, 128)),
            ("nchw", "nchw,ocw->noh", (1, 16, 32, 64), (32, 16, 64)),
            ("3", "ij,jk,kl->il", (128, 128), (128, 128), (128, 128))]:
        yield single("ein_" + name, "Einsum", shapes, equation=equation)


def recurrent():
    linear, both = {"linear_before_reset": 1}, {"direction": "bidirectional"}
    for name, operator, steps, batch, size, attributes in [
            ("lstm", "LSTM", 50, 1, 128, {}), ("lstm_bi", "LSTM", 50, 1, 256, both),
            ("lstm_b8", "LSTM", 50, 8, 128, {}), ("lstm_b32", "LSTM", 20, 32, 256, {}),
            ("lstm_1", "LSTM", 1, 1, 64, {}), ("lstm512", "LSTM", 20, 1, 512, {}),
            ("gru", "GRU", 50, 1, 128, linear), ("gru_bi", "GRU", 50, 1, 256, {**both, **linear}),
            ("gru0", "GRU", 50, 1, 128, {}), ("rnn", "RNN", 50, 1, 128, {})]:
        directions = 2 if "direction" in attributes else 1
        rows = size * {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
        shapes = [(directions, rows, size), (directions, rows, size), (directions, 2 * rows)]
        yield single("rnn_" + name, operator, [(steps, batch, size)],
                     [normal(*shape) * 0.1 for shape in shapes], hidden_size=size, **attributes)


def quantised():
    signed = {"start": -127, "dtype": np.int8}
    data_scale = [np.float32(0.02), np.uint8(128)]
    scales = [np.float32(0.01), np.int8(0), np.float32(0.5), np.uint8(128)]  # weights, results
    yield single("q_dql", "DequantizeLinear", [unsigned_bytes(1, 64, 112, 112)], data_scale)
    yield single("q_ql", "QuantizeLinear", [(1, 64, 112, 112)], data_scale, results=[UINT8])
    data, weights = unsigned_bytes(128, 768), integers(127, 768, 768, **signed)
    yield single("q_matmulint", "MatMulInteger", [data, weights], results=[INT32])
    yield single("q_matmulint_c", "MatMulInteger", [data], [weights], results=[INT32])
    yield single("q_qlmm", "QLinearMatMul", [data], [*data_scale, weights, *scales], [UINT8])
    model, data = begin("q_dyn", [(1, 128, 768)])
    data, scale, zero = model.add("DynamicQuantizeLinear", data, results=3)
    sums = model.add("MatMulInteger", data, weights, zero)
    yield model.end("Mul", model.add("Cast", sums, to=FLOAT), scale)
    data, weights = unsigned_bytes(1, 64, 28, 28), integers(127, 64, 64, 3, 3, **signed)
    yield single("q_convint", "ConvInteger", [data], [weights], results=[INT32], pads=[1] * 4)
    constants = [*data_scale, weights, *scales, integers(100, 64, dtype=np.int32)]
    yield single("q_qlconv", "QLinearConv", [data], constants, [UINT8], pads=[1] * 4)
    data, weights = unsigned_bytes(1, 96, 56, 56), integers(127, 96, 1, 3, 3, **signed)
    constants = [*data_scale, weights, *scales, integers(100, 96, dtype=np.int32)]
    yield single("q_qlconvdw", "QLinearConv", [data], constants, [UINT8], pads=[1] * 4, group=96)


def contrib():
    own = {"domain": "com.microsoft"}
    yield single("c_gelu", "Gelu", [(1, 512, 3072)], **own)
    yield single("c_fastgelu", "FastGelu", [(1, 512, 3072)], **own)
    yield single("c_skipln", "SkipLayerNormalization", [(1, 512, 768)] * 2, [(768,)] * 2, **own)
    yield single("c_mha", "MultiHeadAttention", [(1, 256, 768)] * 3, num_heads=12, **own)
    weights = [unsigned_bytes(2048, 64, 16), normal(2048 * 64) * 0.01]
    for name, rows in [("c_mmnb", 1), ("c_mmnb64", 64)]:
        yield single(name, "MatMulNBits", [(1, rows, 2048)], weights, K=2048, N=2048, bits=4,
                     block_size=32, **own)


def signal():
    yield single("dft", "DFT", [(16, 512, 1)], axis=1, onesided=1)
    yield single("dft_odd", "DFT", [(16, 400, 1)], axis=1, onesided=1)
    yield single("stft", "STFT", [(1, 16000, 1)], [np.int64(160), np.float32(np.hanning(400))])


def attention_patterns():
    for name, places, masks in [("p_attn", 384, []), ("p_attn_mask", 128, [(1, 1, 128, 128)])]:
        model, query, key, value, *masks = begin(name, [(1, 12, places, 64)] * 3 + masks)
        scores = model.add("MatMul", query, model.add("Transpose", key, perm=(0, 1, 3, 2)))
        scores = model.add("Mul", scores, 0.125)
        for mask in masks:
            scores = model.add("Add", scores, mask)
        yield model.end("MatMul", model.add("Softmax", scores, axis=-1), value)
    model, data, cosine, sine = begin("p_rope", [(1, 12, 512, 64), (512, 64), (512, 64)])
    first, second = model.add("Split", data, results=2, axis=-1)
    turned = model.add("Concat", model.add("Neg", second), first, axis=-1)
    yield model.end("Add", model.add("Mul", data, cosine), model.add("Mul", turned, sine))


def activation_patterns():
    model, data = begin("p_gelu", [(1, 512, 3072)])
    factor = model.add("Add", model.add("Erf", model.add("Div", data, 2 ** 0.5)), 1.0)
    yield model.end("Mul", model.add("Mul", data, factor), 0.5)
    model, data = begin("p_geglu_tanh", [(1, 512, 3072)])
    cube = model.add("Mul", model.add("Mul", data, data), data)
    value = model.add("Add", model.add("Mul", cube, 0.044715), data)
    factor = model.add("Add", model.add("Tanh", model.add("Mul", value, 0.7978)), 1.0)
    yield model.end("Mul", model.add("Mul", data, factor), 0.5)
    model, data = begin("p_silu_conv", [(1, 32, 80, 80)])
    value = model.add("Conv", data, normal(32, 32, 3, 3) * 0.05, (32,), pads=[1] * 4)
    yield model.end("Mul", value, model.add("Sigmoid", value))
    model, data = begin("p_se", [(1, 144, 56, 56)])
    value = model.add("Conv", model.add("GlobalAveragePool", data), (36, 144, 1, 1))
    value = model.add("Conv", model.add("Relu", value), (144, 36, 1, 1))
    yield model.end("Mul", data, model.add("Sigmoid", value))


def normalisation_patterns():
    def deviation(model, value, **attributes):
        mean = model.add("ReduceMean", model.add("Pow", value, 2.0), axes=[-1], **attributes)
        return model.add("Sqrt", model.add("Add", mean, 1e-6))

    model, data = begin("p_rmsnorm", [(1, 512, 768)])
    yield model.end("Mul", model.add("Div", data, deviation(model, data, keepdims=1)), (768,))
    model, data = begin("p_ln_parts", [(1, 512, 768)])
    value = model.add("Sub", data, model.add("ReduceMean", data, axes=[-1]))
    value = model.add("Mul", model.add("Div", value, deviation(model, value)), (768,))
    yield model.end("Add", value, (768,))
    model, data = begin("p_gnorm_parts", [IMAGE])
    value = model.add("Reshape", data, np.int64([0, 8, -1]))
    value = model.add("InstanceNormalization", value, np.float32([1] * 8), np.float32([0] * 8))
    value = model.add("Mul", model.add("Reshape", value, np.int64(IMAGE)), (64, 1, 1))
    yield model.end("Add", value, (64, 1, 1))
    model, data = begin("p_norm_img", [unsigned_bytes(1, 480, 640, 3)])
    value = model.add("Div", model.add("Cast", data, to=FLOAT), 255.0)
    value = model.add("Div", model.add("Sub", value, (3,)), np.abs(normal(3)) + 0.2)
    yield model.end("Transpose", value, perm=(0, 3, 1, 2))


def move_patterns():
    for name, shape, parts, order, joined in [
            ("p_shuffle", IMAGE, [1, 2, 32, 56, 56], (0, 2, 1, 3, 4), IMAGE),
            ("p_swin_win", (1, 56, 56, 96), [1, 8, 7, 8, 7, 96], (0, 1, 3, 2, 4, 5),
             [64, 49, 96])]:
        model, data = begin(name, [shape])
        value = model.add("Transpose", model.add("Reshape", data, np.int64(parts)), perm=order)
        yield model.end("Reshape", value, np.int64(joined))
    model, data = begin("p_yolo_dfl", [(1, 64, 8400)])
    value = model.add("Reshape", data, np.int64([1, 4, 16, 8400]))
    value = model.add("Softmax", model.add("Transpose", value, perm=(0, 2, 1, 3)), axis=1)
    value = model.add("Conv", value, np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1))
    yield model.end("Reshape", value, np.int64([1, 4, 8400]))
    image = (1, 21, 256, 256)
    yield single("p_softmax_argmax_seg", "ArgMax", [image], (), [INT64], axis=1, keepdims=0)


GROUPS = [
    elementwise, casts, reductions, moves, indexing, resizing, pools, convolutions,
    transposed_convolutions, products, recurrent, quantised, contrib, signal, attention_patterns,
    activation_patterns, normalisation_patterns, move_patterns]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, *names = sys.argv[1:]
    for group in GROUPS:
        for model in group():
            if not names or model.name.startswith(tuple(names)):
                print(model.name, flush=True)
                model.save(folder)


if __name__ == "__main__":
    main()
