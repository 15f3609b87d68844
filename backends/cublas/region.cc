#include "backends/cublas/region.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/text_lines.h"

namespace ingot::cublas {
namespace {

template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

std::string WriteMatrices(absl::string_view role, const Matrices& m,
                          bool transposed) {
  return absl::StrCat(" ", role, ": ", m.value, " ", m.offset, " ", m.step,
                      transposed ? " transposed" : "");
}

absl::Status ReadMatrices(absl::string_view key, Words words,
                          const Region& region, const Product& sizes,
                          int64_t elements, Matrices* matrices,
                          bool* transposed) {
  Words given = Behind(key, words);
  *transposed = !given.empty() && given.back() == "transposed";
  if (*transposed) given.remove_suffix(1);
  std::vector<int64_t> numbers;
  INGOT_RETURN_IF_ERROR(ReadNumbers(given, &numbers));
  if (numbers.size() != 3) {
    return Malformed(key, " takes a value, an offset and a step");
  }
  *matrices = {numbers[0], numbers[1], numbers[2]};
  const int64_t there = region.ElementsOf(matrices->value);
  if (matrices->offset < 0 || matrices->offset > there) {
    return Malformed(key, " matrices begin beyond their value");
  }
  const int64_t last = there - matrices->offset - elements;
  if (matrices->step < 0 || last < 0 ||
      (sizes.count > 1 && matrices->step > last / (sizes.count - 1))) {
    return Malformed(key, " matrices reach beyond their value");
  }
  return absl::OkStatus();
}

absl::Status ReadProduct(Words words, Region* region) {
  Product p;
  std::vector<int64_t> sizes;
  INGOT_RETURN_IF_ERROR(ReadNumbers(Behind("product:", words), &sizes));
  if (sizes.size() != 4) return Malformed("a product has m, n, k and count");
  for (const int64_t size : sizes) {
    if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
      return Malformed(size, " is out of range");
    }
  }
  p.m = sizes[0];
  p.n = sizes[1];
  p.k = sizes[2];
  p.count = sizes[3];
  INGOT_RETURN_IF_ERROR(ReadMatrices("left:", words, *region, p, p.m * p.k,
                                     &p.left, &p.left_transposed));
  INGOT_RETURN_IF_ERROR(ReadMatrices("right:", words, *region, p, p.k * p.n,
                                     &p.right, &p.right_transposed));
  bool is_transposed = false;
  INGOT_RETURN_IF_ERROR(ReadMatrices("result:", words, *region, p, p.m * p.n,
                                     &p.result, &is_transposed));
  if (is_transposed || p.result.value < region->NumInputs() ||
      (p.count > 1 && p.result.step < p.m * p.n)) {
    return Malformed("a result is written once, row by row, and no input");
  }
  INGOT_RETURN_IF_ERROR(
      library_calls::ReadValueBehind("bias:", words, *region, p.n, &p.bias));
  INGOT_RETURN_IF_ERROR(library_calls::ReadValueBehind(
      "added:", words, *region, region->ElementsOf(p.result.value), &p.added));
  const Words after = Behind("then:", words);
  p.relu = !after.empty();
  if (p.relu && (after.size() != 1 || after[0] != "relu")) {
    return Malformed("only relu may come after a product");
  }
  region->products.push_back(p);
  return absl::OkStatus();
}

}  // namespace

std::string WriteRegion(const Region& region) {
  std::string text = absl::StrCat(
      "# Products of matrices by cuBLAS.\n"
      "# product: m n k count  left: value offset step  ...\n",
      library_calls::WriteValues(region));
  for (const Product& p : region.products) {
    absl::StrAppend(&text, "product: ", p.m, " ", p.n, " ", p.k, " ", p.count,
                    WriteMatrices("left", p.left, p.left_transposed),
                    WriteMatrices("right", p.right, p.right_transposed),
                    WriteMatrices("result", p.result, false));
    if (p.bias >= 0) absl::StrAppend(&text, " bias: ", p.bias);
    if (p.added >= 0) absl::StrAppend(&text, " added: ", p.added);
    absl::StrAppend(&text, p.relu ? " then: relu\n" : "\n");
  }
  return text;
}

absl::StatusOr<Region> ReadRegion(absl::string_view text) {
  Region region;
  INGOT_RETURN_IF_ERROR(ReadLines(text, [&](Words words) -> absl::Status {
    if (words[0] == "product:") return ReadProduct(words, &region);
    if (!library_calls::IsOfValues(words)) {
      return Malformed("nothing is called '", words[0], "'");
    }
    if (!region.products.empty()) {
      return Malformed("a product comes before this value");
    }
    return library_calls::ReadValues(words, &region);
  }));
  if (region.name.empty()) return Malformed("there is no function");
  return region;
}

}  // namespace ingot::cublas
