"""Templates of schedules of one kind of machine, listed by name."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def _camel(name):
    return "".join([word[0].upper() + word[1:] for word in name.split("_")])

def schedule_templates(name, namespace, function, templates, srcs, hdrs, deps, visibility = None):
    """A library with the function that lists the templates.

    Args:
      name: of the library, whose header templates.h declares `function`.
      namespace: of `function` and of the templates' own functions.
      function: std::vector<ScheduleTemplate> function(), in the order below.
      templates: "conv2d_nchw" is the file conv2d_nchw.cc with the function
        ScheduleTemplate Conv2dNchw().
      srcs: what else the library is made from.
      hdrs: its public headers.
      deps: of all of these.
      visibility: of the library.
    """
    calls = [_camel(t) + "()" for t in templates]
    lines = [
        "#include \"%s/templates.h\"" % native.package_name(),
        "namespace %s {" % namespace,
    ] + [
        "ScheduleTemplate %s;" % call
        for call in calls
    ] + [
        "std::vector<ScheduleTemplate> %s() {" % function,
        "  return {%s};" % ", ".join(calls),
        "}",
        "}  // namespace %s" % namespace,
    ]
    native.genrule(
        name = name + "_list",
        outs = [name + "_list.cc"],
        cmd = "cat > $@ <<'END'\n%s\nEND" % "\n".join(lines),
    )
    cc_library(
        name = name,
        srcs = srcs + [name + "_list.cc"] + [t + ".cc" for t in templates],
        hdrs = hdrs,
        visibility = visibility,
        deps = deps,
    )
