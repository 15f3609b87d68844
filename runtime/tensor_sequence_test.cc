#include "runtime/tensor_sequence.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);

Tensor Floats(std::vector<int64_t> shape, std::vector<float> values) {
  Tensor tensor = *Tensor::Empty(kF32, shape);
  if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  }
  return tensor;
}

Tensor Ints(std::vector<int64_t> shape, std::vector<int64_t> values) {
  Tensor tensor = *Tensor::Empty(kI64, shape);
  if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  }
  return tensor;
}

Tensor Number(int64_t value) { return Ints({}, {value}); }

TensorSequence Three() {
  return {
      kF32, false, {Floats({1}, {1}), Floats({2}, {2, 3}), Floats({0}, {})}};
}

const TensorSequence kMissing = {kF32, true, {}};

SequenceStep Step(SequenceOp op, int64_t axis = 0, bool flag = false) {
  return {op, kF32, axis, flag};
}

absl::StatusOr<TensorOrSequence> Do(
    const SequenceStep& step, const std::vector<TensorOrSequence>& values) {
  std::vector<SequenceOperand> operands;
  for (const TensorOrSequence& value : values) {
    operands.push_back(
        {std::get_if<Tensor>(&value), std::get_if<TensorSequence>(&value)});
  }
  return RunSequenceStep(step, operands);
}

// "f32[1] f32[2]", "no sequence<f32>", "f32[2]", or the error.
std::string Shapes(const absl::StatusOr<TensorOrSequence>& result) {
  if (!result.ok()) return std::string(result.status().message());
  if (const auto* t = std::get_if<Tensor>(&*result)) return t->TypeString();
  const auto& sequence = std::get<TensorSequence>(*result);
  if (sequence.missing) return sequence.TypeString();
  std::string text;
  for (const Tensor& tensor : sequence.tensors) {
    text += (text.empty() ? "" : " ") + tensor.TypeString();
  }
  return text;
}

std::vector<float> Values(const absl::StatusOr<TensorOrSequence>& result) {
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  const auto values = std::get<Tensor>(*result).values<float>();
  return {values.begin(), values.end()};
}

TEST(TensorSequence, MakesAndCopies) {
  Tensor x = Floats({1}, {1});
  const auto made = Do(Step(SequenceOp::kMake), {x, Floats({2, 1}, {2, 3})});
  EXPECT_EQ(Shapes(made), "f32[1] f32[2, 1]");
  x.mutable_data<float>()[0] = 9;
  const Tensor& inside = std::get<TensorSequence>(*made).tensors[0];
  EXPECT_THAT(inside.values<float>(), ElementsAre(1));
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kMake), {})), "");
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kCopy), {Three()})),
            "f32[1] f32[2] f32[0]");
}

// A sequence that may be changed is not copied: what grows keeps its memory.
TEST(TensorSequence, OwnSequencesAreMoved) {
  const Tensor x = Floats({1}, {7});
  for (SequenceOp op : {SequenceOp::kInsert, SequenceOp::kErase,
                        SequenceOp::kCopy, SequenceOp::kGet}) {
    TensorSequence sequence = Three();
    sequence.tensors.reserve(8);
    const Tensor* memory = sequence.tensors.data();
    std::vector<SequenceOperand> operands = {{nullptr, &sequence, &sequence}};
    if (op == SequenceOp::kInsert) operands.push_back({&x, nullptr});
    const auto result = RunSequenceStep(Step(op), operands);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::get<TensorSequence>(*result).tensors.data(), memory);
    EXPECT_TRUE(sequence.tensors.empty());
  }
  // After an error the sequence is as it was.
  TensorSequence sequence = Three();
  const Tensor far = Number(9);
  EXPECT_FALSE(
      RunSequenceStep(Step(SequenceOp::kErase),
                      {{nullptr, &sequence, &sequence}, {&far, nullptr}})
          .ok());
  EXPECT_EQ(sequence.tensors.size(), 3u);
}

TEST(TensorSequence, WhatIsMissing) {
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kMissing), {})), "no sequence<f32>");
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kCopy), {kMissing})),
            "no sequence<f32>");
  const auto has = [](const TensorSequence& sequence) {
    return std::get<Tensor>(*Do(Step(SequenceOp::kHas), {sequence}))
        .values<bool>()[0];
  };
  EXPECT_TRUE(has(Three()));
  EXPECT_FALSE(has(kMissing));
  for (SequenceOp op : {SequenceOp::kGet, SequenceOp::kLength,
                        SequenceOp::kErase, SequenceOp::kConcat}) {
    EXPECT_EQ(Shapes(Do(Step(op), {kMissing})),
              "the optional value is not there");
  }
}

