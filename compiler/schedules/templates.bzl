"""Templates of schedules of one kind of machine, listed by name."""

load("//tools/cc:defs.bzl", "cc_library")
load("//base:families.bzl", "families")

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
    cc_library(
        name = name,
        srcs = srcs + families(
            name = name + "_list",
            begin = "std::vector<ScheduleTemplate> %s() { return {" % function,
            call = "{}()",
            declaration = "ScheduleTemplate {}();",
            end = "}; }",
            files = templates,
            includes = [native.package_name() + "/templates.h"],
            namespace = namespace,
            separator = ",\n",
        ),
        hdrs = hdrs,
        visibility = visibility,
        deps = deps,
    )
