// Boxes that are longer in memory than what is in them, or in parts.
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using testing::HasSubstr;

// y = 2 * x turned, in steps of 4 rows of x, the last of 2.
class PadBoxTest : public testing::Test {
 protected:
  PadBoxTest() {
    const DataType f32 = DataType::Float(32);
    const Tensor x = kernel_.graph.Placeholder("x", f32, {I(10), I(3), I(8)});
    double_ = kernel_.graph.Compute("double", {I(10), I(3), I(8)},
                                    [&](auto& i) { return x(i) * F(2); });
    kernel_.inputs = {x};
    kernel_.outputs = {
        kernel_.graph.Compute("y", {I(10), I(8), I(3)}, [&](auto& i) {
          return double_({i[0], i[2], i[1]});
        })};
  }

  Schedule Make() {
    auto schedule = Schedule::Create(kernel_.graph, kernel_.outputs);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }

  // The loops with such padding of such memory; they compute the same.
  std::string Padded(Storage storage, std::vector<int64_t> padding) {
    Schedule s = Make();
    Stage* const y = s.Find(kernel_.outputs[0]);
    const auto [outer, inner] = y->Split(y->axis(0), 4, Tail::kPartition);
    s.Find(double_)->ComputeAt(y, outer);
    s.Find(double_)->StoreIn(storage);
    s.Find(double_)->PadBox(std::move(padding));
    ExpectSame(kernel_, s);
    auto f = Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, s);
    return f.ok() ? tir::Print(*f) : f.status().ToString();
  }

  Kernel kernel_;
  Tensor double_;
};

TEST_F(PadBoxTest, OnTheStackAndInAWorkspace) {
  for (const Storage storage : {Storage::kAuto, Storage::kBox}) {
    EXPECT_THAT(Padded(storage, {}), HasSubstr("%double: f32[4, 3, 8]"));
    EXPECT_THAT(Padded(storage, {1}), HasSubstr("%double: f32[4, 3, 9]"));
    EXPECT_THAT(Padded(storage, {1, 5, 0}), HasSubstr("%double: f32[5, 8, 8]"));
  }
}

// The boxes of all tasks lie one after the other, each with its padding.
TEST_F(PadBoxTest, EachTaskHasItsOwn) {
  Schedule s = Make();
  Stage* const y = s.Find(kernel_.outputs[0]);
  const auto [outer, inner] = y->Split(y->axis(0), 4, Tail::kGuard);
  y->Parallel(outer);
  s.Find(double_)->ComputeAt(y, outer);
  s.Find(double_)->StoreIn(Storage::kBox);
  s.Find(double_)->PadBox({1});
  ExpectSame(kernel_, s);
  auto f = Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, s);
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_THAT(tir::Print(*f), HasSubstr("%double: f32[12, 3, 9]"));
}

// Rows in parts of 4, the last of 2 which has room for 4.
TEST_F(PadBoxTest, InParts) {
  for (const bool parallel : {false, true}) {
    Schedule s = Make();
    Stage* const y = s.Find(kernel_.outputs[0]);
    const auto [outer, inner] = y->Split(y->axis(0), 4, Tail::kPartition);
    const auto [columns, column] = y->Split(y->axis(1), 8);
    y->Reorder({columns, outer, inner, column});
    if (parallel) y->Parallel(outer);
    Stage* const doubled = s.Find(double_);
    doubled->ComputeAt(y, columns);
    doubled->Split(doubled->axis(0), 4, Tail::kPartition);
    doubled->StoreIn(Storage::kBox);
    doubled->PadBox({1});
    doubled->CutBox({0, 4});
    ExpectSame(kernel_, s);
    auto f = Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, s);
    ASSERT_TRUE(f.ok()) << f.status();
    const std::string text = tir::Print(*f);
    EXPECT_THAT(text, HasSubstr("%double: f32[3, 4, 3, 9]"));
    EXPECT_THAT(text, HasSubstr("%double[2, "));
  }
}

TEST_F(PadBoxTest, WholeTensorsStayAsTheyAre) {
  EXPECT_THAT(Padded(Storage::kWorkspace, {1, 5, 0}),
              HasSubstr("%double: f32[10, 3, 8]"));
}

TEST_F(PadBoxTest, TakesNoLessAndNoMoreAxes) {
  for (const std::vector<int64_t>& padding :
       {std::vector<int64_t>{-1}, {0, 0, 0, 0}}) {
    Schedule s = Make();
    s.Find(double_)->PadBox(padding);
    EXPECT_FALSE(s.status().ok());
  }
}

}  // namespace
}  // namespace ingot::te
