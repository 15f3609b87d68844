// The function table of a device: which kernels its code has, and how to call
// them. Code generators write it, and loaders read it (read_table.h).
#ifndef INGOT_BACKENDS_DEVICE_TABLE_H_
#define INGOT_BACKENDS_DEVICE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/call_spec.h"

namespace ingot::device {

// The artifact that holds it, beside the code of its key.
inline constexpr char kTableFile[] = "kernels.table";

// An argument of which a kernel lets the device copy boxes on its own, as it
// must be told before (CUDA's tensor maps).
struct TensorMap {
  size_t argument = 0;
  DataType dtype;                   // the argument's,
  std::vector<int64_t> shape, box;  // and how much of it a box has
};

// The bytes of a box's row, which the device swizzles.
inline constexpr int64_t kBoxRowBytes = 128;

// One run of a kernel, which gets all arguments of its function. Each work item
// knows its number.
struct Launch {
  std::string kernel;
  int64_t work_items = 1;
  // So many work items share memory and wait for each other; it divides their
  // number. 0: the items know nothing of each other, and the device chooses.
  int64_t group = 0;
  // So many bytes are shared besides what the code has arrays for.
  int64_t shared_bytes = 0;
  std::vector<TensorMap> maps;  // further arguments
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

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_TABLE_H_
