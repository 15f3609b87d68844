#include "backends/device/read_table.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/text_lines.h"
#include "runtime/tensor.h"

namespace ingot::device {
namespace {

// A device runs no more at once, and counts them in 64 bits.
constexpr int64_t kMostWorkItems = int64_t{1} << 40;
// No device has larger groups.
constexpr int64_t kMostInGroup = 1024;
// No group has more memory.
constexpr int64_t kMostShared = 1 << 20;

template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::StatusOr<TensorSpec> ReadTensor(Words words) {
  if (words.size() < 2) return Malformed("a tensor has no type");
  TensorSpec tensor;
  INGOT_ASSIGN_OR_RETURN(tensor.dtype, DataType::Parse(words[1]));
  int64_t elements;
  INGOT_RETURN_IF_ERROR(ReadShape(words.subspan(2), &tensor.shape, &elements));
  INGOT_RETURN_IF_ERROR(CountBytes(tensor.dtype, tensor.shape).status());
  return tensor;
}

// A count of 1 to `most`.
bool ReadCount(absl::string_view word, int64_t most, int64_t* count) {
  return absl::SimpleAtoi(word, count) && *count >= 1 && *count <= most;
}

absl::StatusOr<Launch> ReadLaunch(Words words) {
  Launch launch;
  if (words.size() < 3 || words.size() > 5 ||
      !ReadCount(words[2], kMostWorkItems, &launch.work_items)) {
    return Malformed("a launch is a kernel and how many work items run it");
  }
  if (words.size() >= 4 && (!ReadCount(words[3], kMostInGroup, &launch.group) ||
                            launch.work_items % launch.group != 0)) {
    return Malformed("work items in groups: at most ", kMostInGroup,
                     " in each, and none left over");
  }
  if (words.size() == 5 &&
      !ReadCount(words[4], kMostShared, &launch.shared_bytes)) {
    return Malformed("a group shares at most ", kMostShared, " bytes");
  }
  launch.kernel = std::string(words[1]);
  return launch;
}

}  // namespace

absl::StatusOr<std::vector<TableFunction>> ReadTable(absl::string_view text) {
  std::vector<TableFunction> functions;
  INGOT_RETURN_IF_ERROR(ReadLines(text, [&](Words words) -> absl::Status {
    if (words[0] == "function") {
      TableFunction f;
      if (words.size() != 2) return Malformed("a function has a name");
      f.name = std::string(words[1]);
      functions.push_back(std::move(f));
      return absl::OkStatus();
    }
    if (functions.empty()) return Malformed("there is no function yet");
    TableFunction& f = functions.back();
    if (words[0] == "launch") {
      INGOT_ASSIGN_OR_RETURN(Launch launch, ReadLaunch(words));
      f.launches.push_back(std::move(launch));
      return absl::OkStatus();
    }
    if (words[0] != "input" && words[0] != "output") {
      return Malformed("nothing is called '", words[0], "'");
    }
    INGOT_ASSIGN_OR_RETURN(TensorSpec tensor, ReadTensor(words));
    (words[0] == "input" ? f.spec.inputs : f.spec.outputs)
        .push_back(std::move(tensor));
    return absl::OkStatus();
  }));
  return functions;
}

}  // namespace ingot::device
