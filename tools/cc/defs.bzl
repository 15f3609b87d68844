"""The rules of rules_cc for this repository's own code.

They parse the headers that most files include once: installed ones, which saves a third of the time
that compiling takes, and those of rooms below, which saves a sixth of the rest. They compile tests
without optimisation, which halves theirs: what they test is optimised. A target with `copts` of its
own is compiled as rules_cc does. Tests link models with an LLD that starts quickly.
"""

load(
    "@rules_cc//cc:defs.bzl",
    _cc_binary = "cc_binary",
    _cc_library = "cc_library",
    _cc_proto_library = "cc_proto_library",
    _cc_test = "cc_test",
)
load("//tools/cc:precompiled_header.bzl", "USE_PRECOMPILED")

cc_proto_library = _cc_proto_library

def _is_cc(source):
    return source.endswith(".cc")

# Libraries whose headers take as long to parse as all the others: a library or program that names
# one of them gets a precompiled header with them.
_LARGE = {
    "@llvm": "_llvm",
    "@nlohmann_json//:json": "_json",
}

# Our own headers that most files of a folder include are precompiled as well, in a room below it. A
# line has the folder, a dependency that a target there must name if not all of them see that room,
# and the first part of the precompiled headers' names. The first line that fits counts.
_ROOMS = [
    ("backends/", "//compiler/target", "//compiler/target:precompiled"),
    ("compiler/codegen/llvm/", None, "//compiler/target:precompiled"),
    ("compiler/codegen/", None, "//compiler/tir:precompiled"),
    ("compiler/driver/", None, "//compiler/target:precompiled"),
    ("compiler/frontends/onnx/graph/", None, "//compiler/frontends/onnx/model:precompiled"),
    ("compiler/frontends/onnx/model/", None, "//compiler/frontends/onnx/model:precompiled"),
    ("compiler/frontends/onnx/", None, "//compiler/frontends/onnx/graph:precompiled"),
    ("compiler/relay/interpreter/", None, "//compiler/relay:precompiled"),
    ("compiler/relay/ops/", None, "//compiler/relay:precompiled"),
    ("compiler/relay/passes/", None, "//compiler/target:precompiled"),
    ("compiler/schedules/", None, "//compiler/te:precompiled"),
    ("compiler/te/", None, "//compiler/tir:precompiled"),
    ("compiler/tir/arith/", None, "//compiler/tir:precompiled"),
    ("compiler/tir/passes/", None, "//compiler/tir:precompiled"),
    ("runtime/executor/", None, "//runtime/plan:precompiled"),
    ("runtime/plan/", None, "//runtime/plan:precompiled"),
    ("tools/ingot/", "//compiler/target", "//compiler/target:precompiled"),
    ("tools/ingot/", None, "//loaders:precompiled"),
]

# For tests: of whole models, and those of the folders above.
_TEST_ROOMS = [
    ("backends/", None, "//backends/testing:precompiled"),
    ("compiler/te/", None, "//compiler/te:precompiled"),
    ("tests/", None, "//backends/testing:precompiled"),
] + _ROOMS + [
    ("compiler/relay/", None, "//compiler/relay:precompiled"),
]

def _listed_deps(attributes):
    deps = attributes.get("deps", [])
    return deps if type(deps) == "list" else []  # It may be select().

def _kind(attributes):
    for dependency in _listed_deps(attributes):
        if dependency in _LARGE:
            return "common" + _LARGE[dependency]
    return "common"

def _precompiled_header(attributes, is_test):
    """The label of what a target's files have precompiled."""
    kind = "testing" if is_test else _kind(attributes)
    if native.repository_name()[1:] == Label("//tools/cc").workspace_name:
        folder = native.package_name() + "/"
        for prefix, dependency, headers in (_TEST_ROOMS if is_test else _ROOMS):
            sees_room = dependency == None or dependency in _listed_deps(attributes)
            if folder.startswith(prefix) and sees_room:
                return "@ingot%s_%s" % (headers, kind)

    # By its full name: workspaces that use Ingot call macros that call this.
    return "@ingot//tools/cc:" + kind

def _precompiled(attributes, is_test):
    """What to add to a target's copts and deps."""
    sources = attributes.get("srcs", [])
    has_only_cc = type(sources) == "list" and any([_is_cc(s) for s in sources]) and not any([s.endswith(".c") for s in sources])
    if not has_only_cc:
        return [], []
    label = _precompiled_header(attributes, is_test)
    return (
        select({
            "@ingot//tools/cc:precompiled": ["-include-pch", "$(execpath %s)" % label] + USE_PRECOMPILED,
            "//conditions:default": [],
        }),
        select({
            "@ingot//tools/cc:precompiled": [label],
            "//conditions:default": [],
        }),
    )

def _add(rule, attributes, is_test):
    if "copts" not in attributes:
        copts, deps = _precompiled(attributes, is_test)
        attributes["copts"] = (["-O0"] if is_test else []) + copts
        attributes["deps"] = attributes.get("deps", []) + deps
    rule(**attributes)

def _in_tests():
    return (native.package_name() + "/").startswith("tests/")

def cc_library(**attributes):
    _add(_cc_library, attributes, is_test = _in_tests())

def cc_binary(**attributes):
    _add(_cc_binary, attributes, is_test = _in_tests())

# What starts in less time than linking takes.
_LLD = "@ingot//third_party/lld"

def cc_test(**attributes):
    attributes["data"] = attributes.get("data", []) + [_LLD]
    attributes["env"] = dict({"INGOT_LLD": "$(rootpath %s)" % _LLD}, **attributes.get("env", {}))
    attributes["deps"] = attributes.get("deps", []) + select({
        "@ingot//tools/cc:tsan": ["@ingot//tools/cc:tsan_suppressions"],
        "//conditions:default": [],
    })
    _add(_cc_test, attributes, is_test = True)
