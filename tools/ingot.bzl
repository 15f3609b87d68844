"""Compiles models as part of a build.

    load("//tools:ingot.bzl", "ingot_model")

    ingot_model(
        name = "detector",
        src = "detector.onnx",
        target = "llvm -mcpu=x86-64-v3",
    )

makes detector.ingot, the set of artifacts, and detector.so, the linked library: both are outputs of
":detector", so that a program that runs the model has it as `data`. One of them alone is the output
group "ingot" or "so" (a filegroup's `output_group`). With `header = True` there is detector.h too,
the output group "h": C functions that run the model (docs/ahead_of_time.md), whose names begin with
detector_.

    ingot_wasm_model(
        name = "detector",
        src = "detector.onnx",
    )

makes detector.wasm and the JavaScript module detector.mjs, which loads and runs it, from a model that is
one function.
"""

# Returns what the names of symbols begin with: two targets made from one model can live in one program.
def _symbol_prefix(ctx):
    return ctx.attr.symbol_prefix or ctx.label.name.replace("-", "_").replace(".", "_")

def _compile(ctx):
    container = ctx.actions.declare_file(ctx.label.name + ".ingot")
    args = ctx.actions.args()
    args.add("compile")
    args.add(ctx.file.src)
    args.add("-o", container)
    args.add("--quiet")
    args.add(ctx.attr.target, format = "--target=%s")
    args.add(ctx.attr.opt_level, format = "--opt-level=%s")
    args.add(_symbol_prefix(ctx), format = "--symbol-prefix=%s")
    for name, shape in sorted(ctx.attr.input_shapes.items()):
        args.add("--input-shape=%s:%s" % (name, shape))
    if ctx.attr.reproducible:
        args.add("--reproducible")
    ctx.actions.run(
        executable = ctx.executable.ingot,
        arguments = [args],
        inputs = [ctx.file.src] + ctx.files.external_data,
        outputs = [container],
        mnemonic = "IngotCompile",
        progress_message = "Compiling %s for %s" % (ctx.file.src.short_path, ctx.attr.target),
    )
    return container

def _ingot_model_impl(ctx):
    container = _compile(ctx)
    library = ctx.actions.declare_file(ctx.label.name + ".so")

    args = ctx.actions.args()
    args.add("link")
    args.add(container)
    args.add("-o", library)
    args.add("--quiet")
    headers = []
    if ctx.attr.header:
        headers = [ctx.actions.declare_file(ctx.label.name + ".h")]
        args.add(headers[0], format = "--header=%s")
    ctx.actions.run(
        executable = ctx.executable.ingot,
        arguments = [args],
        inputs = [container],
        outputs = [library] + headers,
        mnemonic = "IngotLink",
        progress_message = "Linking %s" % library.short_path,
        # The linker and, for a set with C source, the C compiler are the machine's.
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(
            files = depset([container, library]),
            runfiles = ctx.runfiles(files = [container, library]),
        ),
        OutputGroupInfo(
            h = depset(headers),
            ingot = depset([container]),
            so = depset([library]),
        ),
    ]

def _ingot_wasm_model_impl(ctx):
    container = _compile(ctx)
    prefix = _symbol_prefix(ctx)
    files = [ctx.actions.declare_file(prefix + suffix) for suffix in [".mjs", ".wasm"]]
    if ctx.attr.weights == "beside":
        files.append(ctx.actions.declare_file(prefix + ".weights"))
    args = ctx.actions.args()
    args.add("export")
    args.add(container)
    args.add("--format=wasm")
    args.add(ctx.attr.weights, format = "--weights=%s")
    args.add("-o", files[0].dirname)
    args.add("--quiet")
    ctx.actions.run(
        executable = ctx.executable.ingot,
        arguments = [args],
        inputs = [container],
        outputs = files,
        mnemonic = "IngotWasm",
        progress_message = "Linking %s" % files[1].short_path,
        # The linker is the machine's.
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files)),
        OutputGroupInfo(mjs = depset(files[:1])),
    ]

def _model_attrs(cfg, default_target):
    return {
        "external_data": attr.label_list(
            allow_files = True,
            doc = "Files beside the model that hold its weights.",
        ),
        "ingot": attr.label(
            cfg = cfg,
            default = "//tools:ingot",
            doc = "The command: one of your own, which ingot_command() made, knows your backends.",
            executable = True,
        ),
        "input_shapes": attr.string_dict(
            doc = "Input name -> shape, such as {\"image\": \"1x3x224x224\"}.",
        ),
        "opt_level": attr.int(
            default = 2,
            doc = "As `ingot compile --opt-level`.",
            values = [0, 1, 2],
        ),
        "reproducible": attr.bool(
            doc = "As `ingot compile --reproducible`.",
        ),
        "src": attr.label(
            allow_single_file = True,
            doc = "The model: a file that a frontend of the command accepts.",
            mandatory = True,
        ),
        "symbol_prefix": attr.string(
            doc = "What every symbol starts with; made from the name otherwise.",
        ),
        "target": attr.string(
            default = default_target,
            doc = "As `ingot compile --target`.",
        ),
    }

def _ingot_model_rule(cfg):
    return rule(
        implementation = _ingot_model_impl,
        doc = "A model, compiled and linked.",
        attrs = dict(
            _model_attrs(cfg, "llvm"),
            header = attr.bool(
                doc = "Also make the C header of the model's functions.",
            ),
        ),
    )

def _ingot_wasm_model_rule(cfg):
    return rule(
        implementation = _ingot_wasm_model_impl,
        doc = "A model as a WebAssembly module and the JavaScript that loads it.",
        attrs = dict(
            _model_attrs(cfg, "llvm -mtriple=wasm32 -mattr=+simd128"),
            weights = attr.string(
                default = "inside",
                doc = "Where they are: in the .wasm, or beside it.",
                values = ["inside", "beside"],
            ),
        ),
    )

ingot_model = _ingot_model_rule("exec")
ingot_wasm_model = _ingot_wasm_model_rule("exec")

# The same with the tool as it is built for the target: for this project's own tests, which would
# otherwise build the whole compiler twice.
test_ingot_model = _ingot_model_rule("target")
test_ingot_wasm_model = _ingot_wasm_model_rule("target")
