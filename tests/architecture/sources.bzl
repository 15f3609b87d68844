"""The source files that targets are built from, for tests that read them."""

SourcesInfo = provider(
    doc = "Source files of a target and of what it is built from.",
    fields = ["files"],
)

def _sources_aspect_impl(_target, ctx):
    own = []
    for attr in ["srcs", "hdrs"]:
        for file in getattr(ctx.rule.files, attr, []):
            # No generated file, and none of another repository.
            if file.is_source and not file.owner.workspace_name:
                own.append(file)
    below = [
        dep[SourcesInfo].files
        for dep in getattr(ctx.rule.attr, "deps", [])
        if SourcesInfo in dep
    ]
    return [SourcesInfo(files = depset(own, transitive = below))]

_sources_aspect = aspect(
    implementation = _sources_aspect_impl,
    attr_aspects = ["deps"],
)

def _sources_of_impl(ctx):
    files = depset(transitive = [
        target[SourcesInfo].files
        for target in ctx.attr.targets
    ])
    return [DefaultInfo(
        files = files,
        runfiles = ctx.runfiles(transitive_files = files),
    )]

sources_of = rule(
    doc = "The repository's own files that `targets` are built from.",
    implementation = _sources_of_impl,
    attrs = {"targets": attr.label_list(aspects = [_sources_aspect])},
)
