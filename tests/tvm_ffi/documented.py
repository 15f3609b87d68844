"""tvm-ffi's structures as it documents them, and its `load_module` by them: what a library is given by its package.

Stands for the package `tvm_ffi` where that is not installed.
"""

import ctypes
import os

NONE, DL_TENSOR_PTR, TENSOR = 0, 7, 70


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Object(ctypes.Structure):
    _fields_ = [
        ("combined_ref_count", ctypes.c_uint64),
        ("type_index", ctypes.c_int32),
        ("padding", ctypes.c_uint32),
        ("deleter", ctypes.c_void_p),
    ]


class TensorObject(ctypes.Structure):
    _fields_ = [("header", Object), ("dl_tensor", DLTensor)]


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("v_ptr", ctypes.c_void_p)]


SafeCall = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Any), ctypes.c_int32, ctypes.POINTER(Any)
)


def dl_tensor(array, byte_offset=0):
    """As tvm-ffi makes them: strides are always there."""
    code = {"i": 0, "u": 1, "f": 2}[array.dtype.kind]
    dims = ctypes.c_int64 * array.ndim
    return DLTensor(
        array.ctypes.data - byte_offset,
        Device(1, 0),
        array.ndim,
        DataType(code, array.itemsize * 8, 1),
        dims(*array.shape),
        dims(*(stride // array.itemsize for stride in array.strides)),
        byte_offset,
    )


class Module:
    """A library, whose functions take arrays of NumPy."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path, ctypes.RTLD_LOCAL)

    def __getitem__(self, name):
        function = SafeCall(("__tvm_ffi_" + name, self.library))

        def call(*arrays):
            tensors = [dl_tensor(array) for array in arrays]
            args = [Any(DL_TENSOR_PTR, 0, ctypes.addressof(tensor)) for tensor in tensors]
            if function(None, (Any * len(args))(*args), len(args), ctypes.byref(Any(NONE, 0, 0))) != 0:
                raise RuntimeError(f"{name} failed")

        return call


def load_module(path):
    return Module(os.path.abspath(path))
