"""A function in C++ that calls one of each file in a list, so that adding a file takes its name and nothing else."""

def _camel(name):
    return "".join([word[0].upper() + word[1:] for word in name.split("_")])

def families(name, files, includes, namespace, declaration, begin, call, end, separator = "\n"):
    """Writes <name>.cc, and returns the list of sources that it and the files are.

    In `declaration` and `call` stands {} for the file's name in camel case: conv2d_nchw is Conv2dNchw.

    Args:
      name: of what is written.
      files: "conv2d_nchw" is conv2d_nchw.cc, in the order of the calls.
      includes: headers that the declarations need.
      namespace: of all these functions.
      declaration: of a file's function.
      begin: of the function that calls them: its head, mostly.
      call: of a file's function.
      end: of the function that calls them.
      separator: of calls.
    """
    names = [_camel(f) for f in files]
    lines = ['#include "%s"' % header for header in includes]
    lines.append("namespace %s {" % namespace)
    lines += [declaration.replace("{}", n) for n in names]
    lines.append(begin)
    lines.append(separator.join([call.replace("{}", n) for n in names]))
    lines.append(end)
    lines.append("}  // namespace %s" % namespace)
    native.genrule(
        name = name,
        outs = [name + ".cc"],
        cmd = "cat > $@ <<'END'\n%s\nEND" % "\n".join(lines),
    )
    return [name + ".cc"] + [f + ".cc" for f in files]
