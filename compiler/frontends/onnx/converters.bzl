"""The converters of a room of ONNX's frontend, a file for each family of operators."""

load("//tools/cc:defs.bzl", "cc_library")
load("//base:families.bzl", list_families = "families")

def converters(name, families, srcs = [], hdrs = [], deps = []):
    """A library with the function Add<Name>Room(ConverterTable*), which graph/converters.h declares.

    Args:
      name: of the room and the library.
      families: "affine_grid" is the file affine_grid.cc with the function
        void AddAffineGridConverters(ConverterTable* table).
      srcs: what else the library is made from.
      hdrs: what other rooms need of it.
      deps: of all of these.
    """
    cc_library(
        name = name,
        srcs = srcs + list_families(
            name = name + "_converters",
            begin = "void Add%sRoom(ConverterTable* table) {" % name.capitalize(),
            call = "  Add{}Converters(table);",
            declaration = "void Add{}Converters(ConverterTable* table);",
            end = "}",
            files = families,
            includes = ["compiler/frontends/onnx/graph/converters.h"],
            namespace = "ingot::onnx_frontend",
        ),
        hdrs = hdrs,
        visibility = ["//compiler/frontends/onnx:__subpackages__"],
        deps = deps,
    )
