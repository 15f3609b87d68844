// Dimensions that a model has as symbols though its operators need more of
// them: a run with others ends with an error that names the node, before
// anything is read. ONNX Runtime refuses each of these runs too.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using onnx_frontend::ModelBuilder;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor Ones(const std::vector<int64_t>& shape) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<float>()[i] = 1;
  }
  return tensor;
}

std::vector<float> Many(size_t count, float value) {
  return std::vector<float>(count, value);
}

// The model, compiled by default.
std::unique_ptr<GraphExecutor> Compiled(const ModelBuilder& builder) {
  absl::StatusOr<relay::Module> module = ImportOnnx(builder.Build());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      testing_support::CompileAndOpen(&*module, "llvm");
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

// Tensors of ones, of these shapes.
absl::StatusOr<std::vector<Tensor>> RunOn(
    GraphExecutor* executor, const std::vector<std::vector<int64_t>>& shapes) {
  if (executor == nullptr) return absl::UnknownError("it does not compile");
  std::vector<Tensor> inputs;
  for (const auto& shape : shapes) inputs.push_back(Ones(shape));
  return executor->Run(inputs);
}

void ExpectFloats(const absl::StatusOr<std::vector<Tensor>>& outputs,
                  const std::vector<int64_t>& shape, float value) {
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].shape(), testing::ElementsAreArray(shape));
  for (float v : (*outputs)[0].values<float>()) EXPECT_NEAR(v, value, 1e-4);
}

void ExpectRefused(const absl::StatusOr<std::vector<Tensor>>& outputs,
                   const char* node) {
  EXPECT_TRUE(absl::IsInvalidArgument(outputs.status())) << outputs.status();
  EXPECT_THAT(std::string(outputs.status().message()), HasSubstr(node));
}

TEST(AssumptionsTest, ChannelsOfABatchNorm) {
  for (int64_t channels : {1, 3}) {
    SCOPED_TRACE(channels);
    ModelBuilder b(15);
    b.Input("x", {"n", "c", "2"});
    for (const char* name : {"scale", "bias", "mean"}) {
      b.Floats(name, {channels}, Many(channels, 0.5f));
    }
    b.Floats("var", {channels}, Many(channels, 1));
    b.Node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"},
           "norm");
    b.Output("y");
    const auto executor = Compiled(b);
    ExpectFloats(RunOn(executor.get(), {{2, channels, 2}}), {2, channels, 2},
                 0.75f);
    for (int64_t other : {1, 2, 3, 4}) {
      if (other == channels) continue;
      ExpectRefused(RunOn(executor.get(), {{2, other, 2}}), "norm");
    }
  }
}

TEST(AssumptionsTest, HeadsWhoseSizeOnlyTheKeysTell) {
  ModelBuilder b(23);
  b.Input("q", {"n", "1", "s", "d"}).Output("y");
  b.Floats("k", {1, 1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0});
  b.Floats("v", {1, 1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0});
  b.Node("Attention", {"q", "k", "v"}, {"y"}, "attention");
  const auto executor = Compiled(b);
  // Scores of 4 and 0, scaled by 1 / sqrt(4).
  ExpectFloats(RunOn(executor.get(), {{1, 1, 3, 4}}), {1, 1, 3, 4},
               static_cast<float>(1 / (1 + std::exp(-2.0))));
  ExpectRefused(RunOn(executor.get(), {{1, 1, 3, 5}}), "attention");
}

TEST(AssumptionsTest, PartsOfASplit) {
  ModelBuilder b;
  b.Input("x", {"n", "3"}).Output("first").Output("second");
  b.Ints("sizes", {2, 3});
  b.Node("Split", {"x", "sizes"}, {"first", "second"}, "split");
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{5, 3}}), {2, 3}, 1);
  ExpectRefused(RunOn(executor.get(), {{4, 3}}), "split");
  ExpectRefused(RunOn(executor.get(), {{0, 3}}), "split");
}

TEST(AssumptionsTest, ChannelsOfAConvolution) {
  ModelBuilder b;
  b.Input("x", {"n", "c", "h", "w"}).Output("y");
  b.Floats("kernel", {2, 3, 1, 1}, Many(6, 2));
  b.Node("Conv", {"x", "kernel"}, {"y"}, "conv");
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{1, 3, 4, 5}}), {1, 2, 4, 5}, 6);
  ExpectRefused(RunOn(executor.get(), {{1, 2, 4, 5}}), "conv");
  ExpectRefused(RunOn(executor.get(), {{1, 4, 4, 5}}), "conv");
}

TEST(AssumptionsTest, KernelOfSymbols) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    for (int64_t groups : {1, 2}) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(groups));
      const bool transposed = std::string(op) == "ConvTranspose";
      ModelBuilder b;
      b.Input("x", {"n", "c", "h", "w"}).Input("k", {"a", "b", "d", "e"});
      b.Input("bias", {"m"}).Output("y");
      onnx::NodeProto* node = b.Node(op, {"x", "k", "bias"}, {"y"}, "conv");
      SetInts(node, "kernel_shape", {1, 2});
      SetInts(node, "strides", {1, 2});
      SetInt(node, "group", groups);
      const auto executor = Compiled(b);
      const auto kernel = [&](int64_t in, int64_t out, int64_t h, int64_t w) {
        return transposed ? std::vector<int64_t>{in, out / groups, h, w}
                          : std::vector<int64_t>{out, in / groups, h, w};
      };
      // A product of ones: in channels, by two taps where they meet.
      const float sum = static_cast<float>(4 / groups * (transposed ? 1 : 2));
      const std::vector<int64_t> shape = {2, 6, 3, transposed ? 34 : 8};
      ExpectFloats(
          RunOn(executor.get(), {{2, 4, 3, 17}, kernel(4, 6, 1, 2), {6}}),
          shape, sum + 1);
      for (const auto& odd : {kernel(2, 6, 1, 2), kernel(4, 6, 2, 1),
                              kernel(4, 6, 2, 2), kernel(4, 8, 1, 2)}) {
        ExpectRefused(RunOn(executor.get(), {{2, 4, 3, 17}, odd, {6}}), "conv");
      }
      if (groups == 2) {  // three channels are no two groups
        ExpectRefused(RunOn(executor.get(), {{2, 4, 3, 17}, {3, 2, 1, 2}, {3}}),
                      "conv");
      }
    }
  }
}

