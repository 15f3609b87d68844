"""The rules of rules_cc for this repository's own code.

They parse the headers that most files include once, which saves a third of the time that compiling
takes, and compile tests without optimisation, which halves theirs: what they test is optimised. A
target with `copts` of its own is compiled as rules_cc does. Tests link models with an LLD that starts
quickly.
"""

load(
    "@rules_cc//cc:defs.bzl",
    _cc_binary = "cc_binary",
    _cc_library = "cc_library",
    _cc_proto_library = "cc_proto_library",
    _cc_test = "cc_test",
)

cc_proto_library = _cc_proto_library

def _is_cc(source):
    return source.endswith(".cc")

# Libraries whose headers take as long to parse as all the others: a library or program that names
# one of them gets a precompiled header with them.
_LARGE = {
    "@llvm": "_llvm",
    "@nlohmann_json//:json": "_json",
}

def _common(attributes):
    deps = attributes.get("deps", [])
    if type(deps) != "list":  # It may be select().
        return "common"
    for dependency in deps:
        if dependency in _LARGE:
            return "common" + _LARGE[dependency]
    return "common"

def _precompiled(attributes, header):
    """What to add to a target's copts and deps."""
    sources = attributes.get("srcs", [])
    has_only_cc = type(sources) == "list" and any([_is_cc(s) for s in sources]) and not any([s.endswith(".c") for s in sources])
    if not has_only_cc:
        return [], []
    # By its full name: workspaces that use Ingot call macros that call this.
    label = "@ingot//tools/cc:" + header
    return (
        select({
            "@ingot//tools/cc:precompiled": ["-include-pch", "$(execpath %s)" % label],
            "//conditions:default": [],
        }),
        select({
            "@ingot//tools/cc:precompiled": [label],
            "//conditions:default": [],
        }),
    )

def _add(rule, attributes, is_test):
    if "copts" not in attributes:
        copts, deps = _precompiled(attributes, "testing" if is_test else _common(attributes))
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
