"""Fuzz targets: see target.h."""

load("//tools/cc:defs.bzl", "cc_test")

def ingot_fuzz_test(name, srcs, deps, corpus = [], data = [], dictionary = None):
    """A test that is a libFuzzer program with --config=fuzz.

    Args:
      name: of the test.
      srcs: that define what target.h declares.
      deps: theirs.
      corpus: files with inputs that once went wrong.
      data: what it reads its seeds from.
      dictionary: words of the format, in libFuzzer's form.
    """
    env = {"INGOT_FUZZ_CORPUS": " ".join(["$(rootpath %s)" % file for file in corpus])}
    if dictionary:
        env["INGOT_FUZZ_DICTIONARY"] = "$(rootpath %s)" % dictionary
    cc_test(
        name = name,
        size = "medium",
        srcs = srcs,
        data = corpus + data + ([dictionary] if dictionary else []),
        env = env,
        linkopts = select({
            ":fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        # libFuzzer would run it for ever.
        tags = ["fuzz"],
        deps = deps + [":target"] + select({
            ":fuzzing": [":libfuzzer"],
            "//conditions:default": [":replay"],
        }),
    )
