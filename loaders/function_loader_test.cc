#include "loaders/function_loader.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Artifact MakeArtifact(const std::string& file_name,
                      const std::string& content) {
  Artifact artifact;
  artifact.codegen_id = "test";
  artifact.loader = "double";
  artifact.file_name = file_name;
  artifact.content = Blob::FromString(content);
  return artifact;
}

// The function that the text names doubles a vector of two, into a scalar that
// the specification calls f32[1] and a vector.
absl::StatusOr<LoadedFunction> LoadDouble(const Artifact& artifact,
                                          LoadContext&) {
  const std::string name(artifact.content.view());
  if (name.empty()) return Malformed("line ", 1, " has no name");
  const TensorSpec two{DataType::Float(32), {2}};
  const TensorSpec one{DataType::Float(32), {1}};
  return CheckedFunction(
      name, {{two}, {one, two}}, [](absl::Span<void* const> tensors) {
        const float* x = static_cast<const float*>(tensors[0]);
        *static_cast<float*>(tensors[1]) = x[0] + x[1];
        for (int i : {0, 1}) static_cast<float*>(tensors[2])[i] = 2 * x[i];
        return absl::OkStatus();
      });
}

absl::StatusOr<std::shared_ptr<Module>> LoadAll(
    const std::vector<Artifact>& group, SharedPlan* plan = nullptr) {
  ArtifactSet set;
  for (const Artifact& artifact : group) {
    EXPECT_TRUE(set.Add(artifact).ok());
  }
  LoaderRegistry loaders;
  EXPECT_TRUE(RegisterFunctionLoader("double", LoadDouble, &loaders).ok());
  EXPECT_EQ(RegisterFunctionLoader("double", LoadDouble, &loaders).code(),
            absl::StatusCode::kAlreadyExists);
  LoadContext context{set, nullptr, {}, nullptr};
  auto module = (**loaders.Find("double"))(group, context);
  if (plan != nullptr) *plan = context.plan;
  return module;
}

TEST(FunctionLoader, CallsWithCheckedArguments) {
  auto module = LoadAll({MakeArtifact("a", "f"), MakeArtifact("b", "g")});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->kind(), "double");
  EXPECT_THAT((*module)->FunctionNames(), ElementsAre("f", "g"));
  const Function g = *(*module)->GetFunction("g");
  const DataType f32 = DataType::Float(32);
  Tensor x = *Tensor::Empty(f32, {2}), y = *Tensor::Empty(f32, {2});
  Tensor sum = *Tensor::Empty(f32, {1}), scalar = *Tensor::Empty(f32, {});
  x.mutable_data<float>()[0] = 3;
  x.mutable_data<float>()[1] = 4;
  EXPECT_EQ(g.Call({x.dl(), sum.dl(), y.dl()}), absl::OkStatus());
  EXPECT_EQ(sum.data<float>()[0], 7);
  EXPECT_THAT(y.values<float>(), ElementsAre(6, 8));
  EXPECT_EQ(g.Call({x.dl(), scalar.dl(), y.dl()}), absl::OkStatus());
  EXPECT_EQ(scalar.data<float>()[0], 7);

  const auto error = [&](std::vector<DLTensor*> args) {
    return std::string(g.Call(args).message());
  };
  EXPECT_THAT(error({x.dl()}), HasSubstr("g takes 3 arguments, not 1"));
  EXPECT_THAT(error({scalar.dl(), sum.dl(), y.dl()}),
              HasSubstr("g: argument 0 must be a dense CPU tensor f32[2]"));
  Tensor ints = *Tensor::Empty(DataType::Int(32), {2});
  EXPECT_THAT(error({x.dl(), sum.dl(), ints.dl()}),
              HasSubstr("g: argument 2 must be a dense CPU tensor f32[2]"));
  // Every other element of four.
  Tensor wide = *Tensor::Empty(f32, {4});
  DLTensor strided = *wide.dl();
  int64_t shape = 2, stride = 2;
  strided.shape = &shape;
  strided.strides = &stride;
  EXPECT_THAT(error({&strided, sum.dl(), y.dl()}),
              HasSubstr("g: argument 0 must be a dense"));
}

TEST(FunctionLoader, AnArtifactThatStandsAloneGetsAPlan) {
  SharedPlan plan;
  ASSERT_TRUE(LoadAll({MakeArtifact("a", "f")}, &plan).ok());
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->entry(), "f");
  EXPECT_EQ(plan->outputs_size(), 2);
  ASSERT_TRUE(
      LoadAll({MakeArtifact("a", "f"), MakeArtifact("b", "g")}, &plan).ok());
  EXPECT_EQ(plan, nullptr);
}

TEST(FunctionLoader, ErrorsNameTheArtifact) {
  EXPECT_EQ(LoadAll({MakeArtifact("a", "f"), MakeArtifact("b", "")}).status(),
            absl::InvalidArgumentError("b: line 1 has no name"));
  const absl::Status twice =
      LoadAll({MakeArtifact("a", "f"), MakeArtifact("b", "f")}).status();
  EXPECT_EQ(twice.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("b: "));
}

}  // namespace
}  // namespace ingot
