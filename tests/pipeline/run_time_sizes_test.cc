// Operators whose sizes, axes and regions are inputs of the run, compiled for
// every target that makes code for this machine, against the interpreter; the
// operators' own tests compare that with their definitions. Each runs twice
// with one executor, with other numbers the second time.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"
#include "runtime/executor/executor.h"

namespace ingot {
namespace {

using onnx_frontend::Floats;
using onnx_frontend::Longs;
using onnx_frontend::ModelBuilder;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using onnx_frontend::SetString;

// An operator, and its operands in each of several runs.
struct Case {
  std::string op;
  std::function<void(onnx::NodeProto*)> attributes;
  std::vector<std::vector<Tensor>> runs;  // not defined: left out
};

std::vector<Case> Cases() {
  const Tensor none, x = RandomFloats({1, 1, 7, 9}, 1);
  const auto resize = [](const char* mode, const char* coordinates,
                         int64_t antialias) {
    return [=](onnx::NodeProto* n) {
      SetString(n, "mode", mode);
      SetString(n, "coordinate_transformation_mode", coordinates);
      SetInt(n, "antialias", antialias);
    };
  };
  const auto pool = [](onnx::NodeProto* n) {
    SetInts(n, "kernel_shape", {2, 2});
    SetInts(n, "strides", {2, 2});
  };
  const auto irfft = [](onnx::NodeProto* n) {
    SetInt(n, "inverse", 1);
    SetInt(n, "onesided", 1);
  };
  const Tensor theta = RandomFloats({2, 2, 3}, 2);
  const Tensor crop = RandomFloats({4, 7, 3}, 3);
  const Tensor columns = RandomFloats({2, 12, 12}, 4);
  const Tensor signal = RandomFloats({2, 5, 6, 2}, 5);
  const Tensor wave = RandomFloats({2, 40, 1}, 6);
  const Tensor few = Floats({1, 1, 2, 2}, {5, 6, 7, 8});
  const Tensor places = Longs({1, 1, 2, 2}, {5, 7, 13, 15});
  const auto number = [](int64_t n) { return Longs({}, {n}); };
  return {
      {"AffineGrid",
       nullptr,
       {{theta, Longs({4}, {2, 1, 3, 5})}, {theta, Longs({4}, {2, 1, 6, 2})}}},
      {"CenterCropPad",
       nullptr,
       {{crop, Longs({3}, {9, 4, 3})}, {crop, Longs({3}, {2, 8, 6})}}},
      {"Col2Im",
       nullptr,
       {{columns, Longs({2}, {4, 6}), Longs({2}, {2, 3})},
        {columns, Longs({2}, {6, 4}), Longs({2}, {3, 2})}}},
      {"MaxUnpool",
       pool,
       {{few, places, Longs({4}, {1, 1, 5, 5})},
        {few, places, Longs({4}, {1, 1, 3, 6})}}},
      {"DFT",
       nullptr,
       {{signal, number(4), number(1)}, {signal, number(9), number(-2)}}},
      {"DFT", irfft, {{signal, none, number(1)}, {signal, none, number(2)}}},
      {"STFT",
       nullptr,
       {{wave, number(3), none, number(8)},
        {wave, number(5), none, number(16)}}},
      {"MelWeightMatrix",
       nullptr,
       {{number(8), number(16), number(8192), Floats({}, {0}),
         Floats({}, {4096})},
        {number(5), number(64), number(8000), Floats({}, {300}),
         Floats({}, {3000})}}},
      {"Resize",
       resize("linear", "tf_crop_and_resize", 0),
       {{x, Floats({8}, {0, 0, 0.2f, 0.4f, 1, 1, 0.7f, 1.3f}), none,
         Longs({4}, {1, 1, 3, 4})},
        {x, Floats({8}, {0, 0, 0, 0.1f, 1, 1, 0.5f, 1}), none,
         Longs({4}, {1, 1, 5, 2})}}},
      {"Resize",
       resize("cubic", "half_pixel", 1),
       {{x, none, none, Longs({4}, {1, 1, 3, 4})},
        {x, none, none, Longs({4}, {1, 1, 9, 5})}}},
      {"Resize",
       resize("linear", "align_corners", 1),
       {{x, none, Floats({4}, {1, 1, 0.6f, 1.5f})},
        {x, none, Floats({4}, {1, 1, 0.3f, 0.5f})}}},
  };
}

using Param = std::tuple<const char*, size_t>;

class RunTimeSizesTest : public testing::TestWithParam<Param> {};

ModelBuilder ModelOf(const Case& c) {
  ModelBuilder b(22);
  std::vector<std::string> names;
  for (const Tensor& t : c.runs[0]) {
    names.push_back(t.defined() ? "in" + std::to_string(names.size()) : "");
    if (!t.defined()) continue;
    std::vector<std::string> dims;
    for (int64_t d : t.shape()) dims.push_back(std::to_string(d));
    b.Input(names.back(), dims,
            t.dtype().is_float() ? onnx::TensorProto::FLOAT
                                 : onnx::TensorProto::INT64);
  }
  onnx::NodeProto* node = b.Node(c.op, names, {"y"}, "node");
  if (c.attributes != nullptr) c.attributes(node);
  b.Output("y");
  return b;
}

TEST_P(RunTimeSizesTest, AsTheInterpreterSays) {
  const auto [target, index] = GetParam();
  const Case c = Cases()[index];
  absl::StatusOr<relay::Module> module = ImportOnnx(ModelOf(c).Build());
  ASSERT_TRUE(module.ok()) << module.status();
  absl::StatusOr<relay::Module> compiled = ImportOnnx(ModelOf(c).Build());
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto executor = testing_support::CompileAndOpen(&*compiled, target);
  ASSERT_TRUE(executor.ok()) << executor.status();
  for (const std::vector<Tensor>& operands : c.runs) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : operands) {
      if (t.defined()) inputs.push_back(t);
    }
    const auto expected =
        relay::EvaluateFunction(*module, *module->main(), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto actual = (*executor)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_EQ((*actual)[0].TypeString(), (*expected)[0].TypeString());
    const auto a = (*actual)[0].values<float>();
    const auto e = (*expected)[0].values<float>();
    onnx_frontend::ExpectNear({a.begin(), a.end()}, {e.begin(), e.end()},
                              1e-4f);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, RunTimeSizesTest,
    testing::Combine(testing::Values("llvm", "llvmjit", "c"),
                     testing::Range<size_t>(0, Cases().size())),
    [](const auto& info) {
      return std::string(std::get<0>(info.param)) + "_" +
             Cases()[std::get<1>(info.param)].op + "_" +
             std::to_string(std::get<1>(info.param));
    });

}  // namespace
}  // namespace ingot
