// Reads the function table.
#ifndef INGOT_BACKENDS_OPENCL_READ_TABLE_H_
#define INGOT_BACKENDS_OPENCL_READ_TABLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/opencl/table.h"

namespace ingot::opencl {

// Reads what WriteTable wrote, or something hostile. InvalidArgument says what
// is wrong, and in which line.
absl::StatusOr<std::vector<TableFunction>> ReadTable(absl::string_view text);

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_READ_TABLE_H_
