#include "python/ingot/native_common.h"

#include <map>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace ingot::python {
namespace {

// Threads may end without Python's lock, so it is no object that lets go.
thread_local PyObject* cause = nullptr;

bool IsNumpys(DLDataType dtype) {
  return dtype.lanes == 1 && (dtype.bits >= 8 || dtype.code == kDLBool) &&
         (dtype.code == kDLInt || dtype.code == kDLUInt ||
          (dtype.code == kDLFloat && dtype.bits >= 16) ||
          dtype.code == kDLBool || dtype.code == kDLComplex);
}

}  // namespace

const char* NameOf(IngotStatus status) {
  switch (status) {
    case INGOT_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case INGOT_NOT_FOUND:
      return "NOT_FOUND";
    case INGOT_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case INGOT_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case INGOT_ABORTED:
      return "ABORTED";
    case INGOT_UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case INGOT_DATA_LOSS:
      return "DATA_LOSS";
    default:
      return "INTERNAL";
  }
}

void SetCause(py::object exception) {
  const auto old = py::reinterpret_steal<py::object>(
      std::exchange(cause, exception.release().ptr()));
}

void Raise(const std::string& message, const char* code) {
  auto why = py::reinterpret_steal<py::object>(std::exchange(cause, nullptr));
  if (why && PyErr_GivenExceptionMatches(why.ptr(), PyExc_Exception) == 0) {
    PyErr_SetObject(py::type::handle_of(why).ptr(), why.ptr());
    throw py::error_already_set();
  }
  const py::object type = py::module_::import("ingot._errors").attr("Error");
  // It may have the name of a file, which need not be UTF-8.
  const auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      message.data(), static_cast<py::ssize_t>(message.size()), "replace"));
  const py::object error = type(text, code);
  if (why) PyException_SetCause(error.ptr(), why.release().ptr());
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

void Check(IngotStatus status) {
  if (status != INGOT_OK) Raise(ingot_last_error(), NameOf(status));
}

std::string DtypeName(DLDataType dtype) {
  const std::string bits = std::to_string(dtype.bits);
  switch (dtype.code) {
    case kDLInt:
      return "int" + bits;
    case kDLUInt:
      return "uint" + bits;
    case kDLFloat:
      return "float" + bits;
    case kDLBfloat:
      return "bfloat" + bits;
    case kDLComplex:
      return "complex" + bits;
    case kDLBool:
      return "bool";
    default:
      return "type" + std::to_string(dtype.code) + "_" + bits;
  }
}

const py::dtype& NumpyDtype(DLDataType dtype, const char* otherwise) {
  if (!IsNumpys(dtype)) {
    throw py::type_error("NumPy has no " + DtypeName(dtype) + "; " + otherwise);
  }
  // Looking a name up takes longer than a small model's run. Python's lock
  // guards the map, which lives as long as the interpreter.
  static auto* const known = new std::map<std::pair<int, int>, py::dtype>;
  const std::pair<int, int> key(dtype.code, dtype.bits);
  auto it = known->find(key);
  if (it == known->end()) {
    it = known->emplace(key, py::dtype(DtypeName(dtype))).first;
  }
  return it->second;
}

py::array ToArray(DLManagedTensor* tensor, const char* otherwise) {
  const py::capsule owner(tensor, [](void* owned) {
    auto* managed = static_cast<DLManagedTensor*>(owned);
    managed->deleter(managed);
  });
  const DLTensor& t = tensor->dl_tensor;
  py::array array(NumpyDtype(t.dtype, otherwise),
                  std::vector<py::ssize_t>(t.shape, t.shape + t.ndim),
                  static_cast<char*>(t.data) + t.byte_offset, owner);
  py::detail::array_proxy(array.ptr())->flags &=
      ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::capsule ToCapsule(DLManagedTensor* tensor) {
  return py::capsule(tensor, "dltensor", [](PyObject* capsule) {
    // Whoever takes the tensor renames the capsule.
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    auto* owned = static_cast<DLManagedTensor*>(
        PyCapsule_GetPointer(capsule, "dltensor"));
    owned->deleter(owned);
  });
}

}  // namespace ingot::python
