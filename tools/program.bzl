"""Programs and libraries that register backends: the few lines of C++ that do it, and the binary around them.

For ingot_command and ingot_library only.
"""

load("//tools/cc:defs.bzl", "cc_binary")
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

def program(name, template, plugins, deps, with_compiler, compiler = "", **kwargs):
    """A program, or a library, with a source that is made from `template`.

    Args:
      name: of the program.
      template: the label of that file.
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
