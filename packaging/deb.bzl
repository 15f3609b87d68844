"""The files of Ingot as they are installed: by Debian's packages, or by copying."""

VERSION = "0.1.0"

def _words(files, links):
    """What install_files.sh takes: files and links by their paths."""
    return (
        ["'%s=$(execpaths %s)'" % item for item in files.items()],
        ["'%s->%s'" % item for item in links.items()],
    )

def debian_package(name, files, links):
    """The package <name>, as debian/control describes it.

    Args:
      name: of the package, and the target.
      files: path below /usr -> the label of the file there.
      links: path below /usr -> where the link leads.
    """
    words, link_words = _words(files, links)
    inputs = [
        "debian/control",
        "debian/changelog",
        "debian/copyright",
        ":libingot.so.0",
    ]
    native.genrule(
        name = name,
        srcs = depset(inputs + files.values()).to_list(),
        outs = ["%s_%s_amd64.deb" % (name, VERSION)],
        cmd = " ".join(
            ["$(execpath make_deb.sh) $@", name] +
            ["$(execpath %s)" % i for i in inputs] +
            ["$(execpath install_files.sh)"] + words + link_words,
        ),
        tools = [
            "install_files.sh",
            "make_deb.sh",
        ],
        visibility = ["//packaging/smoke:__pkg__"],
    )

def ingot_install(name, files, links):
    """A program that copies the files of all packages: bazel run <name> -- PREFIX

    Args:
      name: of the program.
      files: package -> the files of its debian_package().
      links: likewise.
    """
    all_files, all_links = {}, {}
    for package in files:
        all_files.update(files[package])
        all_links.update(links.get(package, {}))
    words, link_words = _words(all_files, all_links)
    data = depset(all_files.values()).to_list()
    native.genrule(
        name = name + "_words",
        srcs = data,
        outs = [name + ".words"],
        cmd = " ".join(
            ["printf '%s\\n'"] + [word.replace("execpaths", "rootpaths") for word in words] + link_words + [">$@"],
        ),
    )
    native.sh_binary(
        name = name,
        srcs = ["install.sh"],
        data = data + [
            "install_files.sh",
            name + ".words",
        ],
        visibility = ["//packaging/smoke:__pkg__"],
    )