TEST(TensorSequence, Positions) {
  const Tensor x = Floats({4}, {4, 5, 6, 7});
  const auto insert = [&](std::vector<TensorOrSequence> at) {
    at.insert(at.begin(), {Three(), x});
    return Shapes(Do(Step(SequenceOp::kInsert), at));
  };
  EXPECT_EQ(insert({}), "f32[1] f32[2] f32[0] f32[4]");
  EXPECT_EQ(insert({Number(3)}), "f32[1] f32[2] f32[0] f32[4]");
  EXPECT_EQ(insert({Number(0)}), "f32[4] f32[1] f32[2] f32[0]");
  EXPECT_EQ(insert({Number(-1)}), "f32[1] f32[2] f32[4] f32[0]");
  EXPECT_EQ(insert({Number(4)}), "position 4 in a sequence of 3");
  EXPECT_EQ(insert({Number(-4)}), "position -4 in a sequence of 3");
  const auto erase = [&](std::vector<TensorOrSequence> at) {
    at.insert(at.begin(), {Three()});
    return Shapes(Do(Step(SequenceOp::kErase), at));
  };
  EXPECT_EQ(erase({}), "f32[1] f32[2]");
  EXPECT_EQ(erase({Number(1)}), "f32[1] f32[0]");
  EXPECT_EQ(erase({Number(-3)}), "f32[2] f32[0]");
  EXPECT_EQ(erase({Number(3)}), "position 3 in a sequence of 3");
  EXPECT_EQ(
      Shapes(Do(Step(SequenceOp::kErase), {TensorSequence{kF32, false, {}}})),
      "position -1 in a sequence of 0");
  const auto at = [&](int64_t position) {
    return Do(Step(SequenceOp::kAt), {Three(), Number(position)});
  };
  EXPECT_THAT(Values(at(1)), ElementsAre(2, 3));
  EXPECT_THAT(Values(at(-3)), ElementsAre(1));
  EXPECT_EQ(Shapes(at(INT64_MIN)),
            "position -9223372036854775808 in a sequence of 3");
  EXPECT_THAT(std::get<Tensor>(*Do(Step(SequenceOp::kLength), {Three()}))
                  .values<int64_t>(),
              ElementsAre(3));
}

TEST(TensorSequence, Concatenates) {
  const TensorSequence rows = {
      kF32, false, {Floats({1, 2}, {1, 2}), Floats({2, 2}, {3, 4, 5, 6})}};
  EXPECT_THAT(Values(Do(Step(SequenceOp::kConcat, 0), {rows})),
              ElementsAre(1, 2, 3, 4, 5, 6));
  const TensorSequence columns = {
      kF32, false, {Floats({2, 1}, {1, 2}), Floats({2, 2}, {3, 4, 5, 6})}};
  const auto wide = Do(Step(SequenceOp::kConcat, -1), {columns});
  EXPECT_EQ(Shapes(wide), "f32[2, 3]");
  EXPECT_THAT(Values(wide), ElementsAre(1, 3, 4, 2, 5, 6));
  const TensorSequence same = {
      kF32, false, {Floats({2}, {1, 2}), Floats({2}, {3, 4})}};
  const auto stacked = Do(Step(SequenceOp::kConcat, 1, true), {same});
  EXPECT_EQ(Shapes(stacked), "f32[2, 2]");
  EXPECT_THAT(Values(stacked), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kConcat), {Three()})), "f32[3]");

  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kConcat, 1), {rows})),
            "f32[2, 2] does not fit f32[1, 2] in front of it");
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kConcat, 0, true), {Three()})),
            "f32[2] does not fit f32[1] in front of it");
  EXPECT_EQ(Shapes(Do(Step(SequenceOp::kConcat, 2), {rows})),
            "axis 2 of a tensor of 2 dimensions");
  EXPECT_EQ(
      Shapes(Do(Step(SequenceOp::kConcat), {TensorSequence{kF32, false, {}}})),
      "there is nothing in the sequence");
}

