"""The model {LABEL}, as the build compiled it."""

import os

import ingot

if not hasattr(ingot, "load"):
    raise ImportError(
        "Bazel put an empty package `ingot` before the real one: "
        "say build --incompatible_default_to_explicit_init_py in .bazelrc"
    )

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{LIBRARY}")


def load(**options):
    """Loads the model; `options` are those of ingot.load."""
    return ingot.load(LIBRARY, **options)
