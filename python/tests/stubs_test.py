"""What type checkers and people are told of the package is there, and the other way round."""

import ast
import inspect
import os
import unittest

import ingot
from ingot import _native


def public(names):
    return {name for name in names if not name.startswith("_")}


def stub():
    """Public classes and functions of _native.pyi; of classes, their public members."""
    path = os.path.join(os.path.dirname(ingot.__file__), "_native.pyi")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    told = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            told[node.name] = public(f.name for f in node.body if isinstance(f, ast.FunctionDef))
        elif isinstance(node, ast.FunctionDef):
            told[node.name] = set()
    return told


class StubsTest(unittest.TestCase):
    def test_the_stub_is_as_the_module(self):
        told = stub()
        there = public(vars(_native)) - {"Bytes"}  # a detail of Set.content
        self.assertEqual(set(told), there)
        for name, members in told.items():
            self.assertEqual(members, public(vars(getattr(_native, name))), name)

    def test_everything_public_is_explained(self):
        silent = []
        for name in ingot.__all__:
            thing = getattr(ingot, name)
            # Aliases of types have no text of their own.
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not inspect.getdoc(thing):
                silent.append(name)
            members = vars(thing) if inspect.isclass(thing) else {}
            silent += [
                f"{name}.{member}"
                for member, value in members.items()
                if not member.startswith("_") and inspect.isfunction(value) and not value.__doc__
            ]
        self.assertEqual(silent, [])

    def test_types_are_shipped(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(ingot.__file__), "py.typed")))


if __name__ == "__main__":
    unittest.main()
