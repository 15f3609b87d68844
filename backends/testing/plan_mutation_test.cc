// Plans are data that anyone may write: those of real models, changed in one
// place after another, and in two places at once. Each must be refused, fail in
// the run with a status, or run. Nothing may crash, and nothing may read or
// write outside of what the plan was given, which AddressSanitizer watches for
// the runtime; for kernels, whose code it does not see, their own checks of
// what they are called with are tested by structure_test.
//
// INGOT_MUTATION_SHARE=1 tries all changes, n every n-th.
// INGOT_MUTATION_TARGET names a target other than llvm.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/mutate_message.h"
#include "backends/testing/run_model.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"
#include "runtime/plan/shared_plan.h"

namespace ingot::testing_support {
namespace {

// Views, constants, kernels with workspaces, and a random number.
constexpr char kPlain[] = R"(module {
  func @main(%x: f32[n, 4, 4]) -> (%y: "y", %f: "f", %k: "k", %r: "r") {
    %w = const f32[8, 16] random(1)
    %k = const f32[2, 3] random(2)
    %f = reshape(%x) {shape=[n, 16]}
    %d = dense(%f, %w)
    %s = softmax(%d) {axis=1}
    %back = reshape(%s) {shape=[n * 2, 4]}
    %y = relu(%back)
    %state = random_state()
    %r = identity(%state)
  }
})";

// Two symbols that a call relies on being equal, and gathers.
constexpr char kSymbols[] = R"(module {
  func @main(%a: f32[n, k], %b: f32[m, 4], %i: i64[j]) -> (%y: "y", %z: "z") {
    %c = matmul(%a, %b)
    %y = gather(%c, %i) {axis=0}
    %z = add(%y, %y)
  }
})";

// A branch, a loop that carries and stacks, and symbols that calls bind.
constexpr char kDeciding[] = R"(module {
  func @main(%x: f32[n], %m: bool[n], %c: bool[]) -> (%y: "y", %s: "s", %t: "t") {
    %ones = cast(%m) {dtype=i64}
    %count = reduce_sum(%ones) {axes=[0], keepdims=0}
    %dims = bind_dims(%count) {symbols=["?k"]}
    %places = nonzero(%m, %dims) {count=["?k"]}
    %flat = reshape(%places, %dims) {shape=["?k"]}
    %column = unsqueeze(%flat) {axes=[1]}
    %one = gather(%x, %flat)
    %i = if(%c, %one) {else="other", then="twice"} : f32["?r"]
    %n = const i64[] {3}
    %l = loop(%n, %c, %i) {body="grow", carried=1} : (f32["?g"], f32["?h", 1])
    %y = relu(%l#0)
    %t = neg(%l#1)
    %s = identity(%column)
  }
  func @twice(%a: f32["?k"]) -> (%b) {
    %b = add(%a, %a)
  }
  func @other(%a: f32["?k"]) -> (%b) {
    %b = concat(%a, %a) {axis=0}
  }
  func @grow(%number: i64[], %v: f32["?v"]) -> (%go, %w, %first) {
    %go = const bool[] {true}
    %r = neg(%v)
    %w = concat(%r, %v) {axis=0}
    %first = reduce_sum(%v) {axes=[0], keepdims=1}
  }
})";

// Sequences.
constexpr char kSequences[] = R"(module {
  func @main(%x: f32[n], %at: i64[], %c: bool[]) -> (%out: "out", %z: "z", %all: "all", %has: "has") {
    %parts = sequence_split(%x, %at) {axis=0}
    %made = sequence_make(%x, %x) {dtype=f32}
    %more = sequence_insert(%made, %x)
    %less = sequence_erase(%more)
    %zero = const i64[] {0}
    %y = sequence_at(%less, %zero) {shape=["?a"]}
    %z = relu(%y)
    %all = sequence_concat(%less) {axis=0, new_axis=1, shape=["?b", "?d"]}
    %count = sequence_length(%less)
    %has = optional_has_value(%parts)
    %grown = loop(%count, _, %parts, %x) {body="grow", carried=1} : sequence<f32>
    %out = if(%c, %grown) {else="none", then="same"} : sequence<f32>
  }
  func @grow(%number: i64[], %l: sequence<f32>, %v: f32[n]) -> (%go, %now) {
    %go = const bool[] {true}
    %now = sequence_insert(%l, %v)
  }
  func @same(%l: sequence<f32>) -> (%there) {
    %there = optional_get(%l)
  }
  func @none(%l: sequence<f32>) -> (%none) {
    %none = optional_none() {dtype=f32}
  }
})";

struct Model {
  const char* name;
  const char* text;
};
constexpr Model kModels[] = {{"Plain", kPlain},
                             {"Symbols", kSymbols},
                             {"Deciding", kDeciding},
                             {"Sequences", kSequences}};

