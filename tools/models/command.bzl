"""Rules that run the command on a linked model: a test and a program."""

load("@bazel_skylib//lib:shell.bzl", "shell")

def _folders_of(files):
    """The folders of ONNX's test data among them, as runfiles' paths."""
    folders = {}
    for file in files:
        if file.basename.startswith("output_"):
            folders[file.short_path.rpartition("/")[0]] = True
    return sorted(folders.keys())

def _script(ctx, commands):
    """The providers of a shell script with these commands, which are lists of words."""
    script = ctx.actions.declare_file(ctx.label.name)
    tool = ctx.executable.ingot
    lines = [
        "#!/bin/bash",
        "set -euo pipefail",
        # A test has no home to keep files in.
        "[[ -z \"${TEST_TMPDIR:-}\" ]] || export XDG_CACHE_HOME=\"${TEST_TMPDIR}\"",
    ]
    for words in commands:
        lines.append("%s \"$@\"" % " ".join([shell.quote(word) for word in [tool.short_path] + words]))
    ctx.actions.write(
        output = script,
        content = "\n".join(lines) + "\n",
        is_executable = True,
    )

    # The tool is there without its runfiles: it starts its compiler for nothing that is done here, and so
    # the compiler need not be built for the machine that runs models.
    files = [tool, ctx.file.library] + ctx.files.tests
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = files))

def _verify_test_impl(ctx):
    folders = _folders_of(ctx.files.tests)
    if not folders:
        fail("%s: no file of tests is an output_N.pb of ONNX's test data" % ctx.label)
    library = ctx.file.library.short_path
    return _script(ctx, [["verify", library, "--test-data=" + folder] for folder in folders])

def _benchmark_impl(ctx):
    inputs = ["--test-data=" + folder for folder in _folders_of(ctx.files.tests)[:1]]
    return _script(ctx, [["bench", ctx.file.library.short_path] + inputs])

_ATTRS = {
    "ingot": attr.label(
        allow_files = True,
        cfg = "target",
        executable = True,
        mandatory = True,
    ),
    "library": attr.label(
        allow_single_file = True,
        mandatory = True,
    ),
    "tests": attr.label_list(allow_files = True),
}

verify_model_test = rule(
    implementation = _verify_test_impl,
    attrs = _ATTRS,
    test = True,
)

benchmark_model = rule(
    implementation = _benchmark_impl,
    attrs = _ATTRS,
    executable = True,
)
