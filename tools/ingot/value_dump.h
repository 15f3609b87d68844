// Folders with a model's values: what `run --all-values` writes and
// `verify --per-node` compares with.

#ifndef INGOT_TOOLS_INGOT_VALUE_DUMP_H_
#define INGOT_TOOLS_INGOT_VALUE_DUMP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/ingot/compiler.h"

namespace ingot {

// A file name for each of `names`, in which only letters, digits, '_', '-' and
// '.' are left; what another name has already gets a '_' more. A name that
// comes again counts once.
std::map<std::string, std::string> FileNames(
    absl::Span<const std::string> names);

struct DumpedValue {
  ComputedValue value;
  std::string file;  // a .npy
  int64_t bytes = 0;
};

// The values of a model that have a file in `folder`, in the same order.
// NotFound when there are none.
absl::StatusOr<std::vector<DumpedValue>> FindDumpedValues(
    absl::Span<const ComputedValue> values, absl::string_view folder);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_VALUE_DUMP_H_
