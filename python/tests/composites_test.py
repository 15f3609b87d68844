"""Composites and constants of backends in Python."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import ingot
import numpy as np

MODEL = """module {{
  func @main(%x: f32[N, {n}]) -> (%y) {{
    %w = const f32[{m}, {n}] @"w"
    %b = const f32[{m}] @"b"
    %d = dense(%x, %w)
    %s = add(%d, %b)
    %r = relu(%s)
    %y = exp(%r)
  }}
}}"""

LINEAR = {"linear": "[relu](add(dense(*, const), const))"}


def safetensors(tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        raw = array.tobytes()
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def keys_of_linears(target, region):
    """A linear layer a line: the keys of its weights, and whether relu comes last."""
    lines = [region.symbol]
    for node in region.nodes:
        _, w, b = node.inputs
        lines.append(f"{region.keys[w.name]} {region.keys[b.name]} {int(node.nodes[-1].op == 'relu')}")
    return [ingot.Artifact("linears", f"{region.symbol}.linears", "\n".join(lines))]


def load_linears(artifacts, constant):
    functions = {}
    for artifact in artifacts:
        symbol, *lines = artifact.text().splitlines()
        layers = [(constant(w), constant(b), relu == "1") for w, b, relu in map(str.split, lines)]

        def run(x, y, layers=layers):
            value = x.numpy()
            for w, b, relu in layers:
                value = value @ w.T + b
                value = np.maximum(value, 0) if relu else value
            y.numpy()[...] = value

        functions[symbol] = run
    return functions


class CompositesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def model(self, m=3, n=2):
        random = np.random.default_rng(1)
        self.w = random.standard_normal((m, n), np.float32)
        self.b = random.standard_normal(m, np.float32)
        self.x = random.standard_normal((4, n), np.float32)
        self.y = np.exp(np.maximum(self.x @ self.w.T + self.b, 0))
        with open(self.path("model.relay"), "w") as file:
            file.write(MODEL.format(m=m, n=n))
        with open(self.path("model.relay.weights"), "wb") as file:
            file.write(safetensors({"w": self.w, "b": self.b}))
        return self.path("model.relay")

    def backends(self, hook=keys_of_linears, **kind):
        backends = ingot.Backends()
        kind = {"operators": [], "composites": LINEAR, "constants": True, "loaders": ["linears"], **kind}
        backends.register_target(ingot.TargetKind("mine", hook, **kind))
        backends.register_loader("linears", load_linears)
        return backends

    def test_a_composite_is_one_node(self):
        seen = []

        def hook(target, region):
            seen.append(region)
            return keys_of_linears(target, region)

        artifacts = ingot.compile(self.model(), target="mine,c", backends=self.backends(hook))
        (region,) = seen
        (node,) = region.nodes
        self.assertEqual(node.op, "linear")
        self.assertEqual([inner.op for inner in node.nodes], ["dense", "add", "relu"])
        self.assertEqual([value.name for value in node.inputs], ["x", "w", "b"])
        dense, add, relu = node.nodes
        self.assertEqual([value.name for value in dense.inputs], ["x", "w"])
        self.assertEqual(add.inputs, [dense.outputs[0], node.inputs[2]])
        self.assertEqual(relu.outputs, node.outputs)
        self.assertEqual(node.outputs, region.outputs)
        self.assertIn('composite="linear"', region.text)
        np.testing.assert_array_equal(region.constants["w"], self.w)
        np.testing.assert_array_equal(region.constants["b"], self.b)
        self.assertEqual([value.name for value in region.inputs], ["x"])
        np.testing.assert_allclose(artifacts.load()(self.x), self.y, rtol=1e-5)

    def test_supports_is_asked_about_composites(self):
        asked = []

        def supports(target, node):
            asked.append((node.op, [inner.op for inner in node.nodes]))
            return "not with relu" if node.nodes[-1].op == "relu" else None

        backends = self.backends(supports=supports)
        with self.assertRaisesRegex(ingot.Error, "as linear: not with relu"):
            ingot.compile(self.model(), target="mine,c", backends=backends, strict="mine")
        # The rest fits without relu.
        self.assertIn(("linear", ["dense", "add", "relu"]), asked)
        self.assertIn(("linear", ["dense", "add"]), asked)

    def test_large_constants_are_stored_once(self):
        model = self.model(1024, 1024)
        library = self.path("model.so")
        backends = self.backends()
        artifacts = ingot.compile(model, target="mine,c", backends=backends)
        artifacts.link(library)
        size = os.path.getsize(library)
        self.assertGreater(size, self.w.nbytes)
        self.assertLess(size, 1.2 * self.w.nbytes)
        np.testing.assert_allclose(
            ingot.load(library, backends=backends)(self.x), self.y, rtol=1e-3
        )

    def test_without_constants_they_are_inputs(self):
        seen = []

        def hook(target, region):
            seen.append(region)
            return [ingot.InMemoryArtifact(region, lambda x, w, b: np.maximum(x @ w.T + b, 0))]

        backends = self.backends(hook, constants=False)
        artifacts = ingot.compile(self.model(), target="mine,c", backends=backends)
        self.assertEqual([value.name for value in seen[0].inputs], ["x", "w", "b"])
        self.assertEqual((dict(seen[0].constants), dict(seen[0].keys)), ({}, {}))
        np.testing.assert_allclose(artifacts.load()(self.x), self.y, rtol=1e-5)

    def test_a_function_for_a_composite(self):
        backends = ingot.Backends()
        linear = lambda x, w, b: np.maximum(x @ w.T + b, 0)  # noqa: E731
        backends.register_target(ingot.callback_target("mine", {"linear": linear}, composites=LINEAR))
        artifacts = ingot.compile(self.model(), target="mine,c", backends=backends)
        np.testing.assert_allclose(artifacts.load()(self.x), self.y, rtol=1e-5)

    def test_errors_say_what_went_wrong(self):
        with self.assertRaisesRegex(ingot.Error, "composite 'linear': 1:1: relay has no operator 'dens'"):
            ingot.compile(
                self.model(), target="mine,c", backends=self.backends(composites={"linear": "dens(*)"})
            )
        backends = self.backends()
        kept = []

        def load(artifacts, constant):
            kept.append(constant)
            return load_linears(artifacts, lambda key: constant("no such key"))

        backends.loaders["linears"] = load
        with self.assertRaisesRegex(ingot.Error, "no constant 'no such key'"):
            ingot.compile(self.model(), target="mine,c", backends=backends).load()
        with self.assertRaisesRegex(ingot.Error, "while it runs"):
            kept[0]("w")

    def test_a_program_gets_large_constants(self):
        program = self.path("backend.py")
        with open(program, "w") as file:
            file.write(
                f"#!{sys.executable}\n"
                "import sys\n"
                f"sys.path[:0] = {[p for p in sys.path if p]!r}\n"
                "import ingot\n"
                "def make(target, region):\n"
                "    w = region.constants['w']\n"
                "    return [ingot.Artifact('sum', 'sum.txt', f'{w.shape} {w.sum(dtype=float):.6f}')]\n"
                "backends = ingot.Backends()\n"
                f"kind = ingot.TargetKind('mine', make, operators=[], composites={LINEAR!r},\n"
                "                        constants=True, loaders=['sum'])\n"
                "backends.register_target(kind)\n"
                "ingot.serve(backends)\n"
            )
        os.chmod(program, 0o755)
        model = self.model(2048, 1024)
        ingot_program = os.path.join(os.path.dirname(ingot.__file__), "bin", "ingot")
        output = self.path("out.ingot")
        subprocess.run(
            [ingot_program, "compile", model, f"--backend={program}", "--target=mine,c", "-o", output],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.assertEqual(
            ingot.open_set(output)["host/mine/sum.txt"].text(),
            f"{self.w.shape} {self.w.sum(dtype=float):.6f}",
        )


if __name__ == "__main__":
    unittest.main()
