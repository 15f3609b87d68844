#include "compiler/tuning/logged_parameters.h"

#include <string>
#include <vector>

#include "base/version.h"
#include "compiler/machine/test_machine.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace ingot::tuning {
namespace {

class LoggedParametersTest : public testing::Test {
 protected:
  LoggedParametersTest() {
    target_.kind = "llvm";
    key_ = {KernelKey(kernel_.graph, kernel_.outputs),
            TargetKey(target_, machine_), kIngotVersion, 0, "cpu.matmul"};
  }

  // The points that are picked for the kernel's product with such a log, and
  // what the estimates say.
  struct Picked {
    std::string point, cheapest;
    int kernels, logged;
  };
  Picked Pick(const TuningLog& log) {
    const LoggedParameters logged(log.ToString());
    LogUse use;
    const te::ParameterPicker inner = logged.PickerFor(
        {"f", target_, machine_, kernel_.graph, kernel_.outputs}, &use);
    Picked picked = {};
    auto schedule = te::ScheduleKernel(
        kernel_.graph, kernel_.outputs, te::cpu::CpuTemplates(), machine_,
        [&](const te::ScheduleTemplate& t, const te::ScheduleSite& site,
            const te::ScheduleChoice& cheapest) {
          const te::ScheduleChoice point =
              inner == nullptr ? cheapest : inner(t, site, cheapest);
          if (t.name == "cpu.matmul") {
            picked.point = PointText(point);
            picked.cheapest = PointText(cheapest);
            last_ = PointText(te::AllPoints(t, site).back());
          }
          return point;
        });
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    picked.kernels = use.kernels;
    picked.logged = use.logged;
    return picked;
  }

  TuningLog LogOf(const TuningKey& key, const std::string& best) {
    TuningLog log;
    log.Add(key, {best, 1, best, 1, 1});
    return log;
  }

  te::Kernel kernel_ = te::cpu::Product({1, 130, 33, 50}, false);
  Target target_;
  MachineModel machine_ = TestCpu(256);
  TuningKey key_;
  std::string last_;  // point of the space
};

TEST_F(LoggedParametersTest, TakesWhatTheLogSays) {
  const Picked without = Pick(TuningLog());
  EXPECT_EQ(without.point, without.cheapest);
  EXPECT_EQ(without.kernels, 1);
  EXPECT_EQ(without.logged, 0);
  ASSERT_NE(last_, without.cheapest);
  const Picked with = Pick(LogOf(key_, last_));
  EXPECT_EQ(with.point, last_);
  EXPECT_EQ(with.logged, 1);
}

TEST_F(LoggedParametersTest, WhatIsNoPointOfTheSpaceIsNotFound) {
  for (const char* const text :
       {"vectors=2", "vectors=2,rows=99,l2_part=2", "rows=1;drop", "",
        "vectors=4,rows=16,l2_part=1"}) {  // more than the registers
    const Picked picked = Pick(LogOf(key_, text));
    EXPECT_EQ(picked.point, picked.cheapest) << text;
    EXPECT_EQ(picked.logged, 0) << text;
  }
}

TEST_F(LoggedParametersTest, AnotherMachineOrVersionIsNotFound) {
  Pick(TuningLog());  // for last_
  TuningKey key = key_;
  key.ingot = "0.0.9";
  EXPECT_EQ(Pick(LogOf(key, last_)).logged, 0);
  for (auto change : std::vector<void (*)(MachineModel*)>{
           [](MachineModel* m) { m->l2_bytes *= 2; },
           [](MachineModel* m) { m->vector_registers = 32; },
           [](MachineModel* m) { m->units = {MachineUnit::kInt8Dot}; }}) {
    MachineModel other = machine_;
    change(&other);
    key = key_;
    key.target = TargetKey(target_, other);
    EXPECT_NE(key.target, key_.target);
    EXPECT_EQ(Pick(LogOf(key, last_)).logged, 0);
  }
}

TEST_F(LoggedParametersTest, OptionsOfTheTargetCount) {
  Target native = target_, named = target_, slow = target_;
  native.options["mcpu"] = "native";
  named.options["mcpu"] = "haswell";
  slow.options["O"] = "1";
  EXPECT_EQ(TargetKey(native, machine_), key_.target);
  EXPECT_NE(TargetKey(named, machine_), key_.target);
  EXPECT_NE(TargetKey(slow, machine_), key_.target);
}

TEST_F(LoggedParametersTest, MeasurementsDecideNothingThatMustBeTheSame) {
  Pick(TuningLog());
  machine_.reproducible = true;
  TuningKey key = key_;
  key.target = TargetKey(target_, machine_);
  const Picked picked = Pick(LogOf(key, last_));
  EXPECT_EQ(picked.point, picked.cheapest);
  EXPECT_EQ(picked.logged, 0);
}

}  // namespace
}  // namespace ingot::tuning
