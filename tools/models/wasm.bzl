"""A rule: a model as a WebAssembly module and the JavaScript that loads it."""

load(":compile.bzl", "COMPILE_ATTRS", "compile_model", "execution_requirements", "run_tool")

def _wasm_model_impl(ctx):
    compile_model(ctx)
    files = ctx.outputs.files
    args = ctx.actions.args()
    args.add("export")
    args.add(ctx.outputs.container)
    args.add("--format=wasm")
    args.add(ctx.attr.weights, format = "--weights=%s")
    args.add("-o", files[0].dirname)
    args.add("--quiet")
    run_tool(
        ctx,
        arguments = [args],
        inputs = [ctx.outputs.container],
        outputs = files,
        execution_requirements = execution_requirements(ctx),
        mnemonic = "IngotWasm",
        progress_message = "Linking %s" % files[0].short_path,
        # The linker is the machine's.
        use_default_shell_env = True,
    )
    return DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))

wasm_model = rule(
    implementation = _wasm_model_impl,
    attrs = dict(
        COMPILE_ATTRS,
        files = attr.output_list(mandatory = True),
        weights = attr.string(values = [
            "inside",
            "beside",
        ]),
    ),
)
