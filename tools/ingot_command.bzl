"""An `ingot` command with backends of one's own, from any repository.

    load("@ingot//backends:backends.bzl", "backend")
    load("@ingot//tools:ingot_command.bzl", "ingot_command")

    ingot_command(
        name = "my_ingot",
        backends = [
            backend("my_npu", ["codegen", "loader"], package = "//my_npu", namespace = "acme"),
        ],
    )

makes a program with all subcommands of `ingot`, for the targets, loaders, inspectors and frontends that come with
Ingot (--@ingot//backends:with_<name>=false leaves one out) and those in the list.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//backends:backends.bzl", "PARTS", "header_of", "register_call")

def _main_impl(ctx):
    substitutions = {"// {INCLUDES}": "\n".join(['#include "%s"' % i for i in ctx.attr.includes])}
    for part, calls in ctx.attr.calls.items():
        substitutions["  // {%s}" % part.upper()] = "\n".join(["  status.Update(%s(registry));" % c for c in calls])
    ctx.actions.expand_template(
        template = ctx.file._template,
        output = ctx.outputs.out,
        substitutions = substitutions,
    )
    return DefaultInfo(files = depset([ctx.outputs.out]))

_main = rule(
    implementation = _main_impl,
    attrs = {
        "calls": attr.string_list_dict(),
        "includes": attr.string_list(),
        "out": attr.output(mandatory = True),
        "_template": attr.label(
            allow_single_file = True,
            default = "//tools/ingot:main.cc.tpl",
        ),
    },
)

def ingot_command(name, backends = [], frontends = [], visibility = ["//visibility:public"], **kwargs):
    """A program like `ingot`.

    Args:
      name: of the program.
      backends: what backend() made, beside those that come with Ingot.
      frontends: what frontend() made, likewise.
      visibility: of the program.
      **kwargs: of its cc_binary.
    """
    includes = []
    calls = {part: [] for part in PARTS}
    deps = [
        Label("//backends:builtin"),
        Label("//compiler/frontends:builtin_frontends"),
        Label("//tools/ingot:command"),
    ]
    for b in backends + frontends:
        for part in b.parts:
            includes.append(header_of(b, part))
            calls[part].append(register_call(b, part))
            deps.append(b.package + ":" + part)
    _main(
        name = name + "_main",
        out = name + "_main.cc",
        calls = calls,
        includes = includes,
        visibility = ["//visibility:private"],
    )
    cc_binary(
        name = name,
        srcs = [name + "_main.cc"],
        visibility = visibility,
        deps = deps,
        **kwargs
    )
