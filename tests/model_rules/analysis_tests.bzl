"""Tests of what ingot_model says and declares, for which nothing is built."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//tools:ingot.bzl", "ingot_model")

def _refused_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, ctx.attr.message)
    return analysistest.end(env)

_refused_test = analysistest.make(
    _refused_impl,
    attrs = {"message": attr.string()},
    expect_failure = True,
)

def refused_model_test(name, message, **kwargs):
    """A model that the rule must refuse.

    Args:
      name: of the test.
      message: part of what the rule says.
      **kwargs: of the ingot_model.
    """
    ingot_model(
        name = name + "_model",
        # Such a model cannot be built, so //... must leave it out.
        tags = ["manual"],
        testonly = True,
        **kwargs
    )
    _refused_test(
        name = name,
        message = message,
        target_under_test = ":%s_model" % name,
    )

def _tool_impl(ctx):
    env = analysistest.begin(ctx)
    found = []
    for action in analysistest.target_actions(env):
        if action.mnemonic in ["IngotCompile", "IngotLink"]:
            found.append(action.mnemonic)
            tool = action.argv[0]
            asserts.equals(env, ctx.attr.is_exec, "-exec-" in tool, tool)

            # The command looks for it there on a machine that has nothing but the inputs.
            asserts.true(env, tool + "-compiler" in [file.path for file in action.inputs.to_list()], "no compiler beside " + tool)
    asserts.equals(env, ["IngotCompile", "IngotLink"], found)
    return analysistest.end(env)

_FLAG = str(Label("//tools/models:exec_is_target"))
_ATTRS = {"is_exec": attr.bool()}

exec_tool_test = analysistest.make(
    _tool_impl,
    attrs = _ATTRS,
    config_settings = {_FLAG: False},
)

target_tool_test = analysistest.make(
    _tool_impl,
    attrs = _ATTRS,
    config_settings = {_FLAG: True},
)
