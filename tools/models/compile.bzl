"""The action that compiles a model, and what every rule that has it shares."""

# The code of these kinds is for the processor that compiles, unless -mcpu names another.
_NATIVE_KINDS = [
    "llvm",
    "llvmjit",
]

COMPILE_ATTRS = {
    "container": attr.output(
        doc = "The set of artifacts.",
        mandatory = True,
    ),
    "exec_tool": attr.label(
        allow_files = True,
        cfg = "exec",
        executable = True,
    ),
    "external_data": attr.label_list(allow_files = True),
    "input_shapes": attr.string_dict(),
    "opt_level": attr.int(values = [0, 1, 2]),
    "reproducible": attr.bool(),
    "src": attr.label(
        allow_single_file = True,
        mandatory = True,
    ),
    "symbol_prefix": attr.string(mandatory = True),
    "target_tool": attr.label(
        allow_files = True,
        cfg = "target",
        executable = True,
    ),
    "targets": attr.string_list(),
    "tuning_log": attr.label(allow_single_file = True),
    "variants": attr.string_list_dict(),
}

def compile_values(ingot, targets, **kwargs):
    """The values of COMPILE_ATTRS, from those of a macro.

    Args:
      ingot: the command's label.
      targets: a list, or a dictionary of lists by the names of variants.
      **kwargs: the others as they are.
    """
    on = "@ingot//tools/models:exec_is_target_is_on"
    return dict(
        kwargs,
        exec_tool = select({
            on: None,
            "//conditions:default": ingot,
        }),
        target_tool = select({
            on: ingot,
            "//conditions:default": None,
        }),
        **({"variants": targets} if type(targets) == "dict" else {"targets": targets})
    )

def run_tool(ctx, **kwargs):
    """Declares an action that runs the command; the arguments are those of ctx.actions.run."""
    tool = (ctx.attr.exec_tool or ctx.attr.target_tool)[DefaultInfo]

    # The command starts the compiler that lies beside it. On another machine its runfiles alone do not: they are in a folder
    # of their own there. A command that is a file has none.
    ctx.actions.run(
        executable = tool.files_to_run,
        tools = tool.default_runfiles.files if tool.default_runfiles else [],
        **kwargs
    )

def _without_quotes(target):
    # An option's value in quotes may have any separator in it.
    return "".join(target.split("\"")[::2])

def _is_native(target):
    """Says whether one target's code depends on the processor that compiles."""
    kind = target.split(" -")[0].split(":")[-1].strip()
    return kind in _NATIVE_KINDS and " -mcpu=" not in target

def _find_native(targets):
    """Returns the first of them whose code depends on the processor that compiles, or None."""
    for text in targets:
        if "=native" in text.replace("\"", ""):
            return text
        for target in _without_quotes(text).replace(";", ",").split(","):
            if _is_native(target):
                return text
    return None

def execution_requirements(ctx):
    """Says what Bazel must know of the actions. Fails if a cache could give their results to a machine that cannot run them."""
    native = _find_native(ctx.attr.targets + [text for variant in ctx.attr.variants.values() for text in variant])
    if native == None:
        return {}
    if "no-remote" not in ctx.attr.tags:
        fail(("%s: the target '%s' makes code for the processor of the machine that compiles, which a cache " +
              "could hand to a machine with another one: name a processor (llvm -mcpu=x86-64-v3), or say " +
              "-mcpu=native with tags = [\"no-remote\"]") % (ctx.label, native))
    return {
        "no-cache": "1",
        "no-remote": "1",
    }

def _target_text(ctx):
    """All targets, as `ingot compile --target` takes them."""
    if not ctx.attr.variants:
        return ", ".join(ctx.attr.targets)
    return "; ".join(["%s: %s" % (name, ", ".join(targets)) for name, targets in ctx.attr.variants.items()])

def compile_model(ctx):
    """Declares the action that makes ctx.outputs.container."""
    target = _target_text(ctx)
    if not target:
        fail("%s: targets is empty" % ctx.label)
    if len(ctx.attr.variants) == 1:
        fail("%s: one variant is none: give its list of targets instead of the dictionary" % ctx.label)
    args = ctx.actions.args()
    args.add("compile")
    args.add(ctx.file.src)
    args.add("-o", ctx.outputs.container)
    args.add("--quiet")
    args.add(target, format = "--target=%s")
    args.add(ctx.attr.opt_level, format = "--opt-level=%s")
    args.add(ctx.attr.symbol_prefix, format = "--symbol-prefix=%s")
    for name, shape in sorted(ctx.attr.input_shapes.items()):
        args.add("--input-shape=%s:%s" % (name, shape))
    if ctx.attr.reproducible:
        args.add("--reproducible")
    if ctx.file.tuning_log:
        args.add(ctx.file.tuning_log, format = "--tuning-log=%s")
    run_tool(
        ctx,
        arguments = [args],
        inputs = [ctx.file.src] + ctx.files.external_data + ctx.files.tuning_log,
        outputs = [ctx.outputs.container],
        execution_requirements = execution_requirements(ctx),
        mnemonic = "IngotCompile",
        progress_message = "Compiling %s for %s" % (ctx.file.src.short_path, target),
    )
