#include "tools/ingot/budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/native/run_program.h"
#include "tools/ingot/last_words.h"

namespace ingot {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

// Limits hold for a whole process, so each test has one of its own.
class BudgetTest : public testing::Test {
 protected:
  BudgetTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Takes what the optimizer must not leave out.
void Allocate(size_t bytes) {
  std::vector<char> memory(bytes);
  volatile char* end = memory.data() + bytes - 1;
  *end = 1;
}

TEST_F(BudgetTest, SizesHaveUnits) {
  EXPECT_EQ(ParseSize("0").value(), 0u);
  EXPECT_EQ(ParseSize("1000").value(), 1000u);
  EXPECT_EQ(ParseSize("64K").value(), 65536u);
  EXPECT_EQ(ParseSize("512M").value(), 512u << 20);
  EXPECT_EQ(ParseSize("4g").value(), uint64_t{4} << 30);
  for (const char* bad : {"", "G", "-1", "+1", " 1", "1.5G", "4GB",
                          "99999999999999999999", "9999999999999G"}) {
    EXPECT_FALSE(ParseSize(bad).ok()) << bad;
  }
}

TEST_F(BudgetTest, TheDefaultIsAPartOfTheMachine) {
  const Budget budget = DefaultBudget();
  EXPECT_GT(budget.memory, uint64_t{1} << 28);
  EXPECT_LT(budget.memory, static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(budget.seconds, 0);
}

TEST_F(BudgetTest, MoreMemoryThanAllowedEndsTheCallWithALine) {
  const auto run = [] {
    PrepareLastWords("compile: x.onnx");
    if (!StartBudget({64 << 20, 0}).ok()) _exit(9);
    Allocate(32 << 20);
    // Nothing unwinds.
    try {
      Allocate(256 << 20);
    } catch (const std::bad_alloc&) {
      _exit(3);
    }
    _exit(4);
  };
  EXPECT_EXIT(run(), ExitedWithCode(1),
              "^ingot: compile: x.onnx: needs more memory than 64.0 MiB; "
              "allow more with --max-memory\n$");
}

TEST_F(BudgetTest, ALimitCanBeRaisedAndTakenAway) {
  const auto run = [] {
    if (!StartBudget({16 << 20, 0}).ok()) _exit(9);
    if (!StartBudget({512 << 20, 0}).ok()) _exit(9);
    Allocate(256 << 20);
    if (!StartBudget({0, 0}).ok()) _exit(9);
    Allocate(768 << 20);
    _exit(0);
  };
  EXPECT_EXIT(run(), ExitedWithCode(0), "");
}

TEST_F(BudgetTest, AThreadWithoutMemoryEndsTheCallWithALine) {
  const auto run = [] {
    PrepareLastWords("compile: x.onnx");
    if (!StartBudget({64 << 20, 0}).ok()) _exit(9);
    std::thread([] { Allocate(256 << 20); }).join();
  };
  EXPECT_EXIT(run(), ExitedWithCode(1),
              "^ingot: compile: x.onnx: needs more memory than 64.0 MiB; "
              "allow more with --max-memory\n$");
}

TEST_F(BudgetTest, TimeThatIsOverEndsTheCallAndItsPrograms) {
  const auto run = [] {
    PrepareLastWords("compile: x.onnx");
    if (!StartBudget({0, 0.2}).ok()) _exit(9);
    // It would write to the same stderr after the end.
    RunProgram({"/bin/sleep", "30"}).IgnoreError();
    _exit(4);
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EXIT(run(), ExitedWithCode(1),
              "^ingot: compile: x.onnx: not done after 200 ms; allow more with "
              "--max-seconds\n$");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(BudgetTest, TimeThatIsNotOverChangesNothing) {
  const auto run = [] {
    PrepareLastWords("compile: x.onnx");
    if (!StartBudget({0, 0.2}).ok() || !StartBudget({0, 100}).ok()) _exit(9);
    usleep(500000);
    _exit(5);
  };
  EXPECT_EXIT(run(), ExitedWithCode(5), "^$");
}

int Recurse(volatile int* depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(++*depth);
  if (*depth < 0) return 0;
  return Recurse(depth) + room[0];
}

TEST_F(BudgetTest, ACrashIsALine) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "The sanitizer has handlers of its own.";
#endif
#endif
  const auto run = [] {
    PrepareLastWords("run: x.ingot");
    volatile int depth = 0;
    _exit(Recurse(&depth));
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV),
              "^ingot: run: x.ingot: crashed .* too deep a nesting\n$");
}

}  // namespace
}  // namespace ingot
