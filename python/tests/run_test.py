"""Calls of a loaded model, compared with NumPy."""

import os
import unittest

import ingot
import numpy as np


CLASSES = """module {
  func @main(%index: u8[2], %scale: f32[], %flag: bool[]) -> (%y: "y") {
    %one = cast(%flag) {dtype=u8}
    %two = cast(%scale) {dtype=u8}
    %sum = mul(%index, %one)
    %y = add(%sum, %two)
  }
}"""


def affine(x):
    return 2 * x + np.array([1, 2, 3], dtype=np.float32)


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ingot.compile(os.environ["AFFINE"]).load()

    def test_tells_inputs_and_outputs(self):
        (x,) = self.model.inputs
        self.assertEqual((x.name, x.shape, x.dtype, x.type), ("x", (None, 3), "float32", "f32[rows, 3]"))
        self.assertEqual([o.name for o in self.model.outputs], ["y", "count"])
        self.assertEqual(self.model.variant, "")
        self.assertIn("x: f32[rows, 3]", repr(self.model))

    def test_runs_by_order_and_by_name(self):
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        y, count = self.model(x)
        np.testing.assert_array_equal(y, affine(x))
        self.assertEqual(count, 4)
        outputs = self.model.run({"x": x})
        self.assertEqual(list(outputs), ["y", "count"])
        np.testing.assert_array_equal(outputs["y"], affine(x))

    def test_outputs_are_the_callers_own(self):
        first = self.model(np.zeros((2, 3), np.float32))[0]
        self.model(np.ones((2, 3), np.float32))
        np.testing.assert_array_equal(first, affine(np.zeros((2, 3), np.float32)))
        first[0, 0] = 5

    def test_takes_any_layout_of_an_array(self):
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        for x in (base[:, ::2], base.T[:, :3], np.asfortranarray(base[:, :3]), base[:0, :3]):
            np.testing.assert_array_equal(self.model(x)[0], affine(x))
        odd = np.frombuffer(b"\0" + base[:, :3].tobytes(), np.uint8)[1:].view(np.float32)
        np.testing.assert_array_equal(self.model(odd.reshape(4, 3))[0], affine(base[:, :3]))

    def test_lists_become_arrays_of_the_inputs_type(self):
        np.testing.assert_array_equal(self.model([[1, 2, 3]])[0], [[3, 6, 9]])

    def test_lists_become_nothing_else(self):
        model = ingot.compile(CLASSES.encode()).load()
        self.assertEqual(model([1, 0], 2.0, True).tolist(), [3, 2])
        for index, flag, scale in (
            ([1.5, 0], True, 1),  # would be 1
            ([300, 0], True, 1),  # would be 44
            ([-1, 0], True, 1),  # would be 255
            ([None, 0], True, 1),
            (["1", "0"], True, 1),
            ([1, 0], True, None),  # would be NaN
            ([1, 0], 0.5, 1),  # would be True
        ):
            with self.subTest((index, flag, scale)), self.assertRaises(TypeError):
                model(index, scale, flag)

    def test_says_what_is_wrong(self):
        for x, words in (
            (np.zeros((2, 3)), "f64"),
            (np.zeros((2, 4), np.float32), "4"),
            (np.zeros(3, np.float32), "f32[3]"),
        ):
            with self.assertRaises(ingot.Error) as caught:
                self.model(x)
            self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")
            self.assertIn(words, str(caught.exception))
        for x in (np.array(["a"]), np.zeros((2, 3), ">f4"), np.zeros((2, 3), np.clongdouble)):
            with self.assertRaises(TypeError):
                self.model(x)
        with self.assertRaisesRegex(TypeError, "takes 1 inputs"):
            self.model()
        with self.assertRaisesRegex(TypeError, "no input 'z'"):
            self.model.run({"z": 1})
        with self.assertRaisesRegex(TypeError, "'x' is missing"):
            self.model.run({})
        with self.assertRaises(ingot.Error) as caught:
            ingot.load("/nowhere/model.so")
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        # The model works on.
        np.testing.assert_array_equal(self.model([[0, 0, 0]])[0], [[1, 2, 3]])

    def test_executors_copy_nothing(self):
        x = np.zeros((2, 3), np.float32)
        executor = self.model.executor()
        with self.assertRaisesRegex(ingot.Error, "not set"):
            executor.run()
        executor.set_input(0, x)
        executor.run()
        y = executor.output(0)
        np.testing.assert_array_equal(y, affine(x))
        self.assertFalse(y.flags.writeable)
        x += 1  # the next run reads it where it is, and writes where y is
        executor.run()
        np.testing.assert_array_equal(y, affine(x))
        del executor
        np.testing.assert_array_equal(y, affine(x))
        with self.assertRaisesRegex(ingot.Error, "no output 7"):
            self.model.executor().output(7)


if __name__ == "__main__":
    unittest.main()
