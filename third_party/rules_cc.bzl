"""Debian's rules_cc, made loadable by Debian's Bazel."""

# Debian pairs rules_cc 0.0.2 with Bazel 4.2, which lacks `use_cpp_toolchain`. Bazel 4.2 finds the
# C++ toolchain through the `_cc_toolchain` attribute, so the rules need no toolchain type.
_PATCHED = [
    "cc/private/rules_impl/compiler_flag.bzl",
    "cc/private/rules_impl/cc_flags_supplier.bzl",
]

def _patched_rules_cc_repository_impl(ctx):
    source = ctx.path(ctx.attr.path)
    if not source.exists:
        fail("%s is missing: install bazel-rules-cc (tools/setup.sh does)" % source)
    result = ctx.execute(["cp", "-rL", str(source) + "/.", "."])
    if result.return_code != 0:
        fail("cannot copy %s: %s" % (source, result.stderr))
    for path in _PATCHED:
        content = ctx.read(path)
        content = content.replace(', "use_cpp_toolchain")', ")")
        content = content.replace("use_cpp_toolchain()", "[]")
        ctx.file(path, content, executable = False)

patched_rules_cc_repository = repository_rule(
    implementation = _patched_rules_cc_repository_impl,
    attrs = {"path": attr.string(mandatory = True)},
    local = True,
)
