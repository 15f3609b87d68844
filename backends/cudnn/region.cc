#include "backends/cudnn/region.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "loaders/text_lines.h"

namespace ingot::cudnn {
namespace {

// The library counts in ints.
constexpr int64_t kMost = int64_t{1} << 31;

template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status ReadOperand(absl::string_view key, Words words,
                         const Region& region, Operand* operand) {
  std::vector<int64_t> numbers;
  INGOT_RETURN_IF_ERROR(ReadNumbers(Behind(key, words), &numbers));
  if (numbers.size() != 5) {
    return Malformed(key, " takes a value and four dimensions");
  }
  operand->value = numbers[0];
  int64_t elements = 1;
  for (size_t d = 0; d < 4; ++d) {
    const int64_t extent = numbers[d + 1];
    if (extent < 1 || extent >= kMost / elements) {
      return Malformed(key, " dimension ", extent, " is out of range");
    }
    operand->shape[d] = extent;
    elements *= extent;
  }
  if (region.ElementsOf(operand->value) != elements) {
    return Malformed(key, " has another size than its value");
  }
  return absl::OkStatus();
}

// Some numbers of `least` or more.
absl::Status ReadSizes(absl::string_view key, Words words, int64_t least,
                       absl::Span<int64_t> sizes) {
  constexpr int64_t kMostSize = 1 << 20;
  std::vector<int64_t> numbers;
  INGOT_RETURN_IF_ERROR(ReadNumbers(Behind(key, words), &numbers));
  if (numbers.size() != sizes.size()) {
    return Malformed(key, " takes ", sizes.size(), " numbers");
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (numbers[i] < least || numbers[i] > kMostSize) {
      return Malformed(key, " ", numbers[i], " is out of range");
    }
    sizes[i] = numbers[i];
  }
  return absl::OkStatus();
}

absl::Status ReadConvolution(Words words, Region* region) {
  Convolution c;
  INGOT_RETURN_IF_ERROR(ReadOperand("data:", words, *region, &c.data));
  INGOT_RETURN_IF_ERROR(ReadOperand("kernel:", words, *region, &c.kernel));
  INGOT_RETURN_IF_ERROR(ReadOperand("result:", words, *region, &c.result));
  INGOT_RETURN_IF_ERROR(
      ReadSizes("strides:", words, 1, absl::MakeSpan(c.strides)));
  INGOT_RETURN_IF_ERROR(ReadSizes("pads:", words, 0, absl::MakeSpan(c.pads)));
  INGOT_RETURN_IF_ERROR(
      ReadSizes("dilations:", words, 1, absl::MakeSpan(c.dilations)));
  INGOT_RETURN_IF_ERROR(
      ReadSizes("groups:", words, 1, absl::MakeSpan(&c.groups, 1)));
  if (c.result.value < region->NumInputs()) {
    return Malformed("a result is no input");
  }
  if (c.kernel.shape[1] * c.groups != c.data.shape[1] ||
      c.kernel.shape[0] % c.groups != 0) {
    return Malformed("channels do not fit groups and kernel");
  }
  if (c.result.shape != ResultShape(c)) {
    return Malformed("the result has another shape than the rest makes");
  }
  INGOT_RETURN_IF_ERROR(library_calls::ReadValueBehind(
      "bias:", words, *region, c.kernel.shape[0], &c.bias));
  INGOT_RETURN_IF_ERROR(library_calls::ReadValueBehind(
      "added:", words, *region, c.result.elements(), &c.added));
  const Words after = Behind("then:", words);
  c.relu = !after.empty();
  if (c.relu && (after.size() != 1 || after[0] != "relu")) {
    return Malformed("only relu may come after a convolution");
  }
  if (c.bias < 0 && (c.relu || c.added >= 0)) {
    return Malformed("what comes after a convolution comes after a bias");
  }
  region->convolutions.push_back(c);
  return absl::OkStatus();
}

std::string WriteOperand(absl::string_view role, const Operand& operand) {
  return absl::StrCat(" ", role, ": ", operand.value, " ",
                      absl::StrJoin(operand.shape, " "));
}

}  // namespace

std::array<int64_t, 4> ResultShape(const Convolution& c) {
  std::array<int64_t, 4> shape = {c.data.shape[0], c.kernel.shape[0], 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = c.dilations[d] * (c.kernel.shape[2 + d] - 1) + 1;
    const int64_t room = c.data.shape[2 + d] + 2 * c.pads[d] - reach;
    if (room >= 0) shape[2 + d] = room / c.strides[d] + 1;
  }
  return shape;
}

std::string WriteRegion(const Region& region) {
  std::string text = absl::StrCat(
      "# Convolutions by cuDNN.\n"
      "# data: value n c h w  kernel: value o i h w  ...\n",
      library_calls::WriteValues(region));
  for (const Convolution& c : region.convolutions) {
    absl::StrAppend(
        &text, "convolution:", WriteOperand("data", c.data),
        WriteOperand("kernel", c.kernel), WriteOperand("result", c.result),
        " strides: ", absl::StrJoin(c.strides, " "),
        " pads: ", absl::StrJoin(c.pads, " "),
        " dilations: ", absl::StrJoin(c.dilations, " "), " groups: ", c.groups);
    if (c.bias >= 0) absl::StrAppend(&text, " bias: ", c.bias);
    if (c.added >= 0) absl::StrAppend(&text, " added: ", c.added);
    absl::StrAppend(&text, c.relu ? " then: relu\n" : "\n");
  }
  return text;
}

absl::StatusOr<Region> ReadRegion(absl::string_view text) {
  Region region;
  INGOT_RETURN_IF_ERROR(ReadLines(text, [&](Words words) -> absl::Status {
    if (words[0] == "convolution:") return ReadConvolution(words, &region);
    if (!library_calls::IsOfValues(words)) {
      return Malformed("nothing is called '", words[0], "'");
    }
    if (!region.convolutions.empty()) {
      return Malformed("a convolution comes before this value");
    }
    return library_calls::ReadValues(words, &region);
  }));
  if (region.name.empty()) return Malformed("there is no function");
  return region;
}

}  // namespace ingot::cudnn
