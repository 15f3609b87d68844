"""A rule: the Python module of a linked model."""

def _python_module_impl(ctx):
    ctx.actions.expand_template(
        template = ctx.file._template,
        output = ctx.outputs.module,
        substitutions = {
            "{LABEL}": str(ctx.file.library.owner),
            "{LIBRARY}": ctx.file.library.basename,
        },
    )

python_module = rule(
    implementation = _python_module_impl,
    attrs = {
        "library": attr.label(
            allow_single_file = True,
            mandatory = True,
        ),
        "module": attr.output(mandatory = True),
        "_template": attr.label(
            allow_single_file = True,
            default = ":model.py.tpl",
        ),
    },
)