TEST(AssumptionsTest, GemmsAddend) {
  ModelBuilder b;
  b.Input("x", {"n", "3"}).Output("y");
  b.Floats("w", {3, 5}, Many(15, 1));
  b.Floats("c", {4, 5}, Many(20, 1));
  b.Node("Gemm", {"x", "w", "c"}, {"y"}, "gemm");
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{4, 3}}), {4, 5}, 4);
  // numpy would repeat the product; Gemm does not.
  ExpectRefused(RunOn(executor.get(), {{1, 3}}), "gemm");
  ExpectRefused(RunOn(executor.get(), {{2, 3}}), "gemm");
}

TEST(AssumptionsTest, WeightsOfARecurrentLayer) {
  ModelBuilder b(22);
  b.Input("x", {"t", "n", "i"}).Input("w", {"d", "g", "j"});
  b.Input("r", {"e", "f", "h"}).Input("h0", {"q", "o", "p"}).Output("y");
  onnx::NodeProto* node =
      b.Node("RNN", {"x", "w", "r", "", "", "h0"}, {"y"}, "rnn");
  SetInt(node, "hidden_size", 2);
  const auto executor = Compiled(b);
  using Shapes = std::vector<std::vector<int64_t>>;
  const Shapes fit = {{1, 3, 4}, {1, 2, 4}, {1, 2, 2}, {1, 3, 2}};
  ExpectFloats(RunOn(executor.get(), fit), {1, 1, 3, 2},
               0.99998771f);  // tanh(6)
  const std::vector<std::pair<int, std::vector<int64_t>>> odd = {
      {1, {1, 4, 2}}, {1, {1, 2, 5}}, {2, {1, 1, 4}}, {2, {1, 4, 1}},
      {2, {2, 1, 2}}, {3, {1, 2, 3}}, {3, {1, 1, 2}}};
  for (const auto& [operand, shape] : odd) {
    Shapes shapes = fit;
    shapes[operand] = shape;
    ExpectRefused(RunOn(executor.get(), shapes), "rnn");
  }
}

// Elements are made of an axis' elements, of which a run may find none.
TEST(AssumptionsTest, ElementsToResample) {
  ModelBuilder b(19);
  b.Input("x", {"n", "w"}).Input("like", {"m", "v"}).Output("y");
  b.Node("Shape", {"like"}, {"sizes"}, "shape");
  b.Node("Resize", {"x", "", "", "sizes"}, {"y"}, "resize");
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{2, 3}, {3, 5}}), {3, 5}, 1);
  ExpectFloats(RunOn(executor.get(), {{0, 3}, {0, 5}}), {0, 5}, 1);
  ExpectFloats(RunOn(executor.get(), {{2, 3}, {0, 5}}), {0, 5}, 1);
  ExpectRefused(RunOn(executor.get(), {{0, 3}, {1, 5}}), "resize");
  ExpectRefused(RunOn(executor.get(), {{2, 0}, {3, 5}}), "resize");
}

TEST(AssumptionsTest, ElementsOfAnImage) {
  ModelBuilder b(20);
  b.Input("x", {"n", "c", "h", "w"}).Input("grid", {"n", "p", "q", "2"});
  b.Output("y");
  b.Node("GridSample", {"x", "grid"}, {"y"}, "sample");
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{1, 2, 3, 3}, {1, 1, 2, 2}}),
               {1, 2, 1, 2}, 0.25f);
  ExpectRefused(RunOn(executor.get(), {{1, 2, 0, 3}, {1, 1, 2, 2}}), "sample");
  ExpectRefused(RunOn(executor.get(), {{1, 2, 3, 0}, {1, 1, 2, 2}}), "sample");
}

TEST(AssumptionsTest, AsManyAsTheTopOnes) {
  ModelBuilder b;
  b.Input("x", {"n", "3"}).Output("y").Output("places");
  b.Ints("k", {2});
  SetInt(b.Node("TopK", {"x", "k"}, {"y", "places"}, "top"), "axis", 0);
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{2, 3}}), {2, 3}, 1);
  ExpectRefused(RunOn(executor.get(), {{1, 3}}), "top");
  ExpectRefused(RunOn(executor.get(), {{0, 3}}), "top");
}

TEST(AssumptionsTest, WholeBlocks) {
  ModelBuilder b;
  b.Input("x", {"n", "c", "h", "w"}).Output("deep").Output("wide");
  SetInt(b.Node("SpaceToDepth", {"x"}, {"deep"}, "deepen"), "blocksize", 2);
  SetInt(b.Node("DepthToSpace", {"x"}, {"wide"}, "widen"), "blocksize", 2);
  const auto executor = Compiled(b);
  ExpectFloats(RunOn(executor.get(), {{1, 4, 2, 6}}), {1, 16, 1, 3}, 1);
  ExpectRefused(RunOn(executor.get(), {{1, 4, 3, 6}}), "deepen");
  ExpectRefused(RunOn(executor.get(), {{1, 4, 2, 5}}), "deepen");
  ExpectRefused(RunOn(executor.get(), {{1, 3, 2, 6}}), "widen");
}

}  // namespace
}  // namespace ingot
