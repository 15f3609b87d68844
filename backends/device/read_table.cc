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

// Refuses tensors and boxes that CUDA's driver does not take where rows are
// swizzled.
absl::Status CheckMap(const TensorMap& map) {
  constexpr size_t kMostDimensions = 5;
  constexpr int64_t kMostExtent = int64_t{1} << 32, kStrideBytes = 16;
  const int64_t bytes = map.dtype.bytes();
  if (map.shape.empty() || map.shape.size() > kMostDimensions ||
      map.box.size() != map.shape.size() ||
      !(map.dtype == DataType::Float(16) || map.dtype == DataType::BFloat16() ||
        map.dtype == DataType::Float(32)) ||
      map.box.back() * bytes != kBoxRowBytes ||
      map.shape.back() * bytes % kStrideBytes != 0) {
    return Malformed("boxes of argument ", map.argument,
                     " are not such as a device copies");
  }
  for (const int64_t extent : map.shape) {
    if (extent < 1 || extent > kMostExtent) {
      return Malformed("argument ", map.argument, " is no tensor for boxes");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorMap> ReadMap(Words words, const CallSpec& spec) {
  constexpr int64_t kMostInBox = 256;
  TensorMap map;
  const size_t inputs = spec.inputs.size(), all = inputs + spec.outputs.size();
  if (words.size() < 3 || !absl::SimpleAtoi(words[1], &map.argument) ||
      map.argument >= all) {
    return Malformed("boxes are of an argument, with extents");
  }
  const TensorSpec& tensor = map.argument < inputs
                                 ? spec.inputs[map.argument]
                                 : spec.outputs[map.argument - inputs];
  map.dtype = tensor.dtype;
  map.shape = tensor.shape;
  for (const absl::string_view word : words.subspan(2)) {
    int64_t extent;
    if (!ReadCount(word, kMostInBox, &extent)) {
      return Malformed("a box has 1 to ", kMostInBox,
                       " elements along each dimension");
    }
    map.box.push_back(extent);
  }
  INGOT_RETURN_IF_ERROR(CheckMap(map));
  return map;
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
    if (words[0] == "boxes") {
      if (f.launches.empty()) return Malformed("there is no launch yet");
      INGOT_ASSIGN_OR_RETURN(TensorMap map, ReadMap(words, f.spec));
      f.launches.back().maps.push_back(std::move(map));
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
