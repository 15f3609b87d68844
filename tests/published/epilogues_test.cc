// Published models as relay lowers them: the element-wise operators after a
// convolution or a product run while its sums are in registers, or in a small
// array, and not as a second pass over a workspace.
//
// MODELS names the models: NAME=PATH, separated by spaces.
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/driver/lower_function.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/machine/test_machine.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/te/testing/workspaces.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

std::map<std::string, std::string> ModelPaths() {
  std::map<std::string, std::string> paths;
  for (absl::string_view word :
       absl::StrSplit(getenv("MODELS"), ' ', absl::SkipEmpty())) {
    paths.insert(absl::StrSplit(word, absl::MaxSplits('=', 1)));
  }
  return paths;
}

bool HasAnchor(const relay::Function& function) {
  for (const auto& node : function.nodes()) {
    if (node->kind == relay::NodeKind::kOp &&
        node->op->fusion == relay::FusionKind::kAnchor) {
      return true;
    }
  }
  return false;
}

// The model's nodes that a kernel computes.
std::string SourcesOf(const relay::Module& module,
                      const relay::Function& kernel) {
  std::vector<std::string> sources;
  for (const auto& caller : module.functions()) {
    for (const auto& node : caller->nodes()) {
      if (node->callee != kernel.name) continue;
      sources.insert(sources.end(), node->sources.begin(), node->sources.end());
    }
  }
  return absl::StrJoin(sources, ", ");
}

MachineModel Cpu(int vector_bits) {
  MachineModel cpu = TestCpu(vector_bits);
  cpu.l2_bytes = vector_bits == 512 ? 2 << 20 : 512 << 10;
  return cpu;
}

class EpiloguesTest
    : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(EpiloguesTest, RideInRegisters) {
  const auto& [model, vector_bits] = GetParam();
  const std::string path = ModelPaths().at(model);
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ImportOptions options;
  options.model_path = path;
  absl::StatusOr<relay::Module> module = ImportOnnx(*bytes, options);
  ASSERT_TRUE(module.ok()) << module.status();
  relay::PassContext context;
  const MachineModel machine = Cpu(vector_bits);
  context.layouts = te::cpu::CpuLayouts(machine);
  const absl::Status ran =
      relay::RunPasses(relay::DefaultPasses(2), &*module, &context);
  ASSERT_TRUE(ran.ok()) << ran;

  int anchors = 0, second_passes = 0;
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive") || !HasAnchor(*function)) continue;
    ++anchors;
    absl::StatusOr<tir::PrimFunc> kernel = LowerFunction(
        *function, function->name, te::cpu::CpuTemplates(), machine);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    for (const tir::Buffer& workspace : te::WorkspacesOfSums(*kernel)) {
      ++second_passes;
      ADD_FAILURE() << function->name << " keeps sums in the workspace "
                    << workspace->name << "; it computes "
                    << SourcesOf(*module, *function);
    }
  }
  EXPECT_GT(anchors, 0) << "no convolution or product was found";
  RecordProperty("anchors", anchors);
  RecordProperty("second_passes", second_passes);
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ModelPaths()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, EpiloguesTest,
                         testing::Combine(testing::ValuesIn(Models()),
                                          testing::Values(128, 512)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param), "_",
                                               std::get<1>(info.param));
                         });

}  // namespace
}  // namespace ingot
