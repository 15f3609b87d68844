#include "runtime/tensor_list.h"

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

TensorList Three() {
  return {
      kF32, false, {Floats({1}, {1}), Floats({2}, {2, 3}), Floats({0}, {})}};
}

const TensorList kMissing = {kF32, true, {}};

ListStep Step(ListOp op, int64_t axis = 0, bool flag = false) {
  return {op, kF32, axis, flag};
}

absl::StatusOr<TensorOrList> Do(const ListStep& step,
                                const std::vector<TensorOrList>& values) {
  std::vector<ListOperand> operands;
  for (const TensorOrList& value : values) {
    operands.push_back(
        {std::get_if<Tensor>(&value), std::get_if<TensorList>(&value)});
  }
  return RunListStep(step, operands);
}

// "f32[1] f32[2]", "no list<f32>", "f32[2]", or the error.
std::string Shapes(const absl::StatusOr<TensorOrList>& result) {
  if (!result.ok()) return std::string(result.status().message());
  if (const auto* t = std::get_if<Tensor>(&*result)) return t->TypeString();
  const auto& list = std::get<TensorList>(*result);
  if (list.missing) return list.TypeString();
  std::string text;
  for (const Tensor& tensor : list.tensors) {
    text += (text.empty() ? "" : " ") + tensor.TypeString();
  }
  return text;
}

std::vector<float> Values(const absl::StatusOr<TensorOrList>& result) {
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  const auto values = std::get<Tensor>(*result).values<float>();
  return {values.begin(), values.end()};
}

TEST(TensorList, MakesAndCopies) {
  Tensor x = Floats({1}, {1});
  const auto made = Do(Step(ListOp::kMake), {x, Floats({2, 1}, {2, 3})});
  EXPECT_EQ(Shapes(made), "f32[1] f32[2, 1]");
  x.mutable_data<float>()[0] = 9;
  const Tensor& inside = std::get<TensorList>(*made).tensors[0];
  EXPECT_THAT(inside.values<float>(), ElementsAre(1));
  EXPECT_EQ(Shapes(Do(Step(ListOp::kMake), {})), "");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kCopy), {Three()})), "f32[1] f32[2] f32[0]");
}

// A list that may be changed is not copied: what grows keeps its memory.
TEST(TensorList, OwnListsAreMoved) {
  const Tensor x = Floats({1}, {7});
  for (ListOp op :
       {ListOp::kInsert, ListOp::kErase, ListOp::kCopy, ListOp::kGet}) {
    TensorList list = Three();
    list.tensors.reserve(8);
    const Tensor* memory = list.tensors.data();
    std::vector<ListOperand> operands = {{nullptr, &list, &list}};
    if (op == ListOp::kInsert) operands.push_back({&x, nullptr});
    const auto result = RunListStep(Step(op), operands);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::get<TensorList>(*result).tensors.data(), memory);
    EXPECT_TRUE(list.tensors.empty());
  }
  // After an error the list is as it was.
  TensorList list = Three();
  const Tensor far = Number(9);
  EXPECT_FALSE(RunListStep(Step(ListOp::kErase),
                           {{nullptr, &list, &list}, {&far, nullptr}})
                   .ok());
  EXPECT_EQ(list.tensors.size(), 3u);
}

TEST(TensorList, WhatIsMissing) {
  EXPECT_EQ(Shapes(Do(Step(ListOp::kMissing), {})), "no list<f32>");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kCopy), {kMissing})), "no list<f32>");
  const auto has = [](const TensorList& list) {
    return std::get<Tensor>(*Do(Step(ListOp::kHas), {list})).values<bool>()[0];
  };
  EXPECT_TRUE(has(Three()));
  EXPECT_FALSE(has(kMissing));
  for (ListOp op :
       {ListOp::kGet, ListOp::kLength, ListOp::kErase, ListOp::kConcat}) {
    EXPECT_EQ(Shapes(Do(Step(op), {kMissing})),
              "the optional value is not there");
  }
}

