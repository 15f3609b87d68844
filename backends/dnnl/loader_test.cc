// The loader is given JSON that codegen did not write.

#include "backends/dnnl/loader.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "artifact/artifact_set.h"
#include "backends/dnnl/load_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/thread_pool.h"

namespace ingot::dnnl_backend {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"({"format": "ingot-dnnl", "version": 1,
 "symbol": "f",
 "inputs": ["x"],
 "outputs": ["y"],
 "tensors": {
  "w": {"shape": [8, 4, 3, 3], "constant": "weights"},
  "x": {"shape": [1, 4, 6, 6]},
  "c": {"shape": [1, 8, 6, 6]},
  "y": {"shape": [1, 8, 6, 6]}
 },
 "nodes": [
  {"name": "n1", "op": "convolution", "inputs": ["x", "w"], "output": "c",
   "attributes": {"dilations": [1, 1], "groups": 1, "pads": [1, 1, 1, 1],
                  "strides": [1, 1]},
   "post_ops": [{"eltwise": "relu", "alpha": 0, "beta": 0}]},
  {"name": "n2", "op": "eltwise", "inputs": ["c"], "output": "y",
   "attributes": {"algorithm": "linear", "alpha": 2, "beta": 0.5}}
 ]}
)";

Tensor Zeros(const std::vector<int64_t>& shape) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  std::fill_n(tensor.mutable_data<float>(), tensor.NumElements(), 0.f);
  return tensor;
}

std::map<std::string, Tensor> Weights() {
  Tensor w = *Tensor::Empty(DataType::Float(32), {8, 4, 3, 3});
  std::fill_n(w.mutable_data<float>(), w.NumElements(), 1.f);
  return {{"weights", w}};
}

TEST(DnnlLoader, RunsWhatAPersonWrote) {
  auto module = LoadJson(kGood, Weights());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->kind(), "dnnl");
  Tensor x = *Tensor::Empty(DataType::Float(32), {1, 4, 6, 6});
  Tensor y = *Tensor::Empty(DataType::Float(32), {1, 8, 6, 6});
  std::fill_n(x.mutable_data<float>(), x.NumElements(), 1.f);
  ASSERT_TRUE((*module)->GetFunction("f")->Call({x.dl(), y.dl()}).ok());
  EXPECT_EQ(y.data<float>()[0], 2 * 4 * 4 + 0.5);  // a corner
  EXPECT_EQ(y.data<float>()[7], 2 * 4 * 9 + 0.5);  // inside
}

// OpenMP's threads stay in the process that started them.
TEST(DnnlLoader, RunsInAProcessThatWasForked) {
  auto module = LoadJson(kGood, Weights());
  ASSERT_TRUE(module.ok()) << module.status();
  ThreadPool pool(2);
  const ScopedThreadPool scope(&pool);
  Tensor x = Zeros({1, 4, 6, 6}), y = Zeros({1, 8, 6, 6});
  const Function function = *(*module)->GetFunction("f");
  ASSERT_TRUE(function.Call({x.dl(), y.dl()}).ok());
  y.mutable_data<float>()[0] = -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // it would wait for ever
    const bool is_good = function.Call({x.dl(), y.dl()}).ok();
    _exit(is_good && y.data<float>()[0] == 0.5f ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Views, sums over their operand, padded copies, an output that is a view.
TEST(DnnlLoader, RunsBuffersThatShareTheirPlaces) {
  auto module = LoadJson(R"({"format": "ingot-dnnl", "version": 1,
 "symbol": "f", "inputs": ["x"], "outputs": ["t", "s"],
 "tensors": {
  "w": {"shape": [8, 8, 3, 3], "constant": "weights"},
  "x": {"shape": [1, 8, 12, 12]}, "a": {"shape": [1, 8, 12, 12]},
  "b": {"shape": [1, 8, 12, 12]}, "c": {"shape": [1, 8, 12, 12]},
  "t": {"shape": [1, 12, 12, 8]}, "s": {"shape": [1, 3, 12, 12]}},
 "nodes": [
  {"name": "a", "op": "eltwise", "inputs": ["x"], "output": "a",
   "attributes": {"algorithm": "linear", "alpha": 2, "beta": 0}},
  {"name": "b", "op": "convolution", "inputs": ["a", "w"], "output": "b",
   "attributes": {"dilations": [5, 5], "groups": 1, "pads": [5, 5, 5, 5],
                  "strides": [1, 1]},
   "post_ops": [{"add": "a"}]},
  {"name": "c", "op": "convolution", "inputs": ["b", "w"], "output": "c",
   "attributes": {"dilations": [1, 1], "groups": 1, "pads": [1, 1, 1, 1],
                  "strides": [1, 1]},
   "post_ops": [{"add": "x"}, {"eltwise": "relu", "alpha": 0, "beta": 0}]},
  {"name": "t", "op": "transpose", "inputs": ["c"], "output": "t",
   "attributes": {"axes": [0, 2, 3, 1]}},
  {"name": "s", "op": "slice", "inputs": ["c"], "output": "s",
   "attributes": {"starts": [0, 2, 0, 0], "ends": [1, 5, 12, 12]}}]})",
                         {{"weights", Zeros({8, 8, 3, 3})}});
  ASSERT_TRUE(module.ok()) << module.status();
  Tensor x = Zeros({1, 8, 12, 12}), t = Zeros({1, 12, 12, 8}),
         s = Zeros({1, 3, 12, 12});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i);
  }
  // All weights are 0, so that c is x.
  for (int run = 0; run < 2; ++run) {
    absl::Status called =
        (*module)->GetFunction("f")->Call({x.dl(), t.dl(), s.dl()});
    ASSERT_TRUE(called.ok()) << called;
    for (int64_t c = 0; c < 8; ++c) {
      for (int64_t i = 0; i < 144; ++i) {
        ASSERT_EQ(t.data<float>()[i * 8 + c], static_cast<float>(c * 144 + i));
        if (c < 2 || c >= 5) continue;
        ASSERT_EQ(s.data<float>()[(c - 2) * 144 + i],
                  static_cast<float>(c * 144 + i));
      }
    }
  }
}

