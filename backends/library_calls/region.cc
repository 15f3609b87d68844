#include "backends/library_calls/region.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace ingot::library_calls {
namespace {

template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

int64_t ElementsOfTensor(const TensorSpec& tensor) {
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) elements *= extent;
  return elements;
}

absl::Status ReadTensor(Words words, std::vector<TensorSpec>* tensors) {
  if (words.size() < 2 || words[1] != "f32") return Malformed("it is no f32");
  TensorSpec tensor{DataType::Float(32), {}};
  int64_t elements;
  INGOT_RETURN_IF_ERROR(ReadShape(words.subspan(2), &tensor.shape, &elements));
  tensors->push_back(std::move(tensor));
  return absl::OkStatus();
}

}  // namespace

int64_t Region::ElementsOf(int64_t value) const {
  const auto outputs = static_cast<int64_t>(spec.outputs.size());
  const auto others = static_cast<int64_t>(temporaries.size());
  if (value < 0 || value >= NumInputs() + outputs + others) return -1;
  if (value < NumInputs()) return ElementsOfTensor(spec.inputs[value]);
  value -= NumInputs();
  return value < outputs ? ElementsOfTensor(spec.outputs[value])
                         : temporaries[value - outputs];
}

std::string WriteValues(const Region& region) {
  std::string text = absl::StrCat(
      "# Values are counted from 0: inputs, outputs, temporaries."
      "\nfunction ",
      region.name, "\n");
  const auto write = [&](absl::string_view what, const TensorSpec& tensor) {
    absl::StrAppend(&text, what, " f32", tensor.shape.empty() ? "" : " ",
                    absl::StrJoin(tensor.shape, " "), "\n");
  };
  for (const TensorSpec& tensor : region.spec.inputs) write("input", tensor);
  for (const TensorSpec& tensor : region.spec.outputs) write("output", tensor);
  for (const int64_t elements : region.temporaries) {
    absl::StrAppend(&text, "temporary ", elements, "\n");
  }
  return text;
}

bool IsOfValues(Words words) {
  return words[0] == "function" || words[0] == "input" ||
         words[0] == "output" || words[0] == "temporary";
}

absl::Status ReadValues(Words words, Region* region) {
  if (words[0] == "input") return ReadTensor(words, &region->spec.inputs);
  if (words[0] == "output") return ReadTensor(words, &region->spec.outputs);
  if (words[0] == "function") {
    if (words.size() != 2 || !region->name.empty()) {
      return Malformed("there is one function, and it has a name");
    }
    region->name = std::string(words[1]);
    return absl::OkStatus();
  }
  // No device has more memory, and the bytes of so many have a sum.
  constexpr int64_t kMost = int64_t{1} << 40;
  constexpr size_t kMostTemporaries = 1 << 16;
  int64_t elements;
  if (words.size() != 2 || !absl::SimpleAtoi(words[1], &elements) ||
      elements < 1 || elements > kMost ||
      region->temporaries.size() == kMostTemporaries) {
    return Malformed(
        "a temporary is a number of elements, and there are at most 65536");
  }
  region->temporaries.push_back(elements);
  return absl::OkStatus();
}

absl::Status ReadValueBehind(absl::string_view key, Words words,
                             const Region& region, int64_t elements,
                             int64_t* value) {
  *value = -1;
  std::vector<int64_t> numbers;
  INGOT_RETURN_IF_ERROR(ReadNumbers(Behind(key, words), &numbers));
  if (numbers.empty()) return absl::OkStatus();
  const int64_t there = region.ElementsOf(numbers[0]);
  if (numbers.size() != 1 || there < 0 ||
      (elements >= 0 && there != elements)) {
    return Malformed(key, " takes a value of the right size");
  }
  *value = numbers[0];
  return absl::OkStatus();
}

}  // namespace ingot::library_calls
