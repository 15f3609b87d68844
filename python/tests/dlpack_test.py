"""Tensors of other libraries, both ways."""

import gc
import os
import unittest
import weakref

import ingot
import numpy as np


class Tensor:
    """A tensor of a library that is not NumPy."""

    def __init__(self, array, device=(1, 0)):
        self.array = array
        self.device = device

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class DlpackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ingot.compile(os.environ["AFFINE"]).load()

    def test_takes_tensors(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(self.model(Tensor(x))[0], self.model(x)[0])

    def test_reads_them_where_they_are_and_lets_go(self):
        x = np.zeros((1, 3), np.float32)
        alive = weakref.ref(x)
        executor = self.model.executor()
        executor.set_input(0, Tensor(x))
        x[:] = 4
        executor.run()
        np.testing.assert_array_equal(executor.output(0), [[9, 10, 11]])
        del x
        gc.collect()
        self.assertIsNotNone(alive())
        executor.clear_inputs()
        gc.collect()
        self.assertIsNone(alive())
        with self.assertRaisesRegex(ingot.Error, "not set"):
            executor.run()

    def test_gives_tensors(self):
        executor = self.model.executor()
        executor.set_input(0, np.zeros((2, 3), np.float32))
        executor.run()
        exported = executor.export(0)
        self.assertEqual(exported.__dlpack_device__(), (1, 0))
        y = np.from_dlpack(exported)
        exported.__dlpack__()  # one that nobody takes frees itself
        del executor, exported
        gc.collect()
        np.testing.assert_array_equal(y, [[1, 2, 3], [1, 2, 3]])

    def test_refuses_other_devices(self):
        with self.assertRaisesRegex(TypeError, "CPU"):
            self.model(Tensor(np.zeros((1, 3), np.float32), (2, 0)))


if __name__ == "__main__":
    unittest.main()
