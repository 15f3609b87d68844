#include "tests/published/references.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

using nlohmann::json;

// Relative to the largest element of an output.
constexpr double kTolerance = 1e-3;

// The two formulas of make_references.mjs.
float Element(uint32_t i, float scale) {
  const uint32_t hash = (i + 1) * 2654435761u;
  return static_cast<float>((hash >> 8) / 8388608.0 - 1) * scale;
}

float Stroke(int64_t i, int64_t height, int64_t width) {
  const int64_t x = i % width, y = i / width % height;
  const bool line = y % 40 >= 12 && y % 40 < 28 && x >= 16 && x < width - 16;
  return line && (x % 10 < 3 || (y % 8 < 2 && x % 10 < 7)) ? -1 : 1;
}

}  // namespace

Tensor MakeInput(const json& input) {
  const std::vector<int64_t> shape = input["shape"];
  if (input["type"] == "i64") {
    Tensor tensor = *Tensor::Empty(DataType::Int(64), shape);
    std::fill_n(tensor.mutable_data<int64_t>(), tensor.NumElements(),
                input["value"].get<int64_t>());
    return tensor;
  }
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  float* data = tensor.mutable_data<float>();
  const bool strokes = input.value("strokes", false);
  const float scale = input.value("scale", 1.0f);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    data[i] = strokes ? Stroke(i, shape[shape.size() - 2], shape.back())
                      : Element(static_cast<uint32_t>(i), scale);
  }
  return tensor;
}

std::vector<std::string> WriteInputs(const json& reference,
                                     const std::string& folder) {
  std::vector<std::string> paths;
  for (const json& input : reference["inputs"]) {
    paths.push_back(absl::StrCat(folder, "/in", paths.size(), ".npy"));
    const absl::StatusOr<std::string> bytes = FormatNpy(MakeInput(input));
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    std::ofstream file(paths.back(), std::ios::binary);
    file << bytes.value_or("");
    EXPECT_TRUE(file.flush()) << paths.back();
  }
  return paths;
}

Tensor ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
  EXPECT_TRUE(tensor.ok()) << path << ": " << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

std::map<std::string, std::string> ModelPaths() {
  std::map<std::string, std::string> paths;
  const std::string all = getenv("MODELS");
  for (size_t start = 0; start < all.size();) {
    const size_t end = std::min(all.find(' ', start), all.size());
    const std::string word = all.substr(start, end - start);
    paths[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    start = end + 1;
  }
  return paths;
}

std::vector<json> References() {
  std::ifstream file(getenv("REFERENCES"));
  return json::parse(file);
}

void ExpectReference(const Tensor& got, const json& expected) {
  ASSERT_EQ(got.dtype(), DataType::Float(32));
  const std::vector<int64_t> shape = expected["shape"];
  ASSERT_EQ(std::vector<int64_t>(got.shape().begin(), got.shape().end()),
            shape);
  const float* data = got.data<float>();
  const double max = expected["max_magnitude"];
  double sum = 0;
  for (int64_t i = 0; i < got.NumElements(); ++i) sum += std::fabs(data[i]);
  EXPECT_NEAR(sum / got.NumElements(), expected["mean_magnitude"].get<double>(),
              kTolerance * max);
  for (const auto& [index, value] : expected["samples"].items()) {
    EXPECT_NEAR(data[std::stoll(index)], value.get<double>(), kTolerance * max)
        << "element " << index;
  }
}

}  // namespace ingot
