"""A repository made of a package from npm, pinned by version and SHA-256."""

def _npm_package_impl(ctx):
    npm = ctx.which("npm")
    if not npm:
        fail("@%s needs npm to fetch %s: tools/setup.sh installs it" % (ctx.name, ctx.attr.package))
    spec = "%s@%s" % (ctx.attr.package, ctx.attr.version)

    # Scripts of the package never run. The registry is the one that the user's npm is set up with;
    # the digest below makes it irrelevant which one that is.
    result = ctx.execute(
        [npm, "pack", spec, "--ignore-scripts", "--prefer-offline", "--json", "--loglevel=error"],
        timeout = 600,
    )
    if result.return_code != 0:
        fail("npm pack %s failed:\n%s%s" % (spec, result.stderr, result.stdout))

    tarballs = [file for file in ctx.path(".").readdir() if file.basename.endswith(".tgz")]
    if len(tarballs) != 1:
        fail("npm pack %s made %d tarballs, expected one" % (spec, len(tarballs)))
    tarball = tarballs[0]

    result = ctx.execute(["sha256sum", tarball])
    if result.return_code != 0:
        fail("sha256sum %s failed: %s" % (tarball, result.stderr))
    sha256 = result.stdout.split(" ")[0]
    if sha256 != ctx.attr.sha256:
        fail("%s has SHA-256 %s, expected %s" % (spec, sha256, ctx.attr.sha256))

    # npm puts every package's files under this folder.
    ctx.extract(tarball, stripPrefix = "package")
    ctx.delete(tarball)
    for path in ctx.attr.unused:
        ctx.delete(path)
    ctx.file("BUILD.bazel", ctx.attr.build_file_content, executable = False)

npm_package = repository_rule(
    implementation = _npm_package_impl,
    attrs = {
        "build_file_content": attr.string(mandatory = True),
        "package": attr.string(mandatory = True, doc = "The package's name, with its scope."),
        "sha256": attr.string(mandatory = True, doc = "Of the tarball."),
        "unused": attr.string_list(doc = "Folders of the package to delete."),
        "version": attr.string(mandatory = True),
    },
)
