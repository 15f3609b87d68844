// Reads the function table of a device.
#ifndef INGOT_BACKENDS_DEVICE_READ_TABLE_H_
#define INGOT_BACKENDS_DEVICE_READ_TABLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/device/table.h"

namespace ingot::device {

// Reads what WriteTable wrote, or something hostile. InvalidArgument says what
// is wrong, and in which line.
absl::StatusOr<std::vector<TableFunction>> ReadTable(absl::string_view text);

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_READ_TABLE_H_
