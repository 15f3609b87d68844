#include "compiler/tuning/point_search.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<te::ScheduleParameter> kSpace = {{"a", {1, 2, 3}},
                                                   {"b", {1, 2, 3}}};

te::ScheduleChoice At(int64_t a, int64_t b) {
  te::ScheduleChoice point(kSpace);
  point.Set("a", a);
  point.Set("b", b);
  return point;
}

std::vector<std::string> Texts(const std::vector<te::ScheduleChoice>& points) {
  std::vector<std::string> texts;
  for (const te::ScheduleChoice& point : points) {
    texts.push_back(point.ToString());
  }
  return texts;
}

TEST(PointSearch, TakesPointsByCostAndLeavesOutHopelessOnes) {
  PointSearch search({{At(1, 1), 10},
                      {At(2, 2), 11},
                      {At(3, 3), 12},
                      {At(2, 3), 39},
                      {At(3, 1), 41}},
                     At(1, 1), 100);
  EXPECT_THAT(Texts(search.Next(2)), ElementsAre("a=2 b=2", "a=3 b=3"));
  EXPECT_THAT(Texts(search.Next(2)), ElementsAre("a=2 b=3"));
  EXPECT_THAT(search.Next(2), IsEmpty());
  EXPECT_EQ(search.best(), At(1, 1));
  EXPECT_EQ(search.best_time(), 1);
}

TEST(PointSearch, TakesNeighboursOfTheBestEarlier) {
  PointSearch search({{At(1, 1), 10},
                      {At(2, 2), 11},
                      {At(3, 3), 12},
                      {At(1, 3), 16},
                      {At(2, 3), 18}},
                     At(1, 1), 100);
  // 16 of a neighbour of the estimated point is less than 11.
  EXPECT_THAT(Texts(search.Next(1)), ElementsAre("a=1 b=3"));
  search.Report(At(1, 3), 1.5);
  EXPECT_THAT(Texts(search.Next(1)), ElementsAre("a=2 b=2"));
  search.Report(At(2, 2), 0.8);
  EXPECT_EQ(search.best(), At(2, 2));
  EXPECT_THAT(Texts(search.Next(2)), ElementsAre("a=2 b=3", "a=3 b=3"));
  // So little is no gain, and what cannot be used is none either.
  search.Report(At(2, 3), 0.799);
  search.Report(At(3, 3), std::numeric_limits<double>::infinity());
  EXPECT_EQ(search.best(), At(2, 2));
  EXPECT_EQ(search.best_time(), 0.8);
  EXPECT_EQ(search.measured(), 4);
}

TEST(PointSearch, EndsAfterSoManyTrials) {
  std::vector<te::EstimatedPoint> points;
  for (int64_t a = 1; a <= 3; ++a) {
    for (int64_t b = 1; b <= 3; ++b) points.push_back({At(a, b), 1});
  }
  PointSearch search(points, At(1, 1), 5);
  EXPECT_EQ(search.Next(4).size(), 4u);
  EXPECT_EQ(search.Next(4).size(), 1u);
  EXPECT_THAT(search.Next(4), IsEmpty());
}

TEST(PointSearch, EndsWhereNothingIsGained) {
  std::vector<te::ScheduleParameter> space = {{"v", {}}};
  std::vector<te::EstimatedPoint> points;
  for (int64_t v = 0; v < 100; ++v) space[0].values.push_back(v);
  for (int64_t v = 0; v < 100; ++v) {
    te::ScheduleChoice point(space);
    point.Set("v", v);
    points.push_back({point, 1});
  }
  PointSearch search(points, points[0].point, 100);
  int64_t gains = 0;
  for (;;) {
    const std::vector<te::ScheduleChoice> next = search.Next(1);
    if (next.empty()) break;
    search.Report(next[0], search.measured() == 9 ? 0.5 : 1);
    gains += search.measured() == 10;
  }
  EXPECT_EQ(gains, 1);
  EXPECT_EQ(search.measured(), 30);
}

}  // namespace
}  // namespace ingot::tuning
