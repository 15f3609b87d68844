// Graphs of `examplejson`, loaded and, if they are small, run.
#include <string>
#include <vector>

#include "backends/examplejson/loader.h"
#include "base/status_macros.h"
#include "loaders/loader_registry.h"
#include "tests/fuzz/readers/load_and_run.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  return {
      "region\n  input 0 2 3\n",
      R"(region
  input 0 10 10
  input 1 10 10
  add 4 inputs: 0 1 shape: 10 10
  const 6 shape: 1 values: 0.100000001
  mul 7 inputs: 4 6 shape: 10 10
  sub 8 inputs: 7 1 shape: 10 10
  outputs 8 4
)",
      R"(f
  # no dimensions, and none of an element
  const c shape: values: -1e30
  input x 0 7
  mul y inputs: x c shape: 0 7
  outputs y c x
)",
  };
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterExamplejsonLoader(&loaders));
  return LoadAndRun(loaders, "examplejson", "region.examplejson", bytes);
}

}  // namespace ingot::fuzz