TEST(TensorList, Positions) {
  const Tensor x = Floats({4}, {4, 5, 6, 7});
  const auto insert = [&](std::vector<TensorOrList> at) {
    at.insert(at.begin(), {Three(), x});
    return Shapes(Do(Step(ListOp::kInsert), at));
  };
  EXPECT_EQ(insert({}), "f32[1] f32[2] f32[0] f32[4]");
  EXPECT_EQ(insert({Number(3)}), "f32[1] f32[2] f32[0] f32[4]");
  EXPECT_EQ(insert({Number(0)}), "f32[4] f32[1] f32[2] f32[0]");
  EXPECT_EQ(insert({Number(-1)}), "f32[1] f32[2] f32[4] f32[0]");
  EXPECT_EQ(insert({Number(4)}), "position 4 in a list of 3");
  EXPECT_EQ(insert({Number(-4)}), "position -4 in a list of 3");
  const auto erase = [&](std::vector<TensorOrList> at) {
    at.insert(at.begin(), {Three()});
    return Shapes(Do(Step(ListOp::kErase), at));
  };
  EXPECT_EQ(erase({}), "f32[1] f32[2]");
  EXPECT_EQ(erase({Number(1)}), "f32[1] f32[0]");
  EXPECT_EQ(erase({Number(-3)}), "f32[2] f32[0]");
  EXPECT_EQ(erase({Number(3)}), "position 3 in a list of 3");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kErase), {TensorList{kF32, false, {}}})),
            "position -1 in a list of 0");
  const auto at = [&](int64_t position) {
    return Do(Step(ListOp::kAt), {Three(), Number(position)});
  };
  EXPECT_THAT(Values(at(1)), ElementsAre(2, 3));
  EXPECT_THAT(Values(at(-3)), ElementsAre(1));
  EXPECT_EQ(Shapes(at(INT64_MIN)),
            "position -9223372036854775808 in a list of 3");
  EXPECT_THAT(
      std::get<Tensor>(*Do(Step(ListOp::kLength), {Three()})).values<int64_t>(),
      ElementsAre(3));
}

TEST(TensorList, Concatenates) {
  const TensorList rows = {
      kF32, false, {Floats({1, 2}, {1, 2}), Floats({2, 2}, {3, 4, 5, 6})}};
  EXPECT_THAT(Values(Do(Step(ListOp::kConcat, 0), {rows})),
              ElementsAre(1, 2, 3, 4, 5, 6));
  const TensorList columns = {
      kF32, false, {Floats({2, 1}, {1, 2}), Floats({2, 2}, {3, 4, 5, 6})}};
  const auto wide = Do(Step(ListOp::kConcat, -1), {columns});
  EXPECT_EQ(Shapes(wide), "f32[2, 3]");
  EXPECT_THAT(Values(wide), ElementsAre(1, 3, 4, 2, 5, 6));
  const TensorList same = {
      kF32, false, {Floats({2}, {1, 2}), Floats({2}, {3, 4})}};
  const auto stacked = Do(Step(ListOp::kConcat, 1, true), {same});
  EXPECT_EQ(Shapes(stacked), "f32[2, 2]");
  EXPECT_THAT(Values(stacked), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(Shapes(Do(Step(ListOp::kConcat), {Three()})), "f32[3]");

  EXPECT_EQ(Shapes(Do(Step(ListOp::kConcat, 1), {rows})),
            "f32[2, 2] does not fit f32[1, 2] in front of it");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kConcat, 0, true), {Three()})),
            "f32[2] does not fit f32[1] in front of it");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kConcat, 2), {rows})),
            "axis 2 of a tensor of 2 dimensions");
  EXPECT_EQ(Shapes(Do(Step(ListOp::kConcat), {TensorList{kF32, false, {}}})),
            "there is nothing in the list");
}

