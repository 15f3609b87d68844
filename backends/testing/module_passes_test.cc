// Passes that a target brings, from end to end: a backend that sees all of its
// regions at once before the first of them becomes loops. To copy by those who
// write one. This one makes equal regions one, so that the set holds their
// kernel once; hooks that see one region at a time could not.

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/builtin.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The calls that the hooks of one kind got.
struct Log {
  std::vector<size_t> regions;       // how many, for each run of the pass
  std::vector<std::string> lowered;  // symbols
};

// The operator of a region of this backend.
const relay::Node& OperatorOf(const relay::Function& region) {
  return *region.outputs[0].node;
}

// Calls of a region whose operator, attributes and types another one has, too,
// become calls of that one.
absl::StatusOr<bool> ShareEqualRegions(
    absl::Span<relay::Function* const> regions, relay::Module* module) {
  std::map<std::string, std::string> first;    // description -> region
  std::map<std::string, std::string> instead;  // region -> an equal one
  for (const relay::Function* region : regions) {
    const relay::Node& node = OperatorOf(*region);
    const std::string description =
        absl::StrCat(node.op->name, relay::Print(node.attrs), " ",
                     relay::ToString(node.inputs[0].type()));
    const auto [it, is_new] = first.emplace(description, region->name);
    if (!is_new) instead[region->name] = it->second;
  }
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) {
      const auto it = instead.find(node->callee);
      if (it != instead.end()) node->callee = it->second;
    }
  }
  for (const auto& [region, other] : instead) module->RemoveFunction(region);
  return !instead.empty();
}

// y[i] = tanh(x[i])
absl::StatusOr<LoweredRegion> Lower(const relay::Function& region,
                                    absl::string_view symbol) {
  const relay::TensorType& type = region.outputs[0].type();
  const tir::Buffer x =
      tir::MakeBuffer("x", type.dtype, type.shape, tir::Scope::kParam);
  const tir::Buffer y =
      tir::MakeBuffer("y", type.dtype, type.shape, tir::Scope::kParam);
  const tir::VarPtr i = tir::MakeVar("i");
  tir::PrimFunc func;
  func.name = std::string(symbol);
  func.params = {x, y};
  func.num_outputs = 1;
  func.body = tir::MakeFor(
      i, tir::MakeInt(0), type.shape[0], tir::ForKind::kSerial,
      tir::MakeStore(
          y, {i},
          tir::MakeCall(tir::Intrinsic::kTanh, {tir::MakeLoad(x, {i})})));
  LoweredRegion result;
  result.functions.push_back(std::move(func));
  return result;
}

// A kind that takes tanh of vectors and runs `pass` over its regions.
TargetKind Sharing(Log* log, decltype(ShareEqualRegions)* pass) {
  TargetKind kind;
  kind.name = "sharing";
  kind.operators = {"tanh"};
  kind.module_passes = {
      {"share_equal_regions", "make equal regions one",
       [=](const Target&, absl::Span<relay::Function* const> regions,
           relay::Module* module) {
         log->regions.push_back(regions.size());
         return pass(regions, module);
       }}};
  kind.relay_to_tir = [log](const Target&, const relay::Module&,
                            const relay::Function& region,
                            absl::string_view symbol) {
    log->lowered.emplace_back(symbol);
    return Lower(region, symbol);
  };
  return kind;
}

absl::StatusOr<ArtifactSet> Compile(TargetKind kind, const std::string& text) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(kinds.Register(std::move(kind)));
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(text));
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets("sharing,llvmjit"));
  options.opt_level = 0;
  return CompileModule(module.get(), "test", "", kinds, options);
}

// Three regions, two of which are equal.
constexpr char kThreeRegions[] = R"(module {
  func @main(%x: f32[4], %z: f32[2]) -> (%y, %w) {
    %a = tanh(%x)
    %b = neg(%a)
    %y = tanh(%b)
    %w = tanh(%z)
  }
})";

TEST(ModulePasses, SeeAllRegionsBeforeTheFirstBecomesLoops) {
  Log log;
  auto set = Compile(Sharing(&log, ShareEqualRegions), kThreeRegions);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(log.regions, ElementsAre(3));
  EXPECT_EQ(log.lowered.size(), 2u);

  LoaderRegistry loaders;
  ASSERT_TRUE(RegisterCoreLoaders(&loaders).ok());
  ASSERT_TRUE(RegisterBuiltinLoaders(&loaders).ok());
  auto model = Load(*set, loaders);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {4});
  Tensor z = *Tensor::Empty(DataType::Float(32), {2});
  for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = 0.5f * i;
  for (int i = 0; i < 2; ++i) z.mutable_data<float>()[i] = -1.5f * i;
  auto outputs = testing_support::RunModel(*model, {x, z});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR((*outputs)[0].data<float>()[i], std::tanh(-std::tanh(0.5 * i)),
                1e-6);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR((*outputs)[1].data<float>()[i], std::tanh(-1.5 * i), 1e-6);
  }
}

TEST(ModulePasses, AreNotRunWithoutRegions) {
  Log log;
  auto set = Compile(Sharing(&log, ShareEqualRegions),
                     "module { func @main(%x: f32[4]) -> (%y) {"
                     " %y = neg(%x) } }");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(log.regions, ElementsAre());
}

TEST(ModulePasses, ErrorsNameTargetAndPass) {
  Log log;
  EXPECT_THAT(
      std::string(Compile(Sharing(&log,
                                  [](absl::Span<relay::Function* const>,
                                     relay::Module*) -> absl::StatusOr<bool> {
                                    return absl::ResourceExhaustedError(
                                        "no room for 3 tables");
                                  }),
                          kThreeRegions)
                      .status()
                      .message()),
      HasSubstr("target sharing, pass share_equal_regions: no room for 3"));
  EXPECT_THAT(log.lowered, ElementsAre());
}

// Calls of a function that is gone.
TEST(ModulePasses, WhatTheyMakeIsVerified) {
  Log log;
  EXPECT_THAT(
      std::string(
          Compile(Sharing(&log,
                          [](absl::Span<relay::Function* const> regions,
                             relay::Module* module) -> absl::StatusOr<bool> {
                            module->RemoveFunction(regions[0]->name);
                            return true;
                          }),
                  kThreeRegions)
              .status()
              .message()),
      HasSubstr("target sharing, pass share_equal_regions: "));
  EXPECT_THAT(log.lowered, ElementsAre());
}

}  // namespace
}  // namespace ingot
