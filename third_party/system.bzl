"""A repository made of files that a Debian package installed."""

def _system_repository_impl(ctx):
    for link, target in ctx.attr.links.items():
        if not ctx.path(target).exists:
            fail("%s is missing: install %s (tools/setup.sh does)" % (target, ctx.attr.package))
        ctx.symlink(target, link)
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

# Libraries under /usr/include need no links at all, only a BUILD file that says how to link them:
# the compiler searches there by itself, and Bazel knows that it does.
system_repository = repository_rule(
    implementation = _system_repository_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "links": attr.string_dict(doc = "Path in the repository -> installed path."),
        "package": attr.string(doc = "The Debian package to name when a file is missing."),
    },
    local = True,
)