TEST(TensorSequence, Splits) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto parts = [&](SequenceStep step,
                         std::vector<TensorOrSequence> split) {
    split.insert(split.begin(), x);
    return Do(step, split);
  };
  const SequenceStep columns = Step(SequenceOp::kSplit, 1, true);
  EXPECT_EQ(Shapes(parts(columns, {})), "f32[2, 1] f32[2, 1] f32[2, 1]");
  EXPECT_EQ(Shapes(parts(Step(SequenceOp::kSplit, 0, false), {})),
            "f32[3] f32[3]");
  const auto two = parts(columns, {Number(2)});
  EXPECT_EQ(Shapes(two), "f32[2, 2] f32[2, 1]");
  const auto& sequence = std::get<TensorSequence>(*two);
  EXPECT_THAT(sequence.tensors[0].values<float>(), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(sequence.tensors[1].values<float>(), ElementsAre(3, 6));
  EXPECT_EQ(Shapes(parts(columns, {Ints({3}, {1, 0, 2})})),
            "f32[2, 1] f32[2, 0] f32[2, 2]");

  EXPECT_EQ(Shapes(parts(columns, {Ints({2}, {1, 1})})),
            "the parts do not add up to 3");
  EXPECT_EQ(Shapes(parts(columns, {Ints({2}, {4, -1})})),
            "the parts do not add up to 3");
  EXPECT_EQ(Shapes(parts(columns, {Number(0)})), "parts of 0");
  EXPECT_EQ(Shapes(parts(Step(SequenceOp::kSplit, -3), {})),
            "axis -3 of a tensor of 2 dimensions");
  // As many parts as no machine could hold, of nothing.
  EXPECT_EQ(Do(Step(SequenceOp::kSplit, 0), {Floats({int64_t{1} << 40, 0}, {})})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorSequence, OperandsAreChecked) {
  const auto code = [](SequenceOp op,
                       const std::vector<TensorOrSequence>& operands) {
    return Do(Step(op), operands).status().code();
  };
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(SequenceOp::kAt, {Three()}), bad);
  EXPECT_EQ(code(SequenceOp::kAt, {Number(0), Number(0)}), bad);
  EXPECT_EQ(code(SequenceOp::kAt, {Three(), Three()}), bad);
  EXPECT_EQ(code(SequenceOp::kAt, {Three(), Ints({2}, {0, 1})}), bad);
  EXPECT_EQ(code(SequenceOp::kMissing, {Three()}), bad);
  EXPECT_EQ(code(SequenceOp::kMake, {Number(1)}), bad);
  EXPECT_EQ(code(SequenceOp::kInsert, {Three(), Number(1)}), bad);
  EXPECT_EQ(code(SequenceOp::kLength, {TensorSequence{kI64, false, {}}}), bad);
  EXPECT_EQ(code(SequenceOp::kMake, {Tensor()}), bad);
}

TEST(TensorSequence, Checks) {
  EXPECT_TRUE(Three().Check().ok());
  EXPECT_TRUE(kMissing.Check().ok());
  TensorSequence sequence = Three();
  sequence.tensors[1] = Number(1);
  EXPECT_THAT(std::string(sequence.Check().message()),
              HasSubstr("its tensor 1 is i64[], not f32 on a CPU"));
  sequence.tensors[1] = Tensor();
  EXPECT_THAT(std::string(sequence.Check().message()), HasSubstr("undefined"));
  sequence = Three();
  sequence.missing = true;
  EXPECT_FALSE(sequence.Check().ok());
}

TEST(TensorSequence, Names) {
  EXPECT_EQ(FindSequenceOp("sequence_at")->op, SequenceOp::kAt);
  EXPECT_EQ(FindSequenceOp("list_of"), nullptr);
  EXPECT_EQ(*OperandsOf(*FindSequenceOp("sequence_make"), 3), "xxx");
  EXPECT_EQ(*OperandsOf(*FindSequenceOp("sequence_insert"), 2), "Lx");
  EXPECT_EQ(*OperandsOf(*FindSequenceOp("sequence_insert"), 3), "Lxi");
  EXPECT_EQ(
      OperandsOf(*FindSequenceOp("sequence_insert"), 4).status().message(),
      "sequence_insert does not take 4 operands");
}

}  // namespace
}  // namespace ingot
