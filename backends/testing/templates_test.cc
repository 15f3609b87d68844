// A kind of target for a machine of its own, from end to end: it brings a model
// of the machine and one template of schedules, and nothing else of Ingot knows
// of either. To copy by those who write one. Code is llvmjit's, so that the
// test can run it.

#include <string>
#include <utility>
#include <vector>

#include "backends/builtin.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/target/target.h"
#include "compiler/te/schedule_template.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;

// Element-wise operations in vectors, of the whole register or half of it; adds
// the parameters that were built to `built`.
te::ScheduleTemplate Elementwise(std::vector<std::string>* built) {
  te::ScheduleTemplate t;
  t.name = "toy.elementwise";
  t.scope = te::TemplateScope::kStage;
  t.matches = [](const te::ScheduleSite& site) {
    return site.stage.op().kind == te::OperationKind::kCompute &&
           site.stage.axes().size() == 1;
  };
  t.space = [](const te::ScheduleSite& site) {
    const int64_t lanes = site.machine.lanes(site.stage.output().dtype().bits);
    te::ScheduleSpace space;
    space.parameters = {{"lanes", {lanes / 2, lanes}}};
    space.cost = [](const te::ScheduleChoice& choice) {
      return 1.0 / static_cast<double>(choice.Get("lanes"));
    };
    return space;
  };
  t.build = [built](te::Schedule*, te::Stage* stage,
                    const te::ScheduleChoice& choice, const MachineModel&) {
    auto [outer, inner] = stage->Split(stage->axis(0), choice.Get("lanes"));
    stage->Vectorize(inner);
    built->push_back(choice.ToString());
  };
  return t;
}

// The kind that makes code, with `templates` and no layouts of its own.
TargetKind Toy(const TargetRegistry& kinds,
               std::vector<te::ScheduleTemplate> templates) {
  TargetKind kind = **kinds.Find("llvmjit");
  kind.name = "toy";
  kind.machine = [](const Target&) -> absl::StatusOr<MachineModel> {
    MachineModel machine;
    machine.vector_bits = 256;
    return machine;
  };
  kind.templates = std::move(templates);
  kind.layouts = nullptr;
  return kind;
}

// y = 2 x + 1 and the sums of pairs of neighbours as a convolution, whose
// layout stays as it is.
constexpr char kModel[] = R"(module {
  func @main(%x: f32[20], %z: f32[1, 1, 4, 1]) -> (%y, %s) {
    %two = const f32[] {2}
    %one = const f32[] {1}
    %d = mul(%x, %two)
    %y = add(%d, %one)
    %w = const f32[1, 1, 2, 1] {1, 1}
    %s = conv2d(%z, %w)
  }
})";

// The outputs of the model on x = 0, 1, 2, … and z = 1, 2, 3, 4.
absl::StatusOr<std::vector<Tensor>> RunToy(
    std::vector<te::ScheduleTemplate> templates) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  INGOT_RETURN_IF_ERROR(kinds.Register(Toy(kinds, std::move(templates))));
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(kModel));
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets("toy"));
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(module.get(), "test", "", kinds, options));
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(RegisterBuiltinLoaders(&loaders));
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model, Load(set, loaders));
  Tensor x = *Tensor::Empty(DataType::Float(32), {20});
  Tensor z = *Tensor::Empty(DataType::Float(32), {1, 1, 4, 1});
  for (int i = 0; i < 20; ++i) x.mutable_data<float>()[i] = i;
  for (int i = 0; i < 4; ++i) z.mutable_data<float>()[i] = i + 1;
  return testing_support::RunModel(model, {x, z});
}

void ExpectRight(const absl::StatusOr<std::vector<Tensor>>& outputs) {
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ((*outputs)[0].data<float>()[i], 2 * i + 1);
  }
  EXPECT_THAT((*outputs)[1].values<float>(), ElementsAre(3, 5, 7));
}

TEST(Templates, SchedulesTheirMachine) {
  std::vector<std::string> built;
  ExpectRight(RunToy({Elementwise(&built)}));
  // 8 lanes of f32 in 256 bits.
  EXPECT_THAT(built, ElementsAre("lanes=8"));
}

TEST(Templates, WithoutAnyLoopsArePlain) { ExpectRight(RunToy({})); }

}  // namespace
}  // namespace ingot
