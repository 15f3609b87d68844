"""Models that are small and ask for much, one function each: its name is the file's, its text says what it asks for."""

import struct

from wire import *

CASES = {}


def case(maker):
    CASES[maker.__name__] = maker
    return maker


def constant_model(nodes, constants, dtype=FLOAT, rank=1):
    """A model whose output depends on nothing but constants."""
    outputs = [value("y", dtype, ["d%d" % i for i in range(rank)])]
    return model(graph(nodes, [], outputs, constants))


def chain(op, first, count, repeats=1, **attributes):
    """`count` nodes, each of which reads the one before it `repeats` times; the last makes y."""
    names = [first] + ["t%d" % i for i in range(count - 1)] + ["y"]
    return [node(op, [a] * repeats, [b], **attributes) for a, b in zip(names, names[1:])]


@case
def concat_doubling():
    """A constant of one element that 32 nodes double to 16 GiB."""
    return constant_model(chain("Concat", "c", 32, 2, axis=0), [floats("c", [1.0])])


@case
def concat_doubling_of_text():
    """The same with text."""
    return constant_model(chain("Concat", "c", 32, 2, axis=0), [tensor("c", STRING, [1], strings=["abc"])], STRING)


@case
def text_doubling():
    """One text that 36 nodes double to 64 GiB."""
    return constant_model(chain("StringConcat", "c", 36, 2), [tensor("c", STRING, [1], strings=["a"])], STRING)


@case
def constant_of_shape():
    """Eight billion zeros."""
    return constant_model([node("ConstantOfShape", ["s"], ["y"])], [int64s("s", [1 << 33])])


@case
def constant_of_shape_summed():
    """A sum over eight billion zeros, small once it is computed."""
    return constant_model([node("ConstantOfShape", ["s"], ["z"]), node("ReduceSum", ["z"], ["y"], keepdims=1)],
                          [int64s("s", [1 << 33])])


@case
def range_of_billions():
    """The numbers below four billion."""
    return constant_model([node("Range", ["a", "b", "c"], ["y"])],
                          [int64s(n, [v], []) for n, v in (("a", 0), ("b", 1 << 32), ("c", 1))], INT64)


@case
def mel_weight_matrix():
    """A filter bank of 100,000 bins for a transform of two million points."""
    constants = [int64s(n, [v], []) for n, v in (("bins", 100000), ("length", 1 << 21), ("rate", 48000))]
    constants += [floats("low", [0.0], []), floats("high", [24000.0], [])]
    return constant_model([node("MelWeightMatrix", ["bins", "length", "rate", "low", "high"], ["y"])], constants, rank=2)


@case
def col2im():
    """Columns that are put into an image of 60,000 by 60,000."""
    return constant_model([node("Col2Im", ["x", "image", "block"], ["y"])],
                          [floats("x", [0.0] * 4, [1, 4, 1]), int64s("image", [60000, 60000]),
                           int64s("block", [2, 2])], rank=4)


@case
def stft():
    """A transform of a million samples by frames of 65,536, a sample apart."""
    zeros = node("ConstantOfShape", ["s"], ["x"])
    return constant_model([zeros, node("STFT", ["x", "step", "", "length"], ["y"])],
                          [int64s("s", [1, 1 << 20, 1]), int64s("step", [1], []), int64s("length", [65536], [])],
                          rank=4)


@case
def tf_idf():
    """A count of pairs whose one column has the number two billion."""
    vectorize = node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=1,
                     max_skip_count=0, ngram_counts=[0], ngram_indexes=[1 << 31], pool_int64s=[5])
    return constant_model([vectorize], [int64s("x", [5, 6])])


@case
def dequantize_blocks():
    """A block of two billion elements for each scale."""
    return constant_model([node("ConstantOfShape", ["s"], ["x"], value=("tensor", tensor("v", INT8, [1], b"\1"))),
                           node("DequantizeLinear", ["x", "scale"], ["y"], axis=0, block_size=1 << 31)],
                          [int64s("s", [1 << 32]), floats("scale", [0.5, 0.5])])


@case
def expand():
    """One element that is expanded to 2^62."""
    return constant_model([node("Expand", ["x", "s"], ["y"])], [floats("x", [1.0]), int64s("s", [1 << 31, 1 << 31])],
                          rank=2)


@case
def tile_in_turns():
    """Ten Tiles, each by a thousand."""
    return constant_model(
        [node("Tile", ["x" if i == 0 else "t%d" % i, "r"], ["y" if i == 9 else "t%d" % (i + 1)]) for i in range(10)],
        [floats("x", [1.0]), int64s("r", [1000])])


@case
def pad():
    """Padding by 2^40."""
    return constant_model([node("Pad", ["x", "p"], ["y"])], [floats("x", [1.0]), int64s("p", [1 << 40, 1 << 40])])


@case
def one_hot():
    """One index among three billion."""
    return constant_model([node("OneHot", ["i", "d", "v"], ["y"])],
                          [int64s("i", [1, 2]), int64s("d", [3000000000], []), floats("v", [0.0, 1.0])], rank=2)


