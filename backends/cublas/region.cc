#include "backends/cublas/region.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

int64_t ElementsOf(const TensorSpec& tensor) {
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) elements *= extent;
  return elements;
}

class Reader {
 public:
  absl::Status ReadLine(Words words) {
    if (words[0] == "function") {
      if (words.size() != 2 || !region_.name.empty()) {
        return Malformed("there is one function, and it has a name");
      }
      region_.name = std::string(words[1]);
      return absl::OkStatus();
    }
    if (words[0] == "input") return ReadTensor(words, &region_.spec.inputs);
    if (words[0] == "output") return ReadTensor(words, &region_.spec.outputs);
    if (words[0] == "temporary") return ReadTemporary(words);
    if (words[0] == "product:") return ReadProduct(words);
    return Malformed("nothing is called '", words[0], "'");
  }

  absl::StatusOr<Region> Take() {
    if (region_.name.empty()) return Malformed("there is no function");
    return std::move(region_);
  }

 private:
  absl::Status ReadTensor(Words words, std::vector<TensorSpec>* tensors) {
    if (!region_.products.empty()) {
      return Malformed("a product comes before this value");
    }
    if (words.size() < 2 || words[1] != "f32") return Malformed("it is no f32");
    TensorSpec tensor{DataType::Float(32), {}};
    int64_t elements;
    INGOT_RETURN_IF_ERROR(
        ReadShape(words.subspan(2), &tensor.shape, &elements));
    tensors->push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadTemporary(Words words) {
    // Memory that is there for a run, which no device has more of.
    constexpr int64_t kMost = int64_t{1} << 40;
    int64_t elements;
    if (!region_.products.empty() || words.size() != 2 ||
        !absl::SimpleAtoi(words[1], &elements) || elements < 1 ||
        elements > kMost) {
      return Malformed("a temporary is a number of elements");
    }
    region_.temporaries.push_back(elements);
    return absl::OkStatus();
  }

  absl::Status ReadProduct(Words words) {
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
    INGOT_RETURN_IF_ERROR(ReadMatrices("left:", words, p.m, p.k, p.count,
                                       &p.left, &p.left_transposed));
    INGOT_RETURN_IF_ERROR(ReadMatrices("right:", words, p.k, p.n, p.count,
                                       &p.right, &p.right_transposed));
    bool ignored = false;
    INGOT_RETURN_IF_ERROR(
        ReadMatrices("result:", words, p.m, p.n, p.count, &p.result, &ignored));
    if (ignored || p.result.value < Inputs() ||
        (p.count > 1 && p.result.step < p.m * p.n)) {
      return Malformed("a result is written once, row by row, and no input");
    }
    INGOT_RETURN_IF_ERROR(ReadAddend("bias:", words, p.n, &p.bias));
    INGOT_RETURN_IF_ERROR(ReadAddend("added:", words, -1, &p.added));
    if (p.added >= 0 &&
        ElementsOfValue(p.added) != ElementsOfValue(p.result.value)) {
      return Malformed("what is added has another size");
    }
    p.relu = words.back() == "relu";
    region_.products.push_back(p);
    return absl::OkStatus();
  }

  absl::Status ReadMatrices(absl::string_view key, Words words, int64_t rows,
                            int64_t columns, int64_t count, Matrices* matrices,
                            bool* transposed) const {
    Words given = Behind(key, words);
    if (!given.empty() && given.back() == "relu") given.remove_suffix(1);
    *transposed = !given.empty() && given.back() == "transposed";
    if (*transposed) given.remove_suffix(1);
    std::vector<int64_t> numbers;
    INGOT_RETURN_IF_ERROR(ReadNumbers(given, &numbers));
    if (numbers.size() != 3) {
      return Malformed(key, " takes a value, an offset and a step");
    }
    *matrices = {numbers[0], numbers[1], numbers[2]};
    const int64_t elements = ElementsOfValue(matrices->value);
    if (matrices->offset < 0 || matrices->offset > elements) {
      return Malformed(key, " matrices begin beyond their value");
    }
    const int64_t last = elements - matrices->offset - rows * columns;
    if (matrices->step < 0 || last < 0 ||
        (count > 1 && matrices->step > last / (count - 1))) {
      return Malformed(key, " matrices reach beyond their value");
    }
    return absl::OkStatus();
  }

  // Whatever `elements` is where it is negative.
  absl::Status ReadAddend(absl::string_view key, Words words, int64_t elements,
                          int64_t* value) const {
    Words given = Behind(key, words);
    if (!given.empty() && given.back() == "relu") given.remove_suffix(1);
    if (given.empty()) return absl::OkStatus();
    std::vector<int64_t> numbers;
    INGOT_RETURN_IF_ERROR(ReadNumbers(given, &numbers));
    if (numbers.size() != 1 || ElementsOfValue(numbers[0]) < 0 ||
        (elements >= 0 && ElementsOfValue(numbers[0]) != elements)) {
      return Malformed(key, " takes a value of the right size");
    }
    *value = numbers[0];
    return absl::OkStatus();
  }

  int64_t Inputs() const {
    return static_cast<int64_t>(region_.spec.inputs.size());
  }

  // -1: there is no such value.
  int64_t ElementsOfValue(int64_t value) const {
    const auto outputs = static_cast<int64_t>(region_.spec.outputs.size());
    const auto temporaries = static_cast<int64_t>(region_.temporaries.size());
    if (value < 0 || value >= Inputs() + outputs + temporaries) return -1;
    if (value < Inputs()) return ElementsOf(region_.spec.inputs[value]);
    value -= Inputs();
    return value < outputs ? ElementsOf(region_.spec.outputs[value])
                           : region_.temporaries[value - outputs];
  }

  Region region_;
};

}  // namespace

std::string WriteRegion(const Region& region) {
  std::string text = absl::StrCat(
      "# Products of matrices by cuBLAS. Values are counted from 0: inputs, "
      "outputs, temporaries.\n# product: m n k count  left: value offset step  "
      "...\nfunction ",
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
  for (const Product& p : region.products) {
    absl::StrAppend(&text, "product: ", p.m, " ", p.n, " ", p.k, " ", p.count,
                    WriteMatrices("left", p.left, p.left_transposed),
                    WriteMatrices("right", p.right, p.right_transposed),
                    WriteMatrices("result", p.result, false));
    if (p.bias >= 0) absl::StrAppend(&text, " bias: ", p.bias);
    if (p.added >= 0) absl::StrAppend(&text, " added: ", p.added);
    if (p.relu) absl::StrAppend(&text, " relu");
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<Region> ReadRegion(absl::string_view text) {
  Reader reader;
  INGOT_RETURN_IF_ERROR(
      ReadLines(text, [&](Words words) { return reader.ReadLine(words); }));
  return reader.Take();
}

}  // namespace ingot::cublas