// Codegen leaves such repetition to others; the format allows it.
TEST(DnnlLoader, RepeatsAlongSeparateDimensions) {
  auto module = LoadJson(R"({"format": "ingot-dnnl", "version": 1,
 "symbol": "f", "inputs": ["x", "r"], "outputs": ["y"],
 "tensors": {"x": {"shape": [2, 3, 4]}, "r": {"shape": [2, 1, 4]},
             "y": {"shape": [2, 3, 4]}},
 "nodes": [{"name": "n", "op": "binary", "inputs": ["x", "r"], "output": "y",
            "attributes": {"algorithm": "sub"}}]})");
  ASSERT_TRUE(module.ok()) << module.status();
  Tensor x = Zeros({2, 3, 4}), r = Zeros({2, 1, 4}), y = Zeros({2, 3, 4});
  for (int i = 0; i < 8; ++i) r.mutable_data<float>()[i] = float(i);
  ASSERT_TRUE((*module)->GetFunction("f")->Call({x.dl(), r.dl(), y.dl()}).ok());
  for (int i = 0; i < 24; ++i) {
    ASSERT_EQ(y.data<float>()[i], -float(i / 12 * 4 + i % 4)) << i;
  }
}

TEST(DnnlLoader, EmptyGroupIsNothing) {
  ArtifactSet set;
  LoadContext context{set, nullptr, {}, nullptr};
  auto module = LoadBinaryDnnl({}, context);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(*module, nullptr);
}

struct Damage {
  const char* from;
  const char* to;
  const char* message;
};

