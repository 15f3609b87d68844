// Models in which sizes and counts that a run finds decide on further sizes,
// against numbers computed here in plain C++.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "tests/pipeline/run_time_models.h"

namespace ingot {
namespace {

// best: the four largest of the three largest positive elements of a and of b,
// or fewer, as a detector chooses among its classes.
void WriteBest(const std::string& path) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddFloat(g, "zero", 0);
  AddConstant(g, "first", {1}, {0});
  AddConstant(g, "three", {1}, {3});
  AddConstant(g, "four", {1}, {4});
  const auto largest = [g](const std::string& of, const std::string& limit,
                           const std::string& result) {
    AddNode(g, "Shape", {of}, {of + "_count"});
    AddNode(g, "Min", {of + "_count", limit}, {of + "_k"});
    AddNode(g, "TopK", {of, of + "_k"}, {result, result + "_places"});
  };
  for (const std::string name : {"a", "b"}) {
    AddVector(g->add_input(), name);
    AddNode(g, "Greater", {name, "zero"}, {name + "_positive"});
    AddNode(g, "NonZero", {name + "_positive"}, {name + "_columns"});
    AddNode(g, "Squeeze", {name + "_columns", "first"}, {name + "_places"});
    AddNode(g, "Gather", {name, name + "_places"}, {name + "_chosen"});
    largest(name + "_chosen", "three", name + "_best");
  }
  AddInt(AddNode(g, "Concat", {"a_best", "b_best"}, {"all"}), "axis", 0);
  largest("all", "four", "best");
  AddValue(g->add_output(), "best", kFloat);
  WriteFileBytes(path, model.SerializeAsString());
}

std::vector<float> Largest(std::vector<float> of, size_t limit) {
  std::sort(of.begin(), of.end(), std::greater<>());
  of.resize(std::min(limit, of.size()));
  return of;
}

void WriteBestData(const std::string& dir,
                   const std::vector<std::vector<float>>& classes) {
  std::filesystem::create_directories(dir);
  std::vector<float> all;
  for (size_t i = 0; i < classes.size(); ++i) {
    WriteTensorProto(absl::StrCat(dir, "/input_", i, ".pb"), i == 0 ? "a" : "b",
                     {static_cast<int64_t>(classes[i].size())}, classes[i]);
    std::vector<float> positive;
    for (float v : classes[i]) {
      if (v > 0) positive.push_back(v);
    }
    const std::vector<float> best = Largest(positive, 3);
    all.insert(all.end(), best.begin(), best.end());
  }
  const std::vector<float> best = Largest(all, 4);
  WriteTensorProto(dir + "/output_0.pb", "best",
                   {static_cast<int64_t>(best.size())}, best);
}

// For the length n of x: ranges that begin or end at what n says, as floats;
// and the elements of x before m = (n - 5) / 2, rounded towards zero, and from
// -m on.
void WriteRanges(const std::string& path) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddVector(g->add_input(), "x");
  AddConstant(g, "first", {1}, {0});
  AddConstant(g, "two", {1}, {2});
  AddConstant(g, "five", {1}, {5});
  AddConstant(g, "all", {1}, {INT64_MAX});
  AddConstant(g, "minus_3", {}, {-3});
  AddFloat(g, "zero", 0);
  AddFloat(g, "half", 0.5);
  AddNode(g, "Shape", {"x"}, {"shape"});
  AddNode(g, "Sub", {"shape", "five"}, {"less"});
  AddNode(g, "Div", {"less", "two"}, {"end"});
  AddNode(g, "Neg", {"end"}, {"begin"});
  AddNode(g, "Squeeze", {"shape", "first"}, {"n"});
  AddNode(g, "Squeeze", {"end", "first"}, {"m"});
  AddInt(AddNode(g, "Cast", {"n"}, {"length"}), "to", kFloat);
  AddNode(g, "Range", {"n", "m", "minus_3"}, {"down"});
  AddInt(AddNode(g, "Cast", {"down"}, {"down_y"}), "to", kFloat);
  AddNode(g, "Range", {"zero", "length", "half"}, {"halves"});
  AddNode(g, "Slice", {"x", "first", "end"}, {"cut"});
  AddNode(g, "Slice", {"x", "begin", "all"}, {"tail"});
  for (const char* output : {"down_y", "halves", "cut", "tail"}) {
    AddValue(g->add_output(), output, kFloat);
  }
  WriteFileBytes(path, model.SerializeAsString());
}

void WriteRangesData(const std::string& dir, int64_t n) {
  std::filesystem::create_directories(dir);
  const auto range = [](double at, double limit, double step) {
    std::vector<float> y;
    for (; step > 0 ? at < limit : at > limit; at += step) y.push_back(at);
    return y;
  };
  const int64_t m = (n - 5) / 2;
  const auto place = [n](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
  };
  const std::vector<float> x = range(10, 10 + n, 1);
  const std::vector<std::vector<float>> outputs = {
      range(n, m, -3), range(0, n, 0.5),
      std::vector<float>(x.begin(), x.begin() + place(m)),
      std::vector<float>(x.begin() + place(-m), x.end())};
  WriteTensorProto(dir + "/input_0.pb", "x", {n}, x);
  const char* const names[] = {"down_y", "halves", "cut", "tail"};
  for (size_t i = 0; i < outputs.size(); ++i) {
    WriteTensorProto(dir + "/output_" + std::to_string(i) + ".pb", names[i],
                     {static_cast<int64_t>(outputs[i].size())}, outputs[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RunTimeTest,
                         testing::Values("llvm", "llvmjit", "c"),
                         [](const auto& info) { return info.param; });

TEST_P(RunTimeTest, CountsDecideOfCounts) {
  WriteBest(Path("m.onnx"));
  const std::vector<std::vector<std::vector<float>>> inputs = {
      {{1, -2, 3, 4, 2, 5}, {9, -1, 0, 7, -3, 8}},
      {{-1, -2}, {3, 4}},
      {{-1, 6, 0, 7}, {-1, -2, -3, -4}},
      {{0}, {0}},  // nothing is left
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    WriteBestData(Path("data/test_data_set_" + std::to_string(i)), inputs[i]);
  }
  ExpectVerified(inputs.size(), inputs.size());
}

TEST_P(RunTimeTest, SizesDecideOnRangesAndSlices) {
  WriteRanges(Path("m.onnx"));
  for (int64_t n = 0; n < 12; ++n) {
    WriteRangesData(Path("data/test_data_set_" + std::to_string(n)), n);
  }
  ExpectVerified(12, 4 * 12);
}

}  // namespace
}  // namespace ingot
