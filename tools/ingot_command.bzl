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

load(":program.bzl", "program")

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
    program(
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
    program(
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
