"""A header that is parsed once and not in every file that includes it."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# The compiler notes which file it precompiles. This one is where every machine has it.
_MAIN_FILE = "/usr/include/stdc-predef.h"

# Whatever the checkout, its own folder has this name. Paths in a precompiled header are relative to
# it, so that the result is the same in every checkout and the disk cache serves them all.
_HERE = "/proc/self/cwd"

# The flags of a file that includes a precompiled header, beside its name: paths are relative to the
# folder in which the compiler runs, and the header counts among the files that an object depends on.
USE_PRECOMPILED = [
    "-Xclang",
    "-isysroot",
    "-Xclang",
    ".",
    "-Xclang",
    "-module-file-deps",
]

PrecompiledHeaderInfo = provider(
    doc = "What a header that contains this one is compiled with.",
    fields = {
        "copts": "Flags, a list of strings.",
        "files": "Everything that the compiler reads: precompiled headers and our own ones, a depset.",
    },
)

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    result = ctx.actions.declare_file(ctx.label.name + ".pch")
    ours = cc_common.merge_cc_infos(
        cc_infos = [d[CcInfo] for d in ctx.attr.deps],
    ).compilation_context
    copts = ctx.attr.copts
    read = [ours.headers]
    include = []
    if ctx.attr.base:
        base = ctx.attr.base[PrecompiledHeaderInfo]
        copts = copts + base.copts
        read.append(base.files)
        include = ["-include-pch", ctx.file.base.path]
    for header in ctx.attr.headers:
        include += ["-include", header]
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + copts + [
        "-Xclang",
        "-fno-pch-timestamp",
        "-fpch-instantiate-templates",
        "-Xclang",
        "-relocatable-pch",
        "-Xclang",
        "-isysroot",
        "-Xclang",
        _HERE,
        "-x",
        "c++-header",
    ] + include
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = _MAIN_FILE,
        output_file = result.path,
        user_compile_flags = flags,
        include_directories = ours.includes,
        quote_include_directories = ours.quote_includes,
        system_include_directories = ours.system_includes,
        preprocessor_defines = ours.defines,
        # --force_pic is not for the programs that the build runs.
        use_pic = not ctx.bin_dir.path.startswith("bazel-out/host/"),
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-compile",
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        env = dict(cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ), PWD = _HERE),
        inputs = depset(transitive = read + [toolchain.all_files]),
        outputs = [result],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.label,
    )
    files = depset([result], transitive = read)
    return [
        DefaultInfo(files = depset([result])),
        PrecompiledHeaderInfo(copts = copts, files = files),
        # It is an input of what depends on it, as any header is.
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "base": attr.label(
            doc = "A precompiled header that this one contains.",
            allow_single_file = [".pch"],
            providers = [PrecompiledHeaderInfo],
        ),
        "copts": attr.string_list(doc = "As the files that use it are compiled with."),
        "deps": attr.label_list(
            doc = "The libraries that have those of `headers` that are ours. No target that uses the " +
                  "precompiled header may be one that they depend on.",
            providers = [CcInfo],
        ),
        "headers": attr.string_list(
            doc = "As they are included.",
            mandatory = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

# What libraries, libraries with larger headers, and tests have in common: see BUILD.bazel.
KINDS = [
    "common",
    "common_json",
    "common_llvm",
    "testing",
]

def precompiled_headers(name, headers, deps, testonly = False):
    """Adds headers of ours to what each kind of file has anyway: the targets NAME_KIND.

    They change more often than installed headers, and with them all files that use them: those in the
    folders that defs.bzl names, most of which include these headers.

    Args:
      name: the first part of the targets' names.
      headers: the headers, as they are included.
      deps: the libraries that have them.
      testonly: as in any rule.
    """
    for kind in KINDS:
        precompiled_header(
            name = "%s_%s" % (name, kind),
            testonly = testonly,
            base = "//tools/cc:" + kind,
            headers = headers,
            tags = ["manual"],
            visibility = ["//:__subpackages__"],
            deps = deps,
        )
