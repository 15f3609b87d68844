// The function table: what is in a file of OpenCL C, and how to call it. The
// code generator writes it, and the loader reads it.
#ifndef INGOT_BACKENDS_OPENCL_TABLE_H_
#define INGOT_BACKENDS_OPENCL_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/call_spec.h"

namespace ingot::opencl {

// The target, its codegen, its loader and the kind of its device.
inline constexpr char kName[] = "opencl";

// The artifacts of a key: the kernels, and what is said of them here.
inline constexpr char kSourceFile[] = "kernels.cl";
inline constexpr char kTableFile[] = "kernels.table";

// A __kernel, which gets all arguments of its function, and how often it runs:
// each run, a work item, knows its number.
struct Launch {
  std::string kernel;
  int64_t work_items = 1;
};

// A function of the model's plan: kernels one after the other.
struct TableFunction {
  std::string name;
  std::string nodes;  // of the model, for people
  CallSpec spec;
  std::vector<Launch> launches;
};

// As text: a few lines for each function.
std::string WriteTable(const std::vector<TableFunction>& functions);

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_TABLE_H_
