// Models with large tensors that are made from nothing but a shape: masks,
// ranges, constants. They compile in less than a second, are not stored, and
// have the elements that ONNX says.
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using onnx_frontend::ModelBuilder;

// A tensor of `value` in the shape that `shape` holds.
void AddConstantOfShape(ModelBuilder* b, const std::vector<int64_t>& shape,
                        float value, const std::string& output) {
  b->Ints(output + "_shape", shape);
  onnx::NodeProto* node =
      b->Node("ConstantOfShape", {output + "_shape"}, {output});
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  a->mutable_t()->add_dims(1);
  a->mutable_t()->add_float_data(value);
}

void AddScalar(ModelBuilder* b, const std::string& name, int64_t value) {
  b->Ints(name, {value})->clear_dims();
}

// y = x + the part above the diagonal of [n, n] elements of -1000.
void AddMask(ModelBuilder* b, int64_t n) {
  const std::string dim = std::to_string(n);
  b->Input("x", {dim, dim});
  AddConstantOfShape(b, {n, n}, -1000, "full");
  AddScalar(b, "k", 1);
  b->Node("Trilu", {"full", "k"}, {"mask"});
  b->Node("Add", {"x", "mask"}, {"y"});
  b->Output("y");
}

absl::StatusOr<ArtifactSet> Compile(const ModelBuilder& builder) {
  const std::clock_t start = std::clock();
  absl::StatusOr<relay::Module> module = ImportOnnx(builder.Build());
  if (!module.ok()) return module.status();
  CompileOptions options;
  options.target_text = "llvm";
  options.targets = *ParseTargets("llvm");
  absl::StatusOr<ArtifactSet> set = CompileModule(
      &*module, "generated", "", testing_support::BuiltinTargets(), options);
  // Counts processor time, since others may share the machine.
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
  return set;
}

int64_t BytesOf(const ArtifactSet& set) {
  int64_t bytes = 0;
  for (const Artifact& artifact : set.artifacts()) {
    bytes += static_cast<int64_t>(artifact.content.view().size());
  }
  return bytes;
}

absl::StatusOr<Tensor> RunOnce(const ArtifactSet& set,
                               const std::vector<Tensor>& inputs) {
  auto executor = testing_support::Open(set);
  if (!executor.ok()) return executor.status();
  auto results = (*executor)->Run(inputs);
  if (!results.ok()) return results.status();
  return (*results)[0];
}

TEST(GeneratedTest, CausalMask) {
  ModelBuilder b;
  AddMask(&b, 1024);
  const auto set = Compile(b);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_LT(BytesOf(*set), 100000);
  Tensor x = *Tensor::Empty(DataType::Float(32), {1024, 1024});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 13);
  }
  const auto y = RunOnce(*set, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const float mask = i % 1024 > i / 1024 ? -1000 : 0;
    ASSERT_EQ(y->data<float>()[i], static_cast<float>(i % 13) + mask) << i;
  }
}

TEST(GeneratedTest, LargeMaskIsNotStored) {
  ModelBuilder b;
  AddMask(&b, 4096);
  const auto set = Compile(b);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_LT(BytesOf(*set), 100000);
}

// Each step alone is at most four times as large as what it is made from.
TEST(GeneratedTest, MaskThatGrowsStepByStepIsNotStored) {
  ModelBuilder b;
  b.Input("x", {"16", "4", "512", "512"});
  AddConstantOfShape(&b, {1, 1, 512, 512}, -1000, "full");
  AddScalar(&b, "k", 1);
  b.Node("Trilu", {"full", "k"}, {"mask"});
  b.Ints("heads", {1, 4, 512, 512});
  b.Ints("some", {4, 4, 512, 512});
  b.Ints("all", {16, 4, 512, 512});
  b.Node("Expand", {"mask", "heads"}, {"mask1"});
  b.Node("Relu", {"mask1"}, {"mask2"});
  b.Ints("twice", {4, 1, 1, 1});
  b.Node("Tile", {"mask2", "twice"}, {"mask3"});
  b.Node("Tile", {"mask3", "twice"}, {"mask4"});
  b.Node("Add", {"x", "mask4"}, {"y"});
  b.Output("y");
  const auto set = Compile(b);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_LT(BytesOf(*set), 2 << 20);
}

TEST(GeneratedTest, Range) {
  constexpr int64_t kCount = 200000;
  ModelBuilder b;
  b.Input("x", {std::to_string(kCount)}, onnx::TensorProto::INT64);
  AddScalar(&b, "start", 5);
  AddScalar(&b, "limit", 5 + 3 * kCount);
  AddScalar(&b, "delta", 3);
  b.Node("Range", {"start", "limit", "delta"}, {"r"});
  b.Node("Add", {"r", "x"}, {"y"});
  b.Output("y");
  const auto set = Compile(b);
  ASSERT_TRUE(set.ok()) << set.status();
  Tensor x = *Tensor::Empty(DataType::Int(64), {kCount});
  for (int64_t i = 0; i < kCount; ++i) x.mutable_data<int64_t>()[i] = i % 7;
  const auto y = RunOnce(*set, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(y->data<int64_t>()[i], 5 + 3 * i + i % 7);
  }
}

TEST(GeneratedTest, MillionElements) {
  ModelBuilder b;
  AddConstantOfShape(&b, {1000, 1000}, 2.5, "y");
  b.Output("y");
  const auto set = Compile(b);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_LT(BytesOf(*set), 100000);
  const auto y = RunOnce(*set, {});
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ(y->NumElements(), 1000000);
  for (float v : y->values<float>()) ASSERT_EQ(v, 2.5f);
}

}  // namespace
}  // namespace ingot
