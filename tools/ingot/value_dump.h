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
#include "compiler/frontends/frontend.h"

namespace ingot {

// A file name for each of `names`, in which only letters, digits, '_', '-' and
// '.' are left; what another name has already gets a '_' more. A name that
// comes again counts once.
std::map<std::string, std::string> FileNames(
    absl::Span<const std::string> names);

// The names of the values that the model at `path` computes, in its order.
absl::StatusOr<std::vector<std::string>> ValueNames(
    absl::string_view path, const FrontendRegistry& frontends);

struct DumpedValue {
  std::string name;
  std::string node;  // that computes it: operator and name
  std::string file;  // a .npy
  int64_t bytes = 0;
};

// The values of the model at `path` that have a file in `folder`, in the
// model's order. NotFound when there are none.
absl::StatusOr<std::vector<DumpedValue>> FindDumpedValues(
    absl::string_view path, absl::string_view folder,
    const FrontendRegistry& frontends);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_VALUE_DUMP_H_
