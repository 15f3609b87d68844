"""A rule: a model as a set of artifacts, a library and the library's header."""

load(":compile.bzl", "COMPILE_ATTRS", "compile_model", "execution_requirements", "run_tool")

def _linked_model_impl(ctx):
    compile_model(ctx)
    outputs = [ctx.outputs.library]
    args = ctx.actions.args()
    args.add("link")
    args.add(ctx.outputs.container)
    args.add("-o", ctx.outputs.library)
    args.add("--quiet")
    if ctx.outputs.header:
        args.add(ctx.outputs.header, format = "--header=%s")
        outputs.append(ctx.outputs.header)
    run_tool(
        ctx,
        arguments = [args],
        inputs = [ctx.outputs.container],
        outputs = outputs,
        execution_requirements = execution_requirements(ctx),
        mnemonic = "IngotLink",
        progress_message = "Linking %s" % ctx.outputs.library.short_path,
        # The linker and, for a set with C source, the C compiler are the machine's.
        use_default_shell_env = True,
    )
    files = [ctx.outputs.container] + outputs
    return DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))

linked_model = rule(
    implementation = _linked_model_impl,
    attrs = dict(
        COMPILE_ATTRS,
        header = attr.output(doc = "The C functions that run the model; only of one that is one function."),
        library = attr.output(mandatory = True),
    ),
)
