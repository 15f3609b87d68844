"""Backends in Python: targets, loaders, inspectors and functions of this process."""

import gc
import os
import subprocess
import sys
import tempfile
import traceback
import unittest
import weakref

import ingot
import numpy as np

MODEL = """module {
  func @main(%x: f32[N, 3]) -> (%y) {
    %c = const f32[] {0.25}
    %l = leaky_relu(%x) {alpha=0.5}
    %m = add(%l, %c)
    %y = exp(%m)
  }
}"""

X = np.array([[-2, 0, 2]], np.float32)
Y = np.exp(np.where(X > 0, X, X / 2) + np.float32(0.25))


def formula(target, region):
    """An operator a line: a form for a loader of its own."""
    lines = [region.symbol]
    for node in region.nodes:
        operand = node.attrs["alpha"] if node.op == "leaky_relu" else region.constants[node.inputs[1].name]
        lines.append(f"{node.op} {operand}")
    return [ingot.Artifact("lines", f"{region.symbol}.lines", "\n".join(lines))]


def load_lines(artifacts, constant):
    functions = {}
    for artifact in artifacts:
        symbol, *lines = artifact.text().splitlines()

        def run(x, y, lines=lines):
            value = x.numpy()
            for op, operand in map(str.split, lines):
                other = np.float32(operand)
                value = (
                    np.where(value > 0, value, value * other)
                    if op == "leaky_relu"
                    else np.add(value, other)
                )
            y.numpy()[...] = value

        functions[symbol] = run
    return functions


def lines_backend():
    backends = ingot.Backends()
    backends.register_target(
        ingot.TargetKind(
            name="lines",
            relay_to_runtime=formula,
            operators=["leaky_relu", "add"],
            supports=lambda target, node: None if node.inputs[0].dtype == "float32" else "only f32",
            loaders=["lines"],
            options={"style": "of the text"},
        )
    )
    backends.register_loader("lines", load_lines)
    backends.register_inspector(
        ingot.InspectorRule(
            name="lines.count",
            inspect=lambda artifact: f"{len(artifact.text().splitlines())} lines of {artifact.path}\n",
            loader="lines",
            output_suffix=".count.txt",
        )
    )
    return backends


class BackendsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.path("model.relay")
        with open(self.model, "w") as file:
            file.write(MODEL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_a_codegen_a_loader_and_an_inspector(self):
        backends = lines_backend()
        artifacts = ingot.compile(self.model, target="lines,c", backends=backends)
        made = artifacts["host/lines/model_lines_0.lines"]
        self.assertEqual(made.text(), "model_lines_0\nleaky_relu 0.5\nadd 0.25")
        self.assertEqual(
            artifacts.inspect(made.path), "3 lines of host/lines/model_lines_0.lines\n"
        )
        np.testing.assert_allclose(artifacts.load()(X), Y, rtol=1e-6)

        # Data as any other: linked, elsewhere loaded, dumped with what the inspector says, packed.
        library = self.path("model.so")
        artifacts.link(library)
        np.testing.assert_allclose(ingot.load(library, backends=backends)(X), Y, rtol=1e-6)
        with self.assertRaisesRegex(ingot.Error, "lines"):
            ingot.load(library)
        artifacts.dump(self.path("dump"))
        with open(self.path(f"dump/{made.path}.count.txt")) as note:
            self.assertIn("3 lines", note.read())
        packed = ingot.pack(self.path("dump"), backends=backends)
        np.testing.assert_allclose(packed.load()(X), Y, rtol=1e-6)

    def test_who_takes_what(self):
        (node,) = ingot.explain(os.environ["LEAKY_RELU"], target="lines,c", backends=lines_backend())
        self.assertEqual((node.op, node.target, node.why_not), ("LeakyRelu", "lines", {}))
        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind("shy", formula, supports=lambda target, node: "not today")
        )
        (node,) = ingot.explain(os.environ["LEAKY_RELU"], target="shy,c", backends=backends)
        self.assertEqual((node.target, node.why_not), ("c", {"shy": "not today"}))
        artifacts = ingot.compile(self.model, target="lines -min-region=5,c", backends=lines_backend())
        self.assertFalse([path for path in artifacts if "/lines/" in path])

    def test_what_a_hook_is_told(self):
        told = []

        def supports(target, node):
            told.append((target, node))
            return "not today"

        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind("shy", relay_to_runtime=formula, supports=supports, options={"o": "an option"})
        )
        artifacts = ingot.compile(self.model, target="mine: shy -o=7,c", backends=backends)
        self.assertFalse([path for path in artifacts if "shy" in path])
        target, node = next((t, n) for t, n in told if n.op == "leaky_relu")
        self.assertEqual(target, ingot.Target("mine", "shy", {"o": "7"}))
        self.assertEqual(node.attrs, {"alpha": 0.5})
        self.assertEqual(node.inputs, [ingot.Value("x", "float32", ("N", 3), False)])

    def test_c_for_the_linker(self):
        source = """// cc -std=c99 -O2
#include <math.h>
#include <stdint.h>
typedef struct { int32_t type, zero; void* value; } Any;
typedef struct {
  void* data;
  int32_t device, id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
} Tensor;
__attribute__((visibility("default")))
int __tvm_ffi_%s(void* self, const Any* args, int32_t count, Any* result) {
  const Tensor* x = args[0].value;
  const float* in = x->data;
  float* out = ((const Tensor*)args[1].value)->data;
  for (int64_t i = 0; i < x->shape[0] * x->shape[1]; ++i) out[i] = fmaxf(in[i], 0) + fminf(in[i], 0) / 2;
  return 0;
}
"""
        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind(
                "source",
                operators=["leaky_relu"],
                link_libraries=["m"],
                relay_to_runtime=lambda target, region: [
                    ingot.Artifact("native", f"{region.symbol}.c", source % region.symbol)
                ],
            )
        )
        artifacts = ingot.compile(self.model, target="source,c", backends=backends)
        library = self.path("model.so")
        artifacts.link(library)
        np.testing.assert_allclose(ingot.load(library)(X), Y, rtol=1e-6)

    def test_functions_of_this_process(self):
        calls = []

        def leaky_relu(x, alpha):
            calls.append((x.flags.writeable, alpha))
            return np.where(x > 0, x, x * np.float32(alpha))

        backends = ingot.Backends()
        backends.register_target(
            ingot.callback_target("mine", {"leaky_relu": leaky_relu, "add": np.add})
        )
        artifacts = ingot.compile(self.model, target="mine,c", backends=backends)
        model = artifacts.load()
        np.testing.assert_allclose(model(X), Y, rtol=1e-6)
        np.testing.assert_allclose(model(np.vstack([X, X])), np.vstack([Y, Y]), rtol=1e-6)
        self.assertEqual(calls, [(False, 0.5)] * 2)
        path = "host/mine/model_mine_0.callback"
        self.assertIn("InMemoryArtifact", artifacts.inspect(path))
        for export in (
            lambda: artifacts.save(self.path("live.ingot")),
            lambda: artifacts.dump(self.path("live")),
            lambda: artifacts.link(self.path("live.so")),
        ):
            with self.assertRaisesRegex(ingot.Error, f"{path} is a live object.*not exported"):
                export()
        with self.assertRaisesRegex(ingot.Error, "live object"):
            artifacts[path] = "other"
        self.assertEqual(os.listdir(self.folder), ["model.relay"])

    def test_a_model_that_is_one_function(self):
        backends = ingot.Backends()
        backends.register_target(
            ingot.callback_target(
                "mine",
                {
                    "leaky_relu": lambda x, alpha: np.where(x > 0, x, x * np.float32(alpha)),
                    "add": np.add,
                    "exp": np.exp,
                },
            )
        )
        artifacts = ingot.compile(self.model, target="mine,c", backends=backends)
        np.testing.assert_allclose(artifacts.load()(X), Y, rtol=1e-6)

    def test_tensors_of_another_library(self):
        class Foreign:
            """A tensor of a library that knows DLPack and nothing of NumPy."""

            def __init__(self, exported):
                self.array = np.from_dlpack(exported)

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        seen = []

        def function(x):
            self.assertIsInstance(x, Foreign)
            seen.append(x.array.ctypes.data)
            result = Foreign.__new__(Foreign)
            result.array = np.where(x.array > 0, x.array, x.array / 2)
            return result

        def relay_to_runtime(target, region):
            return [ingot.InMemoryArtifact(region, function, from_dlpack=Foreign)]

        backends = ingot.Backends()
        backends.register_target(ingot.TargetKind("mine", relay_to_runtime, operators=["leaky_relu"]))
        model = ingot.compile(self.model, target="mine,c", backends=backends).load()
        x = np.ascontiguousarray(X)
        np.testing.assert_allclose(model(x), Y, rtol=1e-6)
        self.assertEqual(seen, [x.ctypes.data])  # where the caller has it

    def test_functions_are_let_go(self):
        class Function:
            def __call__(self, x):
                return np.where(x > 0, x, x / 2)

        function = Function()
        alive = weakref.ref(function)
        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind(
                "mine",
                lambda target, region, f=function: [ingot.InMemoryArtifact(region, f)],
                operators=["leaky_relu"],
            )
        )
        artifacts = ingot.compile(self.model, target="mine,c", backends=backends)
        model = artifacts.load()
        del function, backends, artifacts
        gc.collect()
        np.testing.assert_allclose(model(X), Y, rtol=1e-6)  # the model keeps it
        del model
        gc.collect()
        self.assertIsNone(alive())

    def test_errors_say_what_went_wrong(self):
        def refuse(*ignored):
            raise ValueError("no rain\ntoday")

        def compile_with(**hooks):
            backends = ingot.Backends()
            hooks = {"relay_to_runtime": formula, "operators": ["leaky_relu"], **hooks}
            backends.register_target(ingot.TargetKind("mine", **hooks))
            return ingot.compile(self.model, target="mine,c", backends=backends)

        with self.assertRaisesRegex(ingot.Error, "ValueError: no rain today") as caught:
            compile_with(relay_to_runtime=refuse)
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        with self.assertRaisesRegex(ingot.Error, "target mine, asked about .*ValueError: no rain today") as caught:
            compile_with(supports=refuse)
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        with self.assertRaisesRegex(ingot.Error, "supports of mine returned True, which is no text"):
            compile_with(supports=lambda target, node: True)
        with self.assertRaisesRegex(ingot.Error, "no artifact for the region model_mine_0"):
            compile_with(relay_to_runtime=lambda target, region: [])
        with self.assertRaisesRegex(ingot.Error, "'lines'"):
            compile_with()  # no target says that it makes these
        artifacts = compile_with(relay_to_runtime=lambda t, r: [ingot.InMemoryArtifact(r, refuse)])
        with self.assertRaisesRegex(ingot.Error, "ValueError: no rain today") as caught:
            artifacts.load()(X)
        self.assertEqual(caught.exception.code, "ABORTED")
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        self.assertEqual(traceback.extract_tb(caught.exception.__cause__.__traceback__)[-1].name, "refuse")
        artifacts = compile_with(
            relay_to_runtime=lambda t, r: [ingot.InMemoryArtifact(r, lambda x: x.astype(np.float64))]
        )
        with self.assertRaisesRegex(ingot.Error, r"float64\[1, 3\] as result 0, not float32\[1, 3\]"):
            artifacts.load()(X)

    def test_an_interrupt_is_no_error(self):
        def interrupt(x):
            raise KeyboardInterrupt

        backends = ingot.Backends()
        backends.register_target(ingot.callback_target("mine", {"exp": interrupt}))
        model = ingot.compile(self.model, target="mine,c", backends=backends).load()
        with self.assertRaises(KeyboardInterrupt):
            model(X)
        with self.assertRaises(ingot.Error) as caught:
            model(X[:, :2])
        self.assertIsNone(caught.exception.__cause__)

    def test_names_are_taken_once(self):
        backends = lines_backend()
        for register in (
            lambda: backends.register_target(ingot.TargetKind("lines", formula)),
            lambda: backends.register_loader("lines", load_lines),
            lambda: backends.register_inspector(ingot.InspectorRule("lines.count", str)),
        ):
            with self.assertRaisesRegex(ingot.Error, "registered already"):
                register()
        backends = ingot.Backends()
        backends.register_target(ingot.TargetKind("llvm", formula))
        with self.assertRaisesRegex(ingot.Error, "llvm"):
            ingot.compile(self.model, backends=backends)
        library = self.path("model.so")
        ingot.compile(self.model, target="c").link(library)
        backends = ingot.Backends()
        backends.register_loader("constants", load_lines)
        with self.assertRaisesRegex(ingot.Error, "constants"):
            ingot.load(library, backends=backends)

    def test_a_loader_that_fails_is_named(self):
        library = self.path("model.so")
        ingot.compile(self.model, target="lines,c", backends=lines_backend()).link(library)
        backends = ingot.Backends()
        backends.register_loader("lines", lambda artifacts, constant: 1 / 0)
        with self.assertRaisesRegex(ingot.Error, "loader lines: ZeroDivisionError"):
            ingot.load(library, backends=backends)

    def test_the_command_starts_such_a_program(self):
        program = self.path("backend.py")
        with open(program, "w") as file:
            file.write(
                f"#!{sys.executable}\n"
                "import sys\n"
                f"sys.path[:0] = {[p for p in sys.path if p]!r}\n"
                "import ingot\n"
                "def make(target, region):\n"
                "    print('this goes to stderr')\n"
                "    return [ingot.Artifact('lines', region.symbol + '.lines', region.symbol)]\n"
                "backends = ingot.Backends()\n"
                "kind = ingot.TargetKind('lines', make, operators=['exp'], loaders=['lines'])\n"
                "backends.register_target(kind)\n"
                "ingot.serve(backends)\n"
            )
        os.chmod(program, 0o755)
        ingot_program = os.path.join(os.path.dirname(ingot.__file__), "bin", "ingot")
        output = self.path("out.ingot")
        subprocess.run(
            [ingot_program, "compile", self.model, f"--backend={program}", "--target=lines,c", "-o", output],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.assertEqual(ingot.open_set(output)["host/lines/model_lines_0.lines"].text(), "model_lines_0")


if __name__ == "__main__":
    unittest.main()
