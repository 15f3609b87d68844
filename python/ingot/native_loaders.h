// Loaders in Python, as the C API takes them.
#ifndef INGOT_PYTHON_INGOT_NATIVE_LOADERS_H_
#define INGOT_PYTHON_INGOT_NATIVE_LOADERS_H_

#include <map>
#include <string>
#include <vector>

#include "loaders/c_api/ingot.h"
#include "pybind11/pybind11.h"

namespace ingot::python {

// Functions by the name of the loader that each is: from a list of (target key,
// codegen, loader, file name, bytes) to a dictionary of functions by symbol,
// which take the tensors of a call.
using OwnLoaders = std::map<std::string, pybind11::object>;

// `own` must outlive them.
std::vector<IngotLoader> ToLoaders(const OwnLoaders& own);

// Adds the type of those tensors.
void DefineTensor(pybind11::module_& m);

}  // namespace ingot::python

#endif  // INGOT_PYTHON_INGOT_NATIVE_LOADERS_H_
