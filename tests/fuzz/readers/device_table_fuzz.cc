// The function table of a set for a device.
#include <string>
#include <vector>

#include "backends/device/read_table.h"
#include "backends/device/table.h"
#include "base/status_macros.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

using device::ReadTable;
using device::TableFunction;
using device::WriteTable;

std::vector<std::string> Seeds() {
  const TensorSpec matrix{DataType::Float(32), {2, 3}};
  const TensorSpec scalar{DataType::Int(64), {}};
  const TensorSpec nothing{DataType::UInt(8), {0}};
  const TableFunction add{
      "add", "Add_1, Relu_2", {{matrix, matrix}, {matrix}}, {{"add_0", 6}}};
  const TableFunction sum{"sum",
                          "",
                          {{nothing, scalar}, {scalar}},
                          {{"sum_0", 1}, {"sum_1", 512, 256}}};
  return {WriteTable({}), WriteTable({add}), WriteTable({add, sum})};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<std::vector<TableFunction>> read = ReadTable(bytes);
  if (!read.ok()) return false;
  const std::string written = WriteTable(*read);
  INGOT_ASSIGN_OR_RETURN(const std::vector<TableFunction> again,
                         ReadTable(written));
  if (WriteTable(again) != written) {
    return absl::InternalError("written and read, the table is another one");
  }
  return true;
}

}  // namespace ingot::fuzz
