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

It is two programs: my_ingot, which does by itself what needs no compiler, and my_ingot-compiler beside it,
which my_ingot starts for the rest. The first has no codegen, and no part of a backend that is `heavy`.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//backends:backends.bzl", "PARTS", "header_of", "register_call")

def _main_impl(ctx):
    substitutions = {
        "// {INCLUDES}": "\n".join(['#include "%s"' % i for i in ctx.attr.includes]),
        "{COMPILER}": ctx.attr.compiler,
    }
    for part, calls in ctx.attr.calls.items():
        substitutions["  // {%s}" % part.upper()] = "\n".join(["  status.Update(%s(registry));" % c for c in calls])
    ctx.actions.expand_template(
        template = ctx.file.template,
        output = ctx.outputs.out,
        substitutions = substitutions,
    )
    return DefaultInfo(files = depset([ctx.outputs.out]))

_main = rule(
    implementation = _main_impl,
    attrs = {
        "calls": attr.string_list_dict(),
        "compiler": attr.string(),
        "includes": attr.string_list(),
        "out": attr.output(mandatory = True),
        "template": attr.label(
            allow_single_file = True,
            mandatory = True,
        ),
    },
)

def _program(name, template, plugins, deps, with_compiler, compiler = "", **kwargs):
    """A program of which main is made from `template`.

    Args:
      name: of the program.
      template: a file of tools/ingot.
      plugins: what backend() and frontend() made.
      deps: of the program, beside the backends.
      with_compiler: whether it has the codegens, the frontends and the heavy parts.
      compiler: the name of the program that it starts otherwise.
      **kwargs: of its cc_binary.
    """
    includes = []
    calls = {part: [] for part in PARTS}
    deps = [Label(dep) for dep in deps]
    for b in plugins:
        for part in b.parts:
            if with_compiler or (part not in ["codegen", "frontend"] and part not in b.heavy):
                includes.append(header_of(b, part))
                calls[part].append(register_call(b, part))
                deps.append(b.package + ":" + part)
    _main(
        name = name + "_main",
        out = name + "_main.cc",
        calls = calls,
        compiler = compiler,
        includes = includes,
        template = Label(template),
        visibility = ["//visibility:private"],
    )
    cc_binary(
        name = name,
        srcs = [name + "_main.cc"],
        deps = deps,
        **kwargs
    )

def ingot_command(name, backends = [], frontends = [], visibility = ["//visibility:public"], **kwargs):
    """A program like `ingot`, and <name>-compiler, which it starts.

    Args:
      name: of the program.
      backends: what backend() made, beside those that come with Ingot.
      frontends: what frontend() made, likewise.
      visibility: of the programs.
      **kwargs: of their cc_binary.
    """
    compiler = name + "-compiler"
    data = kwargs.pop("data", [])
    _program(
        name = compiler,
        data = data,
        plugins = backends + frontends,
        template = "//tools/ingot:compiler_main.cc.tpl",
        visibility = visibility,
        with_compiler = True,
        deps = [
            "//backends:builtin",
            "//compiler/frontends/builtin:builtin_frontends",
            "//tools/ingot:compiler_command",
        ],
        **kwargs
    )
    _program(
        name = name,
        plugins = backends + frontends,
        compiler = compiler,
        # Beside it, and with it wherever Bazel takes it.
        data = data + [":" + compiler],
        template = "//tools/ingot:main.cc.tpl",
        visibility = visibility,
        with_compiler = False,
        deps = [
            "//backends:light_inspectors",
            "//backends:light_loaders",
            "//tools/ingot:command",
        ],
        **kwargs
    )
