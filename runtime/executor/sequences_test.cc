// Plans with sequences: steps on them, as inputs and outputs, in branches and
// loops.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/sequence_plans.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);

template <typename T>
Tensor Make(DataType type, std::vector<int64_t> shape, std::vector<T> values) {
  Tensor tensor = *Tensor::Empty(type, shape);
  if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  }
  return tensor;
}
Tensor Floats(std::vector<float> v) {
  return Make<float>(kF32, {static_cast<int64_t>(v.size())}, v);
}
Tensor Scalar(float v) { return Make<float>(kF32, {}, {v}); }
Tensor Number(int64_t v) { return Make<int64_t>(kI64, {}, {v}); }
Tensor Flag(bool v) { return Make<char>(DataType::Bool(), {}, {v}); }
TensorSequence ListOf(std::vector<Tensor> tensors) {
  return {kF32, false, std::move(tensors)};
}

std::unique_ptr<GraphExecutor> Create(const Plan& plan,
                                      uint64_t most_bytes = 1 << 20) {
  ExecutorOptions options;
  options.max_storage_bytes = most_bytes;
  auto executor = GraphExecutor::Create(
      SharePlan(plan), nullptr,
      [](absl::string_view) -> absl::StatusOr<Tensor> { return Flag(true); },
      options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

std::vector<float> First(const TensorSequence& sequence) {
  std::vector<float> first;
  for (const Tensor& tensor : sequence.tensors) {
    first.push_back(tensor.NumElements() > 0 ? tensor.values<float>()[0] : -1);
  }
  return first;
}

TEST(Sequences, StepsFollowTheData) {
  auto executor = Create(InsertAndAt());
  EXPECT_EQ(executor->inputs()[0].TypeString(), "sequence<f32>");
  EXPECT_TRUE(executor->outputs()[0].is_sequence);
  const TensorSequence sequence = ListOf({Floats({1, 2, 3}), Floats({})});
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(executor->SetInputSequence(0, sequence).ok());
    ASSERT_TRUE(executor->SetInput(1, Floats({7, 8})).ok());
    for (auto [at, values] : std::vector<std::pair<int, std::vector<float>>>{
             {0, {1, 2, 3}}, {1, {}}, {2, {7, 8}}, {-3, {1, 2, 3}}}) {
      ASSERT_TRUE(executor->SetInput(2, Number(at)).ok());
      const absl::Status status = executor->Run();
      ASSERT_TRUE(status.ok()) << status;
      const Tensor y = *executor->GetOutput(1);
      EXPECT_THAT(y.values<float>(), testing::ElementsAreArray(values));
      EXPECT_THAT(executor->GetOutput(2)->values<int64_t>(), ElementsAre(3));
      EXPECT_THAT(First(*executor->GetOutputSequence(0)),
                  ElementsAre(1, -1, 7));
    }
  }
}

// A sequence of many copies of one tensor is as large as they are together.
TEST(Sequences, CopiesCountEach) {
  std::string args;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&args, "args: 0 ");
  const Plan plan = ParsePlan(absl::StrCat(
      TensorText("x", absl::StrCat(kFloats, " shape { value: 1024 }"),
                 "input: 0"),
      TensorText("sequence", kFloats, "is_sequence: true"),
      "inputs: 0 outputs: 1 calls { ", args,
      "args: 1 num_outputs: 1 sequence { op: 'sequence_make' } }"));
  ExecutorOptions options;
  options.max_storage_bytes = 4096 * 999;
  for (bool enough : {false, true}) {
    auto executor =
        *GraphExecutor::Create(SharePlan(plan), nullptr, nullptr, options);
    ASSERT_TRUE(
        executor->SetInput(0, Floats(std::vector<float>(1024, 1))).ok());
    EXPECT_EQ(
        executor->Run().code(),
        enough ? absl::StatusCode::kOk : absl::StatusCode::kResourceExhausted);
    options.max_storage_bytes = 4096 * 1000;
  }
}

