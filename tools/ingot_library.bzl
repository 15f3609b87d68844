"""Ingot's C API as a shared library, with the loaders of backends of one's own.

    load("@ingot//backends:backends.bzl", "backend")
    load("@ingot//tools:ingot_library.bzl", "ingot_library")

    ingot_library(
        name = "libmy_ingot.so",
        backends = [backend("my_npu", ["loader"], package = "//my_npu", namespace = "acme")],
    )

makes a library with the functions of loaders/c_api/ingot.h, which knows the loaders that come with Ingot, but for those
that bring a compiler along, and those in the list. It needs no other part of Ingot.
"""

load("@com_google_absl//:shared.bzl", "SHARED_ABSEIL")
load(":program.bzl", "program")

def ingot_library(name, backends = [], visibility = ["//visibility:public"], **kwargs):
    """A shared library like `//tools:libingot.so`.

    Args:
      name: of the file, lib<something>.so.
      backends: what backend() made, beside those that come with Ingot.
      visibility: of the library.
      **kwargs: of its cc_binary.
    """
    exports = "//loaders/c_api:exports.lds"
    program(
        name = name,
        additional_linker_inputs = [Label(exports)],
        linkopts = ["-Wl,--version-script=$(location %s)" % Label(exports)] + SHARED_ABSEIL,
        linkshared = True,
        plugins = backends,
        template = "//loaders/c_api:register_loaders.cc.tpl",
        visibility = visibility,
        with_compiler = False,
        deps = [
            "//backends:light_loaders",
            "//loaders/c_api:implementation",
        ],
        **kwargs
    )
