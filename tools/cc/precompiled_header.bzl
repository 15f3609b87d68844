"""A header that is parsed once and not in every file that includes it."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# The compiler notes which file it precompiles. This one is where every machine has it, so that the
# result is the same in every checkout and the disk cache serves them all.
_MAIN_FILE = "/usr/include/stdc-predef.h"

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    result = ctx.actions.declare_file(ctx.label.name + ".pch")
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + [
        "-Xclang",
        "-fno-pch-timestamp",
        "-fpch-instantiate-templates",
        "-x",
        "c++-header",
    ]
    for header in ctx.attr.headers:
        flags += ["-include", header]
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = _MAIN_FILE,
        output_file = result.path,
        user_compile_flags = flags,
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
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        inputs = toolchain.all_files,
        outputs = [result],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([result])),
        # It is an input of what depends on it, as any header is.
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset([result]))),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(doc = "As the files that use it are compiled with."),
        "headers": attr.string_list(
            doc = "Installed headers, as they are included: never our own, which change.",
            mandatory = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
