"""From models in every form to sets."""

import json
import os
import platform
import tempfile
import unittest

import ingot
import numpy as np
from ingot import _programs


class CompileTest(unittest.TestCase):
    def test_options_reach_the_compiler(self):
        artifacts = ingot.compile(
            os.environ["AFFINE"], target="c", input_shapes={"x": (4, 3)}, opt_level=1, symbol_prefix="mine"
        )
        source = next(a for a in artifacts.values() if a.file_name.endswith(".c"))
        self.assertIn("mine_", source.text())
        self.assertEqual(artifacts.load().inputs[0].shape, (4, 3))

    def test_takes_a_tuning_log(self):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write("# nothing was measured\n")
            log.flush()
            artifacts = ingot.compile(os.environ["AFFINE"], tuning_log=log.name)
        self.assertIn("tuned-kernels", artifacts.inspect())
        with self.assertRaisesRegex(ingot.Error, "nowhere.log"):
            ingot.compile(os.environ["AFFINE"], tuning_log="/nowhere.log")

    def test_says_how_far_it_is(self):
        seen = []
        ingot.compile(os.environ["AFFINE"], on_progress=lambda what, part: seen.append((what, part)))
        self.assertEqual(seen[0][1], 0.0)
        self.assertEqual(seen[-1], ("done", 1.0))
        self.assertTrue(all(0 <= part <= 1 for _, part in seen))

    def test_errors_are_one_line(self):
        with self.assertRaises(ingot.Error) as caught:
            ingot.compile("/nowhere.onnx")
        self.assertIn("/nowhere.onnx", str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(ingot.Error, "nonesuch"):
            ingot.compile(os.environ["AFFINE"], target="nonesuch")
        with self.assertRaises(ingot.Error):
            ingot.compile(b"no model")
        with self.assertRaises(TypeError):
            ingot.compile(5)
        with self.assertRaises(TypeError):
            ingot.compile(os.environ["AFFINE"], input_shapes={"x": (1.5, 3)})
        with self.assertRaisesRegex(ingot.Error, "one of old, source alone"):
            ingot.explain(os.environ["AFFINE"], target="old: llvm; source: c")

    def test_answers_hold_any_character(self):
        # Unlike \n, these end no line for the program that prints them.
        name = "a\u2028b\x85c"
        printed = "a table\n" + json.dumps({"name": name}, ensure_ascii=False) + "\n"
        self.assertEqual(_programs.last_json(printed), {"name": name})

    def test_takes_what_looks_like_a_proto(self):
        class Proto:
            def SerializeToString(self):
                return b"no model"

        with self.assertRaises(ingot.Error):
            ingot.compile(Proto())

    @unittest.skipUnless(platform.machine() == "x86_64", "the variants are for x86-64")
    def test_several_variants(self):
        artifacts = ingot.compile(
            os.environ["AFFINE"], target="old: llvm -mcpu=x86-64; v2: llvm -mcpu=x86-64-v2; source: c"
        )
        self.assertIn("v2/ingot/plan.binpb", artifacts)
        x = np.ones((1, 3), np.float32)
        expected = [[3, 4, 5]]
        for variant in ("old", "v2", "source"):
            model = artifacts.load(variant=variant)
            self.assertEqual(model.variant, variant)
            np.testing.assert_array_equal(model(x)[0], expected)
        self.assertIn(artifacts.load().variant, ("old", "v2", "source"))
        with self.assertRaisesRegex(ingot.Error, "no variant 'v9'"):
            artifacts.load(variant="v9")


if __name__ == "__main__":
    unittest.main()