TEST(TensorList, Splits) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto parts = [&](ListStep step, std::vector<TensorOrList> split) {
    split.insert(split.begin(), x);
    return Do(step, split);
  };
  const ListStep columns = Step(ListOp::kSplit, 1, true);
  EXPECT_EQ(Shapes(parts(columns, {})), "f32[2, 1] f32[2, 1] f32[2, 1]");
  EXPECT_EQ(Shapes(parts(Step(ListOp::kSplit, 0, false), {})), "f32[3] f32[3]");
  const auto two = parts(columns, {Number(2)});
  EXPECT_EQ(Shapes(two), "f32[2, 2] f32[2, 1]");
  const auto& list = std::get<TensorList>(*two);
  EXPECT_THAT(list.tensors[0].values<float>(), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(list.tensors[1].values<float>(), ElementsAre(3, 6));
  EXPECT_EQ(Shapes(parts(columns, {Ints({3}, {1, 0, 2})})),
            "f32[2, 1] f32[2, 0] f32[2, 2]");

  EXPECT_EQ(Shapes(parts(columns, {Ints({2}, {1, 1})})),
            "the parts do not add up to 3");
  EXPECT_EQ(Shapes(parts(columns, {Ints({2}, {4, -1})})),
            "the parts do not add up to 3");
  EXPECT_EQ(Shapes(parts(columns, {Number(0)})), "parts of 0");
  EXPECT_EQ(Shapes(parts(Step(ListOp::kSplit, -3), {})),
            "axis -3 of a tensor of 2 dimensions");
  // As many parts as no machine could hold, of nothing.
  EXPECT_EQ(Do(Step(ListOp::kSplit, 0), {Floats({int64_t{1} << 40, 0}, {})})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorList, OperandsAreChecked) {
  const auto code = [](ListOp op, const std::vector<TensorOrList>& operands) {
    return Do(Step(op), operands).status().code();
  };
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(ListOp::kAt, {Three()}), bad);
  EXPECT_EQ(code(ListOp::kAt, {Number(0), Number(0)}), bad);
  EXPECT_EQ(code(ListOp::kAt, {Three(), Three()}), bad);
  EXPECT_EQ(code(ListOp::kAt, {Three(), Ints({2}, {0, 1})}), bad);
  EXPECT_EQ(code(ListOp::kMissing, {Three()}), bad);
  EXPECT_EQ(code(ListOp::kMake, {Number(1)}), bad);
  EXPECT_EQ(code(ListOp::kInsert, {Three(), Number(1)}), bad);
  EXPECT_EQ(code(ListOp::kLength, {TensorList{kI64, false, {}}}), bad);
  EXPECT_EQ(code(ListOp::kMake, {Tensor()}), bad);
}

TEST(TensorList, Checks) {
  EXPECT_TRUE(Three().Check().ok());
  EXPECT_TRUE(kMissing.Check().ok());
  TensorList list = Three();
  list.tensors[1] = Number(1);
  EXPECT_THAT(std::string(list.Check().message()),
              HasSubstr("its tensor 1 is i64[], not f32 on a CPU"));
  list.tensors[1] = Tensor();
  EXPECT_THAT(std::string(list.Check().message()), HasSubstr("undefined"));
  list = Three();
  list.missing = true;
  EXPECT_FALSE(list.Check().ok());
}

TEST(TensorList, Names) {
  EXPECT_EQ(FindListOp("list_at")->op, ListOp::kAt);
  EXPECT_EQ(FindListOp("list_of"), nullptr);
  EXPECT_EQ(*OperandsOf(*FindListOp("list_make"), 3), "xxx");
  EXPECT_EQ(*OperandsOf(*FindListOp("list_insert"), 2), "Lx");
  EXPECT_EQ(*OperandsOf(*FindListOp("list_insert"), 3), "Lxi");
  EXPECT_EQ(OperandsOf(*FindListOp("list_insert"), 4).status().message(),
            "list_insert does not take 4 operands");
}

}  // namespace
}  // namespace ingot
