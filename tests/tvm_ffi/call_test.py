"""What tvm_ffi.load_module("model.so")["main"](x, y) does with a linked model, without that package.

The library is opened and called as its module loader does it: RTLD_LOCAL, the function `__tvm_ffi_main`, tensors as
pointers (tag 7) or as objects (tag 70), errors raised through the host's TVMFFIErrorSetRaisedFromCStr.
"""

import ctypes
import os
import unittest

import numpy as np

from documented import DL_TENSOR_PTR, NONE, TENSOR, Any, Object, SafeCall, TensorObject, dl_tensor


class CallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # tvm-ffi's package does it like this, before everything else.
        cls.host = ctypes.CDLL(os.environ["HOST"], ctypes.RTLD_GLOBAL)
        cls.host.host_raised_kind.restype = ctypes.c_char_p
        cls.host.host_raised_message.restype = ctypes.c_char_p
        cls.libraries = [
            ctypes.CDLL(os.environ[target], ctypes.RTLD_LOCAL) for target in ("C", "LLVM")
        ]

    def call(self, library, *args):
        function = SafeCall(("__tvm_ffi_main", library))
        result = Any(NONE, 0, 0)
        return function(None, (Any * len(args))(*args), len(args), ctypes.byref(result)), result

    def raised(self):
        return self.host.host_raised_kind().decode(), self.host.host_raised_message().decode()

    def pointers(self, *tensors):
        return [Any(DL_TENSOR_PTR, 0, ctypes.addressof(tensor)) for tensor in tensors]

    def setUp(self):
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.y = np.zeros((2, 3), np.float32)
        self.count = np.zeros(1, np.int64)
        self.expected = 2 * self.x + [1, 2, 3]

    def test_tensors_by_pointer(self):
        for library in self.libraries:
            self.y[:] = 0
            tensors = [dl_tensor(array) for array in (self.x, self.y, self.count)]
            status, result = self.call(library, *self.pointers(*tensors))
            self.assertEqual((status, result.type_index), (0, NONE), self.raised())
            np.testing.assert_array_equal(self.y, self.expected)
            self.assertEqual(self.count[0], 2)

    def test_tensor_objects(self):
        for library in self.libraries:
            self.y[:] = 0
            objects = [
                TensorObject(Object(1, TENSOR, 0, None), dl_tensor(array, byte_offset))
                for array, byte_offset in ((self.x, 8), (self.y, 0), (self.count, 0))
            ]
            args = [Any(TENSOR, 0, ctypes.addressof(tensor)) for tensor in objects]
            self.assertEqual(self.call(library, *args)[0], 0, self.raised())
            np.testing.assert_array_equal(self.y, self.expected)

    def test_a_dimension_of_one_may_have_any_stride(self):
        for library in self.libraries:
            x, y = self.x[:1], np.zeros((1, 3), np.float32)
            tensors = [dl_tensor(array) for array in (x, y, self.count)]
            tensors[0].strides[0] = 77
            self.assertEqual(self.call(library, *self.pointers(*tensors))[0], 0, self.raised())
            np.testing.assert_array_equal(y, self.expected[:1])

    def test_what_does_not_fit_is_raised(self):
        wide = np.zeros((2, 6), np.float32)
        for args, kind, words in (
            ((self.x, self.y), "TypeError", "expected 3 arguments"),
            ((self.x.astype(np.float64), self.y, self.count), "TypeError", "argument 0 (in_x)"),
            ((self.x, self.y[:1], self.count), "ValueError", "argument 1"),
            ((wide[:, ::2], self.y, self.count), "ValueError", "argument 0 (in_x) must be a dense"),
            ((self.x, wide[:, :3], self.count), "ValueError", "argument 1 (out_y) must be a dense"),
        ):
            for library in self.libraries:
                tensors = [dl_tensor(array) for array in args]
                self.assertEqual(self.call(library, *self.pointers(*tensors))[0], -1)
                self.assertEqual(self.raised()[0], kind)
                self.assertIn(words, self.raised()[1])

    def test_what_is_no_tensor_is_raised(self):
        for library in self.libraries:
            self.assertEqual(self.call(library, *[Any(1, 0, 5)] * 3)[0], -1)
            self.assertEqual(self.raised()[0], "TypeError")

    def test_a_module_of_one_library(self):
        # tvm-ffi would, given these symbols, look for more modules in the library.
        for library in self.libraries:
            for name in ("__tvm_ffi__library_bin", "__tvm_ffi__library_ctx"):
                self.assertFalse(hasattr(library, name))


if __name__ == "__main__":
    unittest.main()
