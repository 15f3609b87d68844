"""The backends and frontends that are built in, as the few lines of C++ that register them."""

load("@bazel_skylib//rules:common_settings.bzl", "bool_flag")
load("//tools/cc:defs.bzl", "cc_library")

# part -> (its header, the registry, the function's last word)
PARTS = {
    "codegen": ("codegen.h", "TargetRegistry", "Target"),
    "frontend": ("frontend.h", "FrontendRegistry", "Frontend"),
    "inspectors": ("inspectors.h", "InspectorRegistry", "Inspectors"),
    "loader": ("loader.h", "LoaderRegistry", "Loader"),
}

def backend(name, parts, package = None, namespace = "ingot", heavy = []):
    """One backend.

    Args:
      name: for example "my_npu"; its functions are then Register<MyNpu>…
      parts: of "codegen", "loader", "inspectors": what it has. Part `codegen`
        is the library <package>:codegen with the header codegen.h and the
        function RegisterMyNpuTarget(TargetRegistry*); and so on.
      package: where it is, "@repository//path"; default "//backends/<name>".
      namespace: of those functions; a backend from elsewhere has its own.
      heavy: those of `parts` that bring a compiler along, such as LLVM. Only
        programs with a compiler have them, as they have every `codegen`.
    """
    for part in parts:
        if part not in PARTS:
            fail("backend %s has no part %s" % (name, part))
    for part in heavy:
        if part not in parts or part == "codegen":
            fail("backend %s: no loader or inspectors of its own are %s" % (name, part))
    return struct(
        name = name,
        parts = parts,
        package = package or "//backends/" + name,
        namespace = namespace,
        heavy = heavy,
    )

def frontend(name, package = None, namespace = "ingot"):
    """One frontend (compiler/frontends/frontend.h).

    Args:
      name: for example "my_format"; the library <package>:frontend has the header frontend.h and the
        function RegisterMyFormatFrontend(FrontendRegistry*).
      package: where it is, "@repository//path"; default "//compiler/frontends/<name>".
      namespace: of that function.
    """
    return backend(name, ["frontend"], package or "//compiler/frontends/" + name, namespace)

def _write_impl(ctx):
    lines = []
    for line in ctx.attr.includes:
        lines.append('#include "%s"' % line)
    includes = "\n".join(lines)
    calls = []
    for call in ctx.attr.calls:
        calls.append("  status.Update(%s(registry));" % call)
    ctx.actions.expand_template(
        template = ctx.file.template,
        output = ctx.outputs.out,
        substitutions = {
            "// {INCLUDES}": includes,
            "  // {CALLS}": "\n".join(calls),
        },
    )
    return DefaultInfo(files = depset([ctx.outputs.out]))

_write = rule(
    implementation = _write_impl,
    attrs = {
        "calls": attr.string_list(),
        "includes": attr.string_list(),
        "out": attr.output(mandatory = True),
        "template": attr.label(allow_single_file = True, mandatory = True),
    },
)

def _camel(name):
    return "".join([word[0].upper() + word[1:] for word in name.split("_")])

def _when(name, values):
    return select({
        ":%s_is_on" % name: values,
        "//conditions:default": [],
    })

def header_of(backend, part):
    path = backend.package.split("//")[1]
    return path + "/" + PARTS[part][0]

def register_call(backend, part):
    return "%s::Register%s%s" % (backend.namespace, _camel(backend.name), PARTS[part][2])

def registration(name, part, backends, deps, light = False):
    """A library with one function, which registers `part` of all backends.

    Args:
      name: of the library; <name>.cc is made from <name>.cc.tpl.
      part: a key of _PARTS.
      backends: what backend() made.
      deps: of the library, beside the backends.
      light: leave out what is heavy.
    """
    includes = []
    calls = []
    for b in backends:
        if part in b.parts and not (light and part in b.heavy):
            includes += _when(b.name, [header_of(b, part)])
            calls += _when(b.name, [register_call(b, part)])
            deps = deps + _when(b.name, [b.package + ":" + part])
    _write(
        name = name + "_cc",
        out = name + ".cc",
        calls = calls,
        includes = includes,
        template = name + ".cc.tpl",
    )
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        # A program that runs models wants the loaders alone.
        visibility = ["//visibility:public"],
        deps = deps,
    )

def backend_flags(backends):
    """Flags of the command line: --//backends:with_<name>=false leaves one out."""
    for b in backends:
        bool_flag(
            name = "with_" + b.name,
            build_setting_default = True,
            visibility = ["//visibility:public"],
        )
        native.config_setting(
            name = b.name + "_is_on",
            flag_values = {":with_" + b.name: "true"},
        )