TEST(DnnlLoader, RefusesWhatMakesNoSense) {
  const Damage damages[] = {
      {"{\"format\"", "{{", "not JSON"},
      {"ingot-dnnl", "other", "format"},
      {"\"version\": 1", "\"version\": 2", "version 1"},
      {"\"symbol\": \"f\"", "\"symbol\": \"\"", "symbol"},
      {"\"symbol\": \"f\"", "\"symbol\": 3", "symbol must be a string"},
      {"[\"x\"],\n \"outputs\"", "[\"x\", \"x\"],\n \"outputs\"", "input x"},
      {"[\"x\"],\n \"outputs\"", "[\"w\"],\n \"outputs\"", "input w"},
      {"[\"y\"],\n \"tensors\"", "[],\n \"tensors\"", "no outputs"},
      {"[\"y\"],\n \"tensors\"", "[\"z\"],\n \"tensors\"", "output z"},
      {"[\"x\", \"w\"]", "[\"x\"]", "node n1: convolution has 1 operands"},
      {"[\"x\", \"w\"]", "[\"q\", \"w\"]", "tensor q is not declared"},
      {"[\"x\", \"w\"]", "[\"y\", \"w\"]", "before it is written"},
      {"[\"x\", \"w\"]", "[\"x\", 5]", "inputs must hold strings"},
      {"\"output\": \"y\"", "\"output\": \"c\"", "written twice"},
      {"\"output\": \"y\"", "\"output\": \"w\"", "written twice"},
      {"\"convolution\"", "\"conv\"", "no operator 'conv'"},
      {"\"groups\": 1", "\"groups\": 3", "groups=3"},
      {"\"groups\": 1", "\"groups\": 0", "groups=0"},
      {"\"groups\": 1", "\"groups\": [1]", "groups has a wrong value"},
      {"\"groups\": 1, ", "", "groups is missing"},
      {"\"groups\": 1", "\"groups\": 1, \"more\": 1", "no attribute more"},
      {"\"strides\": [1, 1]", "\"strides\": [0, 1]", "strides holds 0"},
      {"\"strides\": [1, 1]", "\"strides\": [1]", "strides must have 2"},
      {"\"strides\": [1, 1]", "\"strides\": [4, 1]", "declared with the shape"},
      {"\"pads\": [1, 1, 1, 1]", "\"pads\": [1, 1, 1, 99999999999]", "pads"},
      {"\"pads\": [1, 1, 1, 1]", "\"pads\": [-1, 1, 1, 1]", "pads holds -1"},
      {"\"pads\": [1, 1, 1, 1]", "\"pads\": [18446744073709551615, 1, 1, 1]",
       "pads"},
      {"\"dilations\": [1, 1]", "\"dilations\": [9, 9]", "does not fit"},
      {"\"relu\"", "\"rel\"", "no element-wise algorithm 'rel'"},
      {"\"alpha\": 0,", "\"alpha\": 1e300,", "out of range"},
      {"\"alpha\": 0,", "\"alpha\": \"a\",", "alpha must be a number"},
      {"{\"eltwise\": \"relu\", \"alpha\": 0, \"beta\": 0}", "{\"add\": \"x\"}",
       "tensor x of shape [1, 4, 6, 6] is added"},
      {"{\"eltwise\": \"relu\", \"alpha\": 0, \"beta\": 0}", "{\"add\": \"y\"}",
       "before it is written"},
      {"{\"eltwise\": \"relu\", \"alpha\": 0, \"beta\": 0}", "7",
       "not an object"},
      {"\"linear\"", "\"no\"", "no element-wise algorithm 'no'"},
      {"\"alpha\": 2", "\"alpha\": 1e300", "alpha has a wrong value"},
      {"\"x\": {\"shape\": [1, 4, 6, 6]}", "\"x\": {\"shape\": []}",
       "0 dimensions"},
      {"\"x\": {\"shape\": [1, 4, 6, 6]}", "\"x\": {\"shape\": [1, 4, 0, 6]}",
       "empty or larger"},
      {"\"x\": {\"shape\": [1, 4, 6, 6]}", "\"x\": {\"shape\": [1, 4, -6, 6]}",
       "empty or larger"},
      {"\"x\": {\"shape\": [1, 4, 6, 6]}",
       "\"x\": {\"shape\": [4294967296, 4294967296, 4294967296, 6]}",
       "empty or larger"},
      {"\"x\": {\"shape\": [1, 4, 6, 6]}", "\"x\": [1, 4, 6, 6]", "tensor x"},
      {"\"constant\": \"weights\"", "\"constant\": \"\"", "names no key"},
      {"\"constant\": \"weights\"", "\"constant\": \"other\"",
       "no constant 'other'"},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.to);
    std::string json = kGood;
    const size_t at = json.find(damage.from);
    ASSERT_NE(at, std::string::npos) << damage.from;
    json.replace(at, std::string(damage.from).size(), damage.to);
    auto module = LoadJson(json, Weights());
    ASSERT_FALSE(module.ok());
    EXPECT_THAT(std::string(module.status().message()),
                testing::AllOf(HasSubstr("region.dnnl.json: "),
                               HasSubstr(damage.message)));
  }
}

TEST(DnnlLoader, ChecksConstants) {
  std::map<std::string, Tensor> weights;
  weights["weights"] = *Tensor::Empty(DataType::Float(32), {8, 4, 3});
  auto module = LoadJson(kGood, weights);
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("tensor w: the constant 'weights' is a f32[8, 4, 3], "
                        "not f32 of 288 elements"));
  weights["weights"] = *Tensor::Empty(DataType::Int(32), {8, 4, 3, 3});
  EXPECT_FALSE(LoadJson(kGood, weights).ok());
}

TEST(DnnlLoader, SurvivesEveryTruncationAndFlippedByte) {
  const std::string good = kGood;
  for (size_t n = 0; n < good.size() - 2; ++n) {
    EXPECT_FALSE(LoadJson(good.substr(0, n), Weights()).ok()) << n;
  }
  int loaded = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'9', '"', ',', '-'}) {
      std::string json = good;
      json[i] = c;
      loaded += LoadJson(json, Weights()).ok();
    }
  }
  EXPECT_GT(loaded, 0);  // names and white space
}

TEST(DnnlLoader, DeepNestingIsAnError) {
  const std::string deep(1 << 20, '[');
  EXPECT_FALSE(LoadJson(deep).ok());
  EXPECT_FALSE(LoadJson(deep + std::string(1 << 20, ']')).ok());
}

}  // namespace
}  // namespace ingot::dnnl_backend
