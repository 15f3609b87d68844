"""Compiles models as part of a build: docs/bazel.md.

    load("@ingot//tools:ingot.bzl", "ingot_model")

    ingot_model(
        name = "detector",
        src = "detector.onnx",
        targets = ["llvm -mcpu=x86-64-v3"],
        tests = glob(["test_data_set_*/*.pb"]),
    )

makes the files detector.ingot, the set of artifacts, detector.so, the linked library, and detector.h, its C
functions, and the targets

    detector            all three, for programs that have them as `data`
    detector_cc         a cc_library: #include "<package>/detector.h"
    detector_py         a py_library: from <package> import detector_py; model = detector_py.load()
    detector_test       compares the library's outputs with those of the tests
    detector_benchmark  measures it: bazel run :detector_benchmark -- --threads=2

    ingot_wasm_model(
        name = "detector",
        src = "detector.onnx",
    )

makes detector.wasm and the JavaScript module detector.mjs, which loads and runs it, from a model that is
one function.
"""

load("//tools/models:command.bzl", "benchmark_model", "verify_model_test")
load("//tools/models:compile.bzl", "compile_values")
load("//tools/models:link.bzl", "linked_model")
load("//tools/models:python.bzl", "python_module")
load("//tools/models:wasm.bzl", "wasm_model")

_INGOT = Label("//tools:ingot")

# The names of symbols begin with this, so that two models can live in one program.
def _identifier(name):
    return name.replace("-", "_").replace(".", "_")

def ingot_model(
        name,
        src,
        targets,
        input_shapes = {},
        tests = [],
        test_args = [],
        cc = True,
        external_data = [],
        ingot = _INGOT,
        opt_level = 2,
        reproducible = False,
        symbol_prefix = None,
        tags = [],
        testonly = False,
        tuning_log = None,
        visibility = None):
    """A model, compiled, linked, and as libraries, with a test and a benchmark.

    Args:
      name: of the files and targets.
      src: the model, a file that a frontend of the command accepts.
      targets: what may compile parts of it, in the order in which they are asked: ["dnnl", "llvm -mcpu=x86-64-v3"].
        A dictionary makes variants of one set, of which loading takes the best that runs:
        {"v3": ["llvm -mcpu=x86-64-v3"], "v4": ["llvm -mcpu=x86-64-v4"]}. Code for the processor of the machine that
        compiles is refused, unless `tags` has "no-remote": then no cache keeps it.
      input_shapes: input name -> shape, such as {"image": "1x3x224x224"}.
      tests: ONNX's test data, all files of one or more folders with input_0.pb, …, output_0.pb, ….
      test_args: more flags of `ingot verify`, such as "--rtol=1e-4".
      cc: whether there is a header and <name>_cc; False for a model that is not one function.
      external_data: files beside the model that hold its weights.
      ingot: the command; one of your own, which ingot_command() made, knows your backends.
      opt_level: as `ingot compile --opt-level`.
      reproducible: as `ingot compile --reproducible`.
      symbol_prefix: what every symbol starts with; made from the name otherwise.
      tags: of all targets.
      testonly: of all targets.
      tuning_log: what `ingot tune` wrote, for the same targets.
      visibility: of all targets.
    """
    common = dict(
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    library = name + ".so"
    header = name + ".h"
    linked_model(
        name = name,
        container = name + ".ingot",
        header = header if cc else None,
        library = library,
        **dict(common, **compile_values(
            external_data = external_data,
            ingot = ingot,
            input_shapes = input_shapes,
            opt_level = opt_level,
            reproducible = reproducible,
            src = src,
            symbol_prefix = symbol_prefix or _identifier(name),
            targets = targets,
            tuning_log = tuning_log,
        ))
    )
    if cc:
        native.cc_library(
            name = name + "_cc",
            srcs = [library],
            hdrs = [header],
            **common
        )

    # Python would not find <name>.py beside <name>.so.
    module = _identifier(name) + "_py.py"
    python_module(
        name = name + "_py_module",
        library = library,
        module = module,
        **common
    )
    native.py_library(
        name = name + "_py",
        srcs = [module],
        data = [library],
        deps = [Label("//python:ingot")],
        **common
    )
    if tests:
        verify_model_test(
            name = name + "_test",
            args = test_args,
            ingot = ingot,
            library = library,
            tests = tests,
            **dict(common, testonly = True)
        )
    benchmark_model(
        name = name + "_benchmark",
        ingot = ingot,
        library = library,
        tests = tests,
        **common
    )

def ingot_wasm_model(
        name,
        src,
        targets = ["llvm -mtriple=wasm32 -mcpu=generic -mattr=+simd128"],
        input_shapes = {},
        external_data = [],
        ingot = _INGOT,
        opt_level = 2,
        reproducible = False,
        symbol_prefix = None,
        weights = "inside",
        **kwargs):
    """A model as a WebAssembly module and the JavaScript that loads it.

    Args:
      name: of the target, and of the files if there is no `symbol_prefix`.
      src: as of ingot_model, and so are the arguments up to symbol_prefix.
      targets: see there.
      input_shapes: see there.
      external_data: see there.
      ingot: see there.
      opt_level: see there.
      reproducible: see there.
      symbol_prefix: also the files' name: <symbol_prefix>.mjs and .wasm.
      weights: "inside" of the .wasm, or "beside" it, in <symbol_prefix>.weights.
      **kwargs: what every rule has: tags, testonly, visibility.
    """
    prefix = symbol_prefix or _identifier(name)
    suffixes = [".mjs", ".wasm"] + ([".weights"] if weights == "beside" else [])
    wasm_model(
        name = name,
        container = name + ".ingot",
        files = [prefix + suffix for suffix in suffixes],
        weights = weights,
        **dict(kwargs, **compile_values(
            external_data = external_data,
            ingot = ingot,
            input_shapes = input_shapes,
            opt_level = opt_level,
            reproducible = reproducible,
            src = src,
            symbol_prefix = prefix,
            targets = targets,
        ))
    )
