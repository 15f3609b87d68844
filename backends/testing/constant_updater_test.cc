// The hook constant_updater, from end to end: a backend whose device wants its
// weights in an order of its own. To copy by those who write one; a target with
// a hook that changes nothing, which only keeps its constants, is dnnl.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/builtin.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/function_loader.h"
#include "loaders/load.h"
#include "loaders/text_lines.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Turns each constant of a region around: the device begins at their ends.
absl::Status TurnAround(const Target&, relay::Function* region) {
  for (const auto& node : region->nodes()) {
    if (node->kind != relay::NodeKind::kConstant) continue;
    const auto from = node->constant->values<float>();
    INGOT_ASSIGN_OR_RETURN(
        Tensor turned,
        Tensor::Empty(node->constant->dtype(), node->constant->shape()));
    std::copy(from.rbegin(), from.rend(), turned.mutable_data<float>());
    node->constant = std::move(turned);
  }
  return absl::OkStatus();
}

// "<symbol> shape: <dims> weights: <key>": a sum of an input and a constant.
absl::StatusOr<CodegenResult> Generate(const Target&, const relay::Module&,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  CodegenResult result;
  for (const auto& node : region.nodes()) {
    if (node->kind != relay::NodeKind::kOp) continue;
    INGOT_ASSIGN_OR_RETURN(const int64_t elements,
                           codegen::KnownElements(node->outputs[0]));
    // The key under which the loader finds what the hook made.
    const auto& key = node->inputs[1].node->attrs.Get<std::string>("constant");
    codegen::AddArtifact(
        "turned", "turned", absl::StrCat(symbol, ".turned"),
        absl::StrCat(symbol, " shape: ", elements, " weights: ", key, "\n"),
        &result);
  }
  return result;
}

TargetKind Turned() {
  TargetKind kind;
  kind.name = "turned";
  kind.loaders = {"turned"};
  kind.operators = {"add"};
  kind.supports = [](const Target&, const relay::Node& node) {
    const bool sum = node.inputs[1].node->constant &&
                     node.inputs[0].type().shape.size() == 1;
    return sum ? absl::OkStatus() : absl::UnimplementedError("no sum");
  };
  kind.constant_updater = TurnAround;
  kind.relay_to_runtime = Generate;
  return kind;
}

absl::StatusOr<LoadedFunction> LoadSum(const Artifact& artifact,
                                       LoadContext& context) {
  std::string name;
  TensorSpec type{DataType::Float(32), {}};
  int64_t elements = 0;
  Tensor weights;
  absl::Status read =
      ReadLines(artifact.content.view(), [&](Words words) -> absl::Status {
        name = std::string(words[0]);
        for (absl::string_view key : Behind("weights:", words)) {
          auto it = context.constants.find(std::string(key));
          if (it == context.constants.end()) {
            return Malformed("the set has no constant '", key, "'");
          }
          weights = it->second;
        }
        return ReadShape(Behind("shape:", words), &type.shape, &elements);
      });
  if (!read.ok()) return read;
  if (!weights.defined() || weights.bytes() != elements * sizeof(float)) {
    return Malformed("weights of another size");
  }
  return CheckedFunction(
      name, {{type}, {type}},
      [weights, elements](absl::Span<void* const> tensors) {
        const float* x = static_cast<const float*>(tensors[0]);
        float* y = static_cast<float*>(tensors[1]);
        for (int64_t i = 0; i < elements; ++i) {
          y[i] = x[i] + weights.data<float>()[elements - 1 - i];
        }
        return absl::OkStatus();
      });
}

absl::StatusOr<ArtifactSet> Compile(const std::string& text) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(kinds.Register(Turned()));
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(text));
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets("turned,llvmjit"));
  options.opt_level = 0;
  return CompileModule(module.get(), "test", "", kinds, options);
}

absl::StatusOr<LoadedModel> LoadSet(const ArtifactSet& set) {
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(RegisterBuiltinLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(RegisterFunctionLoader("turned", LoadSum, &loaders));
  return Load(set, loaders);
}

TEST(ConstantUpdater, GeneratesARegionWithKeysForGoldenTexts) {
  ASSERT_EQ(testing_support::AddBackend(
                [](TargetRegistry* kinds) { return kinds->Register(Turned()); },
                nullptr),
            absl::OkStatus());
  const auto set = testing_support::GenerateRegion(
      "turned", R"(module { func @main(%x: f32[2]) -> (%y) {
        %w = const f32[2] {1, 2}
        %y = add(%x, %w)
      } })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(testing_support::TextOf(*set, "turned"),
            "region shape: 2 weights: w\n");
}

// Two regions with one constant, which the host has, too, as it is.
constexpr char kSums[] = R"(module {
  func @main(%x: f32[4]) -> (%y, %z) {
    %w = const f32[4] {1, 2, 3, 4}
    %a = add(%x, %w)
    %e = neg(%a)
    %y = add(%e, %w)
    %z = mul(%x, %w)
  }
})";

TEST(ConstantUpdater, RewritesWhatItsTargetOwns) {
  auto set = Compile(kSums);
  ASSERT_TRUE(set.ok()) << set.status();
  auto model = LoadSet(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  // The host's and the device's, which both regions have.
  ASSERT_EQ(model->constants.size(), 2u);
  std::vector<float> firsts;
  for (const auto& [key, constant] : model->constants) {
    firsts.push_back(constant.data<float>()[0]);
  }
  EXPECT_THAT(firsts, ::testing::UnorderedElementsAre(1, 4));

  Tensor x = *Tensor::Empty(DataType::Float(32), {4});
  for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = 10.f * i;
  auto outputs = testing_support::RunModel(*model, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(0, -10, -20, -30));
  EXPECT_THAT((*outputs)[1].values<float>(), ElementsAre(0, 20, 60, 120));
}

TEST(ConstantUpdater, AKeyThatIsMissingIsNamed) {
  auto set = Compile(kSums);
  ASSERT_TRUE(set.ok()) << set.status();
  ArtifactSet changed;
  changed.mutable_provenance() = set->provenance();
  for (Artifact artifact : set->artifacts()) {
    if (artifact.loader == "turned") {
      artifact.content = Blob::FromString("f shape: 4 weights: none\n");
    }
    ASSERT_TRUE(changed.Add(std::move(artifact)).ok());
  }
  EXPECT_THAT(std::string(LoadSet(changed).status().message()),
              HasSubstr(".turned: line 1: the set has no constant 'none'"));
}

}  // namespace
}  // namespace ingot
