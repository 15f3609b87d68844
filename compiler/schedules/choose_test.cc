// Tests which template and which parameters are taken, on a kernel of one
// operation.
#include "compiler/schedules/choose.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using ::testing::ElementsAre;

// A template for the scope kStage that matches everything; building it adds its
// name and parameters to `built`.
ScheduleTemplate Make(std::string name, ScheduleSpace space,
                      std::vector<std::string>* built) {
  ScheduleTemplate t;
  t.name = name;
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite&) { return true; };
  t.space = [space](const ScheduleSite&) { return space; };
  t.build = [=](Schedule*, Stage*, const ScheduleChoice& choice,
                const MachineModel&) {
    built->push_back(name + " " + choice.ToString());
  };
  return t;
}

// y[i] = x[i] + x[i]
Kernel Double() {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", DataType::Float(32), ConstShape({40}));
  k.inputs = {x};
  k.outputs = {k.graph.Compute("y", ConstShape({40}),
                               [&](auto& i) { return x(i) + x(i); })};
  return k;
}

class ChooseTest : public testing::Test {
 protected:
  // The templates that are built for the kernel.
  std::vector<std::string> Build(std::vector<ScheduleTemplate> templates,
                                 const ParameterPicker& pick = nullptr) {
    built_.clear();
    const Kernel k = Double();
    auto schedule =
        ScheduleKernel(k.graph, k.outputs, templates, MachineModel(), pick);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return built_;
  }
  ScheduleTemplate Make(std::string name, ScheduleSpace space) {
    return te::Make(std::move(name), std::move(space), &built_);
  }
  // A space of one parameter whose cost is its value.
  static ScheduleSpace CostsItsValue(std::vector<int64_t> values) {
    return {{{"v", std::move(values)}}, [](const ScheduleChoice& c) {
              return static_cast<double>(c.Get("v"));
            }};
  }

  std::vector<std::string> built_;
};

TEST_F(ChooseTest, TakesTheCheapestPoint) {
  ScheduleSpace space;
  space.parameters = {{"rows", {1, 2, 3}}, {"vectors", {1, 2, 4}}};
  space.cost = [](const ScheduleChoice& c) {
    // The tile of the most elements that fits in 7 registers.
    const int64_t elements = c.Get("rows") * c.Get("vectors");
    return elements > 7 ? std::numeric_limits<double>::infinity()
                        : 1.0 / static_cast<double>(elements);
  };
  EXPECT_THAT(Build({Make("tile", space)}),
              ElementsAre("tile rows=3 vectors=2"));
}

TEST_F(ChooseTest, EqualCostsTakeTheFirstPoint) {
  ScheduleSpace space = {{{"a", {7, 1}}, {"b", {5, 2, 9}}},
                         [](const ScheduleChoice&) { return 3.0; }};
  EXPECT_THAT(Build({Make("t", space)}), ElementsAre("t a=7 b=5"));
  space.cost = nullptr;
  EXPECT_THAT(Build({Make("t", space)}), ElementsAre("t a=7 b=5"));
  // Where nothing fits, too: a schedule is always made.
  space.cost = [](const ScheduleChoice&) {
    return std::numeric_limits<double>::infinity();
  };
  EXPECT_THAT(Build({Make("t", space)}), ElementsAre("t a=7 b=5"));
}

TEST_F(ChooseTest, TakesTheCheapestTemplate) {
  EXPECT_THAT(Build({Make("dear", CostsItsValue({9, 5})),
                     Make("cheap", CostsItsValue({8, 4})),
                     Make("as_cheap", CostsItsValue({4}))}),
              ElementsAre("cheap v=4"));
  // One without an estimate comes after those with one, else in order.
  const ScheduleSpace none;
  EXPECT_THAT(
      Build({Make("first", none), Make("estimated", CostsItsValue({9}))}),
      ElementsAre("estimated v=9"));
  EXPECT_THAT(Build({Make("first", none), Make("second", none)}),
              ElementsAre("first "));
}

TEST_F(ChooseTest, AsksWhatMatchesAlone) {
  ScheduleTemplate wide = Make("wide", CostsItsValue({1}));
  wide.matches = [](const ScheduleSite& site) {
    return site.machine.vector_bits >= 512;
  };
  ScheduleTemplate anchor = Make("anchor", CostsItsValue({1}));
  anchor.scope = TemplateScope::kAnchor;  // y is no reduction
  EXPECT_THAT(Build({wide, anchor, Make("any", CostsItsValue({2}))}),
              ElementsAre("any v=2"));
  EXPECT_THAT(Build({wide, anchor}), ElementsAre());
}

TEST_F(ChooseTest, APickerOverridesTheEstimate) {
  EXPECT_THAT(Build({Make("t", CostsItsValue({1, 2, 3}))},
                    [](const ScheduleTemplate& t, const ScheduleSite& site,
                       const ScheduleChoice& cheapest) {
                      EXPECT_EQ(cheapest.Get("v"), 1);
                      return AllPoints(t, site).back();
                    }),
              ElementsAre("t v=3"));
}

TEST_F(ChooseTest, GoesThroughAllPointsThatFitOnce) {
  std::vector<std::string> points;
  auto all_points = [&](const ScheduleSpace& space) {
    points.clear();
    Build({Make("t", space)},
          [&](const ScheduleTemplate& t, const ScheduleSite& site,
              const ScheduleChoice& cheapest) {
            for (const ScheduleChoice& point : AllPoints(t, site)) {
              points.push_back(point.ToString());
            }
            return cheapest;
          });
    return points;
  };
  ScheduleSpace space = {{{"a", {1, 2}}, {"b", {3}}, {"c", {4, 5}}}, nullptr};
  EXPECT_THAT(all_points(space), ElementsAre("a=1 b=3 c=4", "a=1 b=3 c=5",
                                             "a=2 b=3 c=4", "a=2 b=3 c=5"));
  space.cost = [](const ScheduleChoice& c) {
    return c.Get("a") == 2 && c.Get("c") == 4
               ? std::numeric_limits<double>::infinity()
               : 1.0;
  };
  EXPECT_THAT(all_points(space),
              ElementsAre("a=1 b=3 c=4", "a=1 b=3 c=5", "a=2 b=3 c=5"));
}

}  // namespace
}  // namespace ingot::te
