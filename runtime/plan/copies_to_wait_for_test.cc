#include "runtime/plan/copies_to_wait_for.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Lists = std::vector<std::vector<int>>;

// Tensors of 8 bytes: 0 to 3 in storage 0, the CPU's, at 0, 8, 16 and 4; 4 and
// 5 on devices 1 and 2; 6 in storage 0, of a size that only a run knows; 7 is a
// view of 0; 8 is state 0, and 9 a view of it.
Plan WithCalls(const std::string& calls) {
  Plan plan;
  std::string text = "storage {} storage { device: 1 } storage { device: 2 }";
  int types = 0;
  const auto add = [&](const std::string& place, const char* shape) {
    text += "types { dtype { code: 2 bits: 32 } shape { " + std::string(shape) +
            " } } tensors { type: " + std::to_string(types++) + " " + place +
            " }";
  };
  for (const char* offset : {"0", "8", "16", "4"}) {
    add("storage: 0 offset: " + std::string(offset), "value: 2");
  }
  add("storage: 1", "value: 2");
  add("storage: 2", "value: 2");
  add("storage: 0 offset: 32", "op: SYMBOL");
  add("view_of: 0", "value: 2");
  add("state: 0", "value: 2");
  add("view_of: 8", "value: 2");
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(text + calls, &plan));
  return plan;
}

std::string Copy(int from, int to, int device) {
  return "calls { copy {} args: [" + std::to_string(from) + ", " +
         std::to_string(to) +
         "] num_outputs: 1 device: " + std::to_string(device) + " }";
}

std::string OnCpu(int read, int write) {
  return "calls { function: 'f' args: [" + std::to_string(read) + ", " +
         std::to_string(write) + "] num_outputs: 1 }";
}

TEST(CopiesToWaitFor, ReadersWaitForWhatIsWritten) {
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 0, 1) + OnCpu(1, 2) +
                                      OnCpu(0, 2) + OnCpu(0, 2))),
            (Lists{{}, {}, {0}, {}}))
      << "once";
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 0, 1) + OnCpu(7, 2))),
            (Lists{{}, {0}}))
      << "a view";
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 0, 1) + OnCpu(3, 2))),
            (Lists{{}, {0}}))
      << "a part of it";
}

TEST(CopiesToWaitFor, WritersWaitForWhatIsRead) {
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(0, 4, 1) + OnCpu(0, 1) +
                                      OnCpu(1, 0) + OnCpu(1, 0))),
            (Lists{{}, {}, {0}, {}}));
}

// A run changes states as it changes storage.
TEST(CopiesToWaitFor, StatesAreReadAndWritten) {
  EXPECT_EQ(
      CopiesToWaitFor(WithCalls(Copy(9, 4, 1) + OnCpu(0, 1) + OnCpu(0, 8))),
      (Lists{{}, {}, {0}}));
  EXPECT_EQ(
      CopiesToWaitFor(WithCalls(Copy(4, 8, 1) + OnCpu(0, 1) + OnCpu(9, 1))),
      (Lists{{}, {}, {0}}));
}

TEST(CopiesToWaitFor, UnknownSizesReachToTheEnd) {
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 6, 1) + OnCpu(0, 2))),
            (Lists{{}, {}}));
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 6, 1) + OnCpu(6, 2))),
            (Lists{{}, {0}}));
}

TEST(CopiesToWaitFor, DevicesWaitForEachOtherAndTheCpuForTheLast) {
  // There and to the other device, which then overwrites it.
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 0, 1) + Copy(0, 5, 2) +
                                      Copy(5, 0, 2) + OnCpu(0, 1))),
            (Lists{{}, {0}, {0}, {0, 2}}));
  EXPECT_EQ(CopiesToWaitFor(WithCalls(Copy(4, 0, 1) + Copy(0, 4, 1))),
            (Lists{{}, {}}))
      << "one device does its copies in order";
}

TEST(CopiesToWaitFor, FunctionsOfDevicesWaitForNone) {
  EXPECT_EQ(
      CopiesToWaitFor(WithCalls(
          Copy(0, 4, 1) +
          "calls { function: 'f' args: [4, 4] num_outputs: 1 device: 1 }")),
      (Lists{{}, {}}));
}

// More copies than are told apart: whoever needs the oldest waits for one that
// has waited for it.
TEST(CopiesToWaitFor, ManyCopies) {
  std::string calls = Copy(4, 0, 1);
  for (int i = 0; i < 200; ++i) calls += Copy(2, 5, 2);
  const Lists waits = CopiesToWaitFor(WithCalls(calls + OnCpu(0, 1)));
  EXPECT_THAT(waits[63], IsEmpty());
  EXPECT_THAT(waits[64], ElementsAre(0));
  EXPECT_THAT(waits[65], IsEmpty());
  ASSERT_EQ(waits[201].size(), 1u);
  EXPECT_GE(waits[201][0], 64);
}

}  // namespace
}  // namespace ingot
