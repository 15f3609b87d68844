"""Debian's Abseil under the labels that every project that uses Abseil writes."""

# Label -> the pkg-config module that has its link flags.
_TARGETS = {
    "algorithm:algorithm": "absl_algorithm",
    "algorithm:container": "absl_algorithm_container",
    "base:base": "absl_base",
    "base:config": "absl_config",
    "base:core_headers": "absl_core_headers",
    "base:dynamic_annotations": "absl_dynamic_annotations",
    "base:endian": "absl_endian",
    "base:log_severity": "absl_log_severity",
    "cleanup:cleanup": "absl_cleanup",
    "container:btree": "absl_btree",
    "container:fixed_array": "absl_fixed_array",
    "container:flat_hash_map": "absl_flat_hash_map",
    "container:flat_hash_set": "absl_flat_hash_set",
    "container:inlined_vector": "absl_inlined_vector",
    "container:node_hash_map": "absl_node_hash_map",
    "container:node_hash_set": "absl_node_hash_set",
    "debugging:failure_signal_handler": "absl_failure_signal_handler",
    "debugging:leak_check": "absl_leak_check",
    "debugging:stacktrace": "absl_stacktrace",
    "debugging:symbolize": "absl_symbolize",
    "flags:commandlineflag": "absl_flags_commandlineflag",
    "flags:config": "absl_flags_config",
    "flags:flag": "absl_flags",
    "flags:marshalling": "absl_flags_marshalling",
    "flags:parse": "absl_flags_parse",
    "flags:reflection": "absl_flags_reflection",
    "flags:usage": "absl_flags_usage",
    "functional:any_invocable": "absl_any_invocable",
    "functional:bind_front": "absl_bind_front",
    "functional:function_ref": "absl_function_ref",
    "hash:hash": "absl_hash",
    "memory:memory": "absl_memory",
    "meta:type_traits": "absl_type_traits",
    "numeric:bits": "absl_bits",
    "numeric:int128": "absl_int128",
    "random:bit_gen_ref": "absl_random_bit_gen_ref",
    "random:distributions": "absl_random_distributions",
    "random:random": "absl_random_random",
    "random:seed_sequences": "absl_random_seed_sequences",
    "status:status": "absl_status",
    "status:statusor": "absl_statusor",
    "strings:cord": "absl_cord",
    "strings:str_format": "absl_str_format",
    "strings:strings": "absl_strings",
    "synchronization:synchronization": "absl_synchronization",
    "time:time": "absl_time",
    "types:any": "absl_any",
    "types:compare": "absl_compare",
    "types:optional": "absl_optional",
    "types:span": "absl_span",
    "types:variant": "absl_variant",
    "utility:utility": "absl_utility",
}

# The flags of all modules together, on one library that all labels stand for: a link line then
# names each Abseil library once, and --as-needed keeps those that are used.
_ROOT = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "absl",
    linkopts = {linkopts},
)
"""

_PACKAGE = """\
package(default_visibility = ["//visibility:public"])
"""

_ALIAS = """
alias(
    name = "{name}",
    actual = "//:absl",
)
"""

def _abseil_repository_impl(ctx):
    modules = sorted(_TARGETS.values())
    result = ctx.execute(["pkg-config", "--libs"] + modules)
    if result.return_code != 0:
        fail("pkg-config does not know Abseil: install pkg-config and libabsl-dev " +
             "(tools/setup.sh does)\n" + result.stderr)
    shared = ["-Wl,--push-state,--as-needed"]
    for flag in result.stdout.split(" "):
        if flag.strip():
            shared.append(flag.strip())
    shared.append("-Wl,--pop-state")
    linkopts = [
        "-l:lib%s.a" % flag[2:] if flag.startswith("-labsl_") else flag
        for flag in shared
    ]
    ctx.file("BUILD.bazel", _ROOT.format(linkopts = repr(linkopts)), executable = False)

    # Debian's archives are for programs: their code cannot be in a shared library, which takes
    # Abseil's own ones instead when it has these flags.
    ctx.file("shared.bzl", "SHARED_ABSEIL = %s\n" % repr(shared), executable = False)

    packages = {}
    for label in _TARGETS:
        package, name = label.split(":")
        packages.setdefault(package, []).append(name)
    for package, names in packages.items():
        content = _PACKAGE + "".join([_ALIAS.format(name = name) for name in sorted(names)])
        ctx.file("absl/%s/BUILD.bazel" % package, content, executable = False)

abseil_repository = repository_rule(
    implementation = _abseil_repository_impl,
    attrs = {},
    local = True,
)