def many_nodes(op, count):
    return model(graph(chain(op, "x", count), [value("x", FLOAT, [4])], [value("y", FLOAT, [4])]))


@case
def many_identities():
    """100,000 nodes that do nothing."""
    return many_nodes("Identity", 100000)


@case
def many_relus():
    """100,000 nodes that do little."""
    return many_nodes("Relu", 100000)


@case
def many_inputs():
    """50,000 inputs that one sum takes."""
    names = ["x%d" % i for i in range(50000)]
    return model(graph([node("Sum", names, ["y"])], [value(n, FLOAT, [4]) for n in names], [value("y", FLOAT, [4])]))


@case
def hundreds_of_inputs():
    """200 inputs that one kernel takes, which must be quick, and right."""
    names = ["x%d" % i for i in range(200)]
    return model(graph([node("Concat", names, ["y"], axis=0)], [value(n, FLOAT, [4]) for n in names],
                       [value("y", FLOAT, [800])]))


@case
def max_of_thousands():
    """The largest of 20,000 constants."""
    names = ["c%d" % i for i in range(20000)]
    return constant_model([node("Max", names, ["y"])], [floats(n, [1.0]) for n in names])


def rank(count, dims):
    return model(graph([node("Relu", ["x"], ["y"])], [value("x", FLOAT, dims)], [value("y", FLOAT, dims)]))


@case
def rank_400_symbolic():
    """A tensor of 400 symbolic dimensions."""
    return rank(400, ["n%d" % i for i in range(400)])


@case
def rank_60_symbolic():
    """One of 60, which is still allowed."""
    return rank(60, ["n%d" % i for i in range(60)])


@case
def rank_20000():
    """A tensor of 20,000 dimensions."""
    return rank(20000, [1] * 20000)


@case
def shapes_shared_exponentially():
    """A dimension that 60 nodes double, and one that they square."""
    nodes = [node("Shape", ["x"], ["t0"])]
    nodes += [node("Add" if i % 2 else "Mul", ["t%d" % i] * 2, ["t%d" % (i + 1)]) for i in range(60)]
    nodes += [node("ConstantOfShape", ["t60"], ["y"])]
    return model(graph(nodes, [value("x", FLOAT, ["n"])], [value("y", FLOAT, ["m"])]))


@case
def sums_shared_exponentially():
    """A value that 60 nodes add to itself."""
    return model(graph(chain("Add", "x", 60, 2), [value("x", FLOAT, ["n"])], [value("y", FLOAT, ["n"])]))