TEST(Sequences, RunsSayWhatIsOff) {
  auto executor = Create(InsertAndAt());
  const auto run = [&](TensorSequence sequence, int64_t at) {
    EXPECT_TRUE(executor->SetInputSequence(0, std::move(sequence)).ok());
    EXPECT_TRUE(executor->SetInput(1, Floats({7})).ok());
    EXPECT_TRUE(executor->SetInput(2, Number(at)).ok());
    return std::string(executor->Run().message());
  };
  EXPECT_EQ(run(ListOf({}), 1),
            "call 1 (sequence_at, for At_1): position 1 in a sequence of 1");
  EXPECT_EQ(
      run(ListOf({Scalar(1)}), 0),
      "call 1 (sequence_at, for At_1): the result is f32[], expected one of "
      "1 dimensions");
  EXPECT_EQ(run({kF32, true, {}}, 0),
            "call 0 (sequence_insert, for Insert_0): the optional value is not "
            "there");
  // A sequence is no smaller for its tensors being held elsewhere.
  auto small = Create(InsertAndAt(), 100);
  ASSERT_TRUE(small->SetInputSequence(0, ListOf({Floats({1})})).ok());
  ASSERT_TRUE(small->SetInput(1, Floats(std::vector<float>(30))).ok());
  ASSERT_TRUE(small->SetInput(2, Number(0)).ok());
  EXPECT_EQ(small->Run().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Sequences, InputsAndOutputsAreWhatTheyAre) {
  auto executor = Create(InsertAndAt());
  const auto message = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message(executor->SetInput(0, Floats({1}))),
            "input 0 ('sequence'): expected sequence<f32>, got f32[1]");
  EXPECT_EQ(message(executor->SetInputSequence(1, ListOf({}))),
            "input 1 ('x'): expected f32[N], got sequence<f32> of 0");
  EXPECT_EQ(
      message(executor->SetInputSequence(0, {kI64, false, {}})),
      "input 0 ('sequence'): expected sequence<f32>, got sequence<i64> of 0");
  EXPECT_THAT(message(executor->SetInputSequence(0, ListOf({Number(1)}))),
              HasSubstr("its tensor 0 is i64[], not f32"));
  EXPECT_THAT(message(executor->SetInputSequence(3, ListOf({}))),
              HasSubstr("there is no input 3"));
  EXPECT_THAT(message(executor->GetOutput(0).status()),
              HasSubstr("output 0 ('more') is a sequence"));
  EXPECT_THAT(message(executor->GetOutputSequence(1).status()),
              HasSubstr("output 1 ('y') is no sequence"));
  EXPECT_EQ(executor->GetOutputSequence(0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(executor->SetInput(1, Floats({1})).ok());
  ASSERT_TRUE(executor->SetInput(2, Number(0)).ok());
  EXPECT_THAT(std::string(executor->Run().message()),
              HasSubstr("input 0 ('sequence') was not set"));
}

TEST(Sequences, GrowInLoopsAndLeaveBranches) {
  auto executor = Create(LoopAndBranch());
  const auto run = [&](int64_t count, bool keep) {
    EXPECT_TRUE(executor->SetInput(0, Number(count)).ok());
    EXPECT_TRUE(executor->SetInputSequence(1, ListOf({Scalar(5)})).ok());
    EXPECT_TRUE(executor->SetInput(2, Flag(keep)).ok());
    EXPECT_TRUE(executor->SetInput(3, Scalar(static_cast<float>(count))).ok());
    const absl::Status status = executor->Run();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(First(*executor->GetOutputSequence(1)), ElementsAre(5));
    return *executor->GetOutputSequence(0);
  };
  // Iteration k puts it in front of position k.
  EXPECT_THAT(First(run(3, true)), ElementsAre(3, 3, 3, 5));
  EXPECT_TRUE(run(2, false).missing);
  EXPECT_THAT(First(run(0, true)), ElementsAre(5));
  EXPECT_THAT(First(run(1, true)), ElementsAre(1, 5));
  // Outputs can be fed back.
  ASSERT_TRUE(executor->SetInputValue(1, *executor->GetOutputValue(0)).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(First(*executor->GetOutputSequence(0)), ElementsAre(1, 1, 5));
}

TEST(Sequences, GrowInPlace) {
  auto executor = Create(InPlace(LoopAndBranch()));
  const TensorSequence start = ListOf({Scalar(5)});
  ASSERT_TRUE(executor->SetInputSequence(1, start).ok());
  ASSERT_TRUE(executor->SetInput(2, Flag(true)).ok());
  for (int64_t count : {0, 1, 3, 0, 4}) {
    ASSERT_TRUE(executor->SetInput(0, Number(count)).ok());
    ASSERT_TRUE(executor->SetInput(3, Scalar(static_cast<float>(count))).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    std::vector<float> grown(count, static_cast<float>(count));
    grown.push_back(5);
    EXPECT_EQ(First(*executor->GetOutputSequence(0)), grown);
    // The sequence that the loop begins with is an output too, and the
    // caller's.
    EXPECT_THAT(First(*executor->GetOutputSequence(1)), ElementsAre(5));
    EXPECT_THAT(First(start), ElementsAre(5));
  }
}

// Many tensors, each counted when it comes: the limit still holds.
TEST(Sequences, GrowToTheLimit) {
  for (int64_t limit : {4 * 1000, 4 * 1000 + 4}) {
    auto executor = Create(InPlace(LoopAndBranch()), limit);
    ASSERT_TRUE(executor->SetInput(0, Number(1000)).ok());
    ASSERT_TRUE(executor->SetInputSequence(1, ListOf({Scalar(5)})).ok());
    ASSERT_TRUE(executor->SetInput(2, Flag(true)).ok());
    ASSERT_TRUE(executor->SetInput(3, Scalar(1)).ok());
    EXPECT_EQ(executor->Run().code(), limit == 4 * 1000
                                          ? absl::StatusCode::kResourceExhausted
                                          : absl::StatusCode::kOk);
  }
}

// Runs a plan that may be anything on inputs that are as it declares them.
void Attempt(const std::string& bytes) {
  Plan plan;
  if (!plan.ParseFromString(bytes)) return;
  ExecutorOptions options;
  options.max_storage_bytes = 1 << 20;
  auto executor = GraphExecutor::Create(
      SharePlan(plan), nullptr,
      [](absl::string_view) -> absl::StatusOr<Tensor> { return Flag(true); },
      options);
  if (!executor.ok()) return;
  for (size_t i = 0; i < (*executor)->inputs().size(); ++i) {
    const TensorInfo& info = (*executor)->inputs()[i];
    std::vector<int64_t> shape = info.shape;
    for (int64_t& dim : shape) dim = dim < 0 ? 2 : dim;
    absl::StatusOr<size_t> size = CountBytes(info.dtype, shape);
    if (!size.ok() || *size > 1000) return;
    Tensor x = *Tensor::Empty(info.dtype, shape);
    std::memset(x.mutable_raw_data(), 0, *size);
    if (*size > 0) *static_cast<char*>(x.mutable_raw_data()) = 1;
    const TensorOrSequence sequence =
        TensorSequence{info.dtype, false, {x, x, x}};
    (*executor)
        ->SetInputValue(i, info.is_sequence ? sequence : TensorOrSequence(x))
        .IgnoreError();
  }
  (*executor)->Run().IgnoreError();
}

TEST(Sequences, ArbitraryBytes) {
  // Every prefix and every one-bit change of good plans.
  for (const Plan& plan :
       {InsertAndAt(), LoopAndBranch(), InPlace(LoopAndBranch())}) {
    const std::string good = plan.SerializeAsString();
    for (size_t i = 0; i < good.size(); ++i) {
      Attempt(good.substr(0, i));
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = good;
        changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
        Attempt(changed);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