// A tensor of the declared type, its symbolic dimensions `extent`, with small
// numbers in it.
Tensor MakeInput(const TensorInfo& info, int64_t extent) {
  std::vector<int64_t> shape = info.shape;
  for (int64_t& dim : shape) dim = dim < 0 ? extent : dim;
  int64_t elements = 1;
  for (int64_t dim : shape) {
    // Such an input only has to be refused.
    if (dim != 0 && elements > (1 << 20) / dim) return Tensor();
    elements *= dim;
  }
  Tensor tensor = *Tensor::Empty(info.dtype, shape);
  if (tensor.bytes() > 0) {
    std::memset(tensor.mutable_raw_data(), 0, tensor.bytes());
  }
  for (int64_t i = 0; i < elements; ++i) {
    auto* bytes = static_cast<char*>(tensor.mutable_raw_data());
    // A small number in any type of integer, next to nothing in the others.
    bytes[i * info.dtype.bytes()] = static_cast<char>(i % 3 == 1 ? 0 : 1);
  }
  return tensor;
}

// Creates an executor and runs it with inputs of the shapes that the plan
// declares, twice, so that what one binding leaves behind meets the next.
absl::Status RunPlan(const LoadedModel& model) {
  ExecutorOptions options;
  options.max_storage_bytes = 1 << 24;
  options.max_iterations = 100;
  options.random_seed = 1;
  INGOT_ASSIGN_OR_RETURN(auto executor, CreateExecutor(model, options));
  absl::Status status;
  for (int64_t extent : {4, 0, 5, 5}) {
    for (size_t i = 0; i < executor->inputs().size(); ++i) {
      const TensorInfo& info = executor->inputs()[i];
      absl::Status set = info.is_sequence
                             ? executor->SetInputSequence(
                                   i, TensorSequence{info.dtype, false, {}})
                             : executor->SetInput(i, MakeInput(info, extent));
      if (!set.ok()) return set;
    }
    status = executor->Run();
    if (!status.ok()) continue;
    for (size_t i = 0; i < executor->outputs().size(); ++i) {
      if (executor->outputs()[i].is_sequence) continue;
      status.Update(executor->CopyOutput(i).status());
    }
  }
  return status;
}

int Share() {
  const char* value = std::getenv("INGOT_MUTATION_SHARE");
  return value == nullptr ? 7 : std::max(1, std::atoi(value));
}

// Another target, such as one that a slow checker of memory understands.
const char* Target() {
  const char* value = std::getenv("INGOT_MUTATION_TARGET");
  return value == nullptr ? "llvm" : value;
}

class PlanMutationTest : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    auto module = relay::ReadModule(GetParam().text);
    ASSERT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    auto targets = ParseTargets(Target());
    ASSERT_TRUE(targets.ok()) << targets.status();
    options.targets = *targets;
    auto set =
        CompileModule(module->get(), "model", "", BuiltinTargets(), options);
    ASSERT_TRUE(set.ok()) << set.status();
    auto model = StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    const absl::Status status = RunPlan(model_);
    ASSERT_TRUE(status.ok()) << status;
  }

  LoadedModel model_;
  int ran_ = 0, refused_ = 0;
};

TEST_P(PlanMutationTest, OneChange) {
  const int share = Share();
  int count = 0;
  Plan plan = *model_.plan;
  ForEachMutation(&plan, [&](const std::string& change) {
    if (count++ % share != 0) return;
    SCOPED_TRACE(change);
    model_.plan = SharePlan(plan);
    const absl::Status status = RunPlan(model_);
    ++(status.ok() ? ran_ : refused_);
    EXPECT_FALSE(absl::IsInternal(status)) << status;
  });
  RecordProperty("changes", count);
  std::printf("%d changes: %d ran, %d were refused\n", count, ran_, refused_);
  EXPECT_GT(ran_, 0);
  EXPECT_GT(refused_, count / share / 4);
}

// Two changes at once, drawn by chance: what one check sees alone, the other
// change may have put out of its sight.
TEST_P(PlanMutationTest, TwoChanges) {
  Plan original = *model_.plan;
  int total = 0;
  ForEachMutation(&original, [&](const std::string&) { ++total; });
  std::mt19937 random(static_cast<uint32_t>(total));
  const int rounds = 1000 / Share();
  for (int round = 0; round < rounds; ++round) {
    int first = static_cast<int>(random() % static_cast<uint32_t>(total));
    Plan changed;
    ForEachMutation(&original, [&](const std::string&) {
      if (first-- == 0) changed = original;
    });
    int second_total = 0;
    ForEachMutation(&changed, [&](const std::string&) { ++second_total; });
    int second =
        static_cast<int>(random() % static_cast<uint32_t>(second_total));
    LoadedModel copy = model_;
    ForEachMutation(&changed, [&](const std::string&) {
      if (second-- == 0) copy.plan = SharePlan(changed);
    });
    const absl::Status status = RunPlan(copy);
    ++(status.ok() ? ran_ : refused_);
    EXPECT_FALSE(absl::IsInternal(status)) << status;
  }
  EXPECT_GT(refused_, rounds / 4);
}

std::string ModelName(const ::testing::TestParamInfo<Model>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Models, PlanMutationTest, ::testing::ValuesIn(kModels),
                         ModelName);

}  // namespace
}  // namespace ingot::testing_support
