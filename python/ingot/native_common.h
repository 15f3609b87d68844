// Shared by the parts of ingot._native: errors, names of types, capsules.
#ifndef INGOT_PYTHON_INGOT_NATIVE_COMMON_H_
#define INGOT_PYTHON_INGOT_NATIVE_COMMON_H_

#include <string>

#include "loaders/c_api/ingot.h"
#include "pybind11/numpy.h"
#include "pybind11/pybind11.h"

namespace ingot::python {

// The name of a status, for ingot.Error.code.
const char* NameOf(IngotStatus status);

// Keeps an exception of a function that Ingot called as the cause of the error
// that this thread raises next. Null: there is none.
void SetCause(pybind11::object exception);

// Throws ingot.Error, or the cause itself where it is one that handlers of
// errors let pass, such as KeyboardInterrupt.
[[noreturn]] void Raise(const std::string& message, const char* code);

// Throws ingot.Error unless the call went well.
void Check(IngotStatus status);

// Calls without Python's lock. The error's text is this thread's, so it can be
// asked for with the lock.
template <typename Call>
void CheckUnlocked(Call call) {
  IngotStatus status;
  SetCause({});
  {
    pybind11::gil_scoped_release unlocked;
    status = call();
  }
  Check(status);
}

// NumPy's name of the type; those that NumPy has not are named likewise.
std::string DtypeName(DLDataType dtype);
// Returns NumPy's own type, which lives for ever. Throws where NumPy has none;
// `otherwise` says what to do then.
const pybind11::dtype& NumpyDtype(DLDataType dtype, const char* otherwise);

// Returns a read-only array that shows the tensor's memory and lets go of it in
// the end. Throws, and lets go of it, as NumpyDtype does.
pybind11::array ToArray(DLManagedTensor* tensor, const char* otherwise);

// A capsule of DLPack, which owns `tensor` until somebody takes that.
pybind11::capsule ToCapsule(DLManagedTensor* tensor);

}  // namespace ingot::python

#endif  // INGOT_PYTHON_INGOT_NATIVE_COMMON_H_