def nested_functions(levels, calls):
    functions = [function("f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]
    for i in range(1, levels):
        names = ["a"] + ["t%d" % k for k in range(calls - 1)] + ["b"]
        functions.append(function("f%d" % i, ["a"], ["b"], [
            node("f%d" % (i - 1), [a], [b], domain="own") for a, b in zip(names, names[1:])]))
    return model(graph([node("f%d" % (levels - 1), ["x"], ["y"], domain="own")], [value("x", FLOAT, [4])],
                       [value("y", FLOAT, [4])]), functions)


@case
def functions_inlined_exponentially():
    """Forty functions, each of which calls the next twice."""
    return nested_functions(40, 2)


@case
def functions_nested_deeply():
    """3,000 functions, each of which calls the next."""
    return nested_functions(3000, 1)


@case
def function_calls_itself():
    """A function that calls itself."""
    return model(graph([node("f", ["x"], ["y"], domain="own")], [value("x", FLOAT, [4])], [value("y", FLOAT, [4])]),
                 [function("f", ["a"], ["b"], [node("f", ["a"], ["b"], domain="own")])])


@case
def constants_in_nested_functions():
    """A constant of 1 MiB in a function that is called a million times."""
    big = node("Constant", [], ["c"], value=("tensor", tensor("c", FLOAT, [1 << 18], bytes(1 << 20))))
    functions = [function("f0", ["a"], ["b"], [big, node("Add", ["a", "c"], ["b"])])]
    for i in range(1, 21):
        functions.append(function("f%d" % i, ["a"], ["b"], [
            node("f%d" % (i - 1), ["a"], ["t"], domain="own"), node("f%d" % (i - 1), ["t"], ["b"], domain="own")]))
    return model(graph([node("f20", ["x"], ["y"], domain="own")], [value("x", FLOAT, [1 << 18])],
                       [value("y", FLOAT, [1 << 18])]), functions)


def loop(trips, body_nodes, constants=()):
    body = graph(body_nodes, [value("i", INT64, []), value("go", 9, []), value("v", FLOAT, ["n"])],
                 [value("go_on", 9, []), value("w", FLOAT, ["m"])], constants)
    nodes = [node("Loop", ["trips", "yes", "x"], ["y"], body=("graph", body))]
    return model(graph(nodes, [value("x", FLOAT, [4])], [value("y", FLOAT, ["k"])],
                       [int64s("trips", [trips], []), tensor("yes", 9, [], b"\1")]))


@case
def loop_of_a_million():
    """A loop of a million iterations, each with an initializer."""
    return loop(1000000, [node("Identity", ["go"], ["go_on"]), node("Add", ["v", "c"], ["w"])], [floats("c", [1.0])])


@case
def loop_that_grows():
    """A loop that doubles what it carries 40 times."""
    return loop(40, [node("Identity", ["go"], ["go_on"]), node("Concat", ["v", "v"], ["w"], axis=0)])


@case
def branches_nested_deeply():
    """A branch in a branch, 3,000 deep."""
    inner = graph([node("Relu", ["x"], ["y"])], [], [value("y", FLOAT, [4])])
    for i in range(3000):
        inner = graph([node("If", ["c"], ["y"], then_branch=("graph", inner), else_branch=("graph", graph(
            [node("Relu", ["x"], ["y"])], [], [value("y", FLOAT, [4])])))], [], [value("y", FLOAT, [4])])
    return model(inner)


@case
def huge_product():
    """A product of matrices of 2^40 elements each."""
    side = 1 << 20
    return model(graph([node("MatMul", ["a", "b"], ["y"])],
                       [value("a", FLOAT, [side, side]), value("b", FLOAT, [side, side])],
                       [value("y", FLOAT, [side, side])]))


@case
def sizes_that_overflow():
    """Dimensions whose product is no 64-bit number."""
    dims = [1 << 40, 1 << 40]
    return model(graph([node("Relu", ["x"], ["y"])], [value("x", FLOAT, dims)], [value("y", FLOAT, dims)]))


@case
def convolution_of_billions():
    """A kernel of 2^31 by 2^31."""
    return model(graph([node("AveragePool", ["x"], ["y"], kernel_shape=[1 << 31, 1 << 31], pads=[1 << 31] * 4)],
                       [value("x", FLOAT, [1, 1, 8, 8])], [value("y", FLOAT, [1, 1, "h", "w"])]))


@case
def resize():
    """An image that grows a million times each way."""
    return model(graph([node("Resize", ["x", "", "s"], ["y"])], [value("x", FLOAT, [1, 1, 8, 8])],
                       [value("y", FLOAT, [1, 1, "h", "w"])], [floats("s", [1.0, 1.0, 1e6, 1e6])]))


@case
def data_that_is_missing():
    """A constant that says it has 2^40 elements and has four bytes."""
    return constant_model([node("Relu", ["c"], ["y"])], [tensor("c", FLOAT, [1 << 40], b"\0\0\0\0")])


@case
def long_name():
    """A node with a name of a million letters and an operator that is not known."""
    return model(graph([node("Nonsense", ["x"], ["y"], name="a" * 1000000)], [value("x", FLOAT, [4])],
                       [value("y", FLOAT, [4])]))


@case
def name_that_drives_a_terminal():
    """A node whose name clears the screen and forges a line."""
    return model(graph([node("Nonsense\x1b[2J", ["x"], ["y"], name="\x1b[2J\ningot: done\r")],
                       [value("x", FLOAT, [4])], [value("y", FLOAT, [4])]))


@case
def name_that_is_no_text():
    """Names that are not UTF-8."""
    bad = b"\xff\xfe\x80"
    relu = fields(1, [bad]) + fields(2, [b"y\xff"]) + field(3, bad) + field(4, "Relu")
    typed = field(2, field(1, field(1, FLOAT) + field(2, field(1, field(1, 4)))))
    return model(graph([relu], [field(1, bad) + typed], [field(1, b"y\xff") + typed]))


@case
def cut_off():
    """The first half of a model."""
    whole = many_nodes("Relu", 10)
    return whole[:len(whole) // 2]


@case
def no_model():
    """A gigabyte that a field's length promises, in ten bytes."""
    return varint(7 << 3 | 2) + varint(1 << 30) + b"abc"


@case
def empty():
    """Nothing."""
    return b""


# Those that must compile, and compute what the interpreter does.
RIGHT = ["hundreds_of_inputs", "sums_shared_exponentially"]

# The one line says this for those that must be refused, whatever the machine.
REFUSED = {
    "branches_nested_deeply": "damaged",
    "concat_doubling": "no memory",
    "constants_in_nested_functions": "--max-memory",
    "convolution_of_billions": "padding",
    "cut_off": "damaged",
    "data_that_is_missing": "4398046511104",
    "dequantize_blocks": "blocks of 2147483648",
    "empty": "no frontend",
    "expand": "too large",
    "function_calls_itself": "too deep",
    "functions_inlined_exponentially": "too deep",
    "functions_nested_deeply": "too deep",
    "long_name": "Nonsense",
    "mel_weight_matrix": "100000",
    "name_that_drives_a_terminal": "Nonsense",
    "name_that_is_no_text": "not UTF-8",
    "no_model": "damaged",
    "rank_20000": "64 are supported",
    "rank_400_symbolic": "64 are supported",
    "sizes_that_overflow": "too large",
    "stft": "frame_length",
    "tf_idf": "ngram_indexes",
    "tile_in_turns": "too many",
}
