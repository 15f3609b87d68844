#include "compiler/driver/plan/share_in_place.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tensors 0 to 3: an input, x, and what calls write. Tensors 4 to 6: sequences,
// the first of them an input. Tensors 7 and 8: a view and a part of the first.
Plan ParsePlan(const std::string& calls) {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
            types {
              dtype { code: 2 bits: 32 }
              shape { value: 4 }
            }
            tensors { name: "x" type: 0 input: 0 }
            types {
              dtype { code: 2 bits: 32 }
              shape { value: 4 }
            }
            tensors { name: "a" type: 1 }
            types {
              dtype { code: 2 bits: 32 }
              shape { value: 4 }
            }
            tensors { name: "b" type: 2 }
            types {
              dtype { code: 2 bits: 32 }
              shape { value: 5 }
            }
            tensors { name: "c" type: 3 }
            types { dtype { code: 2 bits: 32 } }
            tensors { name: "given" type: 4 is_sequence: true input: 1 }
            types { dtype { code: 2 bits: 32 } }
            tensors { name: "sequence" type: 5 is_sequence: true }
            types { dtype { code: 2 bits: 32 } }
            tensors { name: "more" type: 6 is_sequence: true }
            types {
              dtype { code: 2 bits: 32 }
              shape { value: 4 }
            }
            tensors { name: "view" type: 7 view_of: 1 }
            tensors { name: "part" type: 7 part_of: 1 }
            inputs: [ 0, 4 ]
      )pb" +
          calls,
      &plan));
  return plan;
}

constexpr char kMakeA[] =
    "calls { function: 'f' args: 0 args: 1 num_outputs: 1 } ";
constexpr char kLoopAToB[] =
    "calls { loop { carried: 1 } args: 1 args: 2 num_outputs: 1 } ";

// The updates in place of call `call`, "operand -> result".
std::vector<std::string> Shared(const std::string& calls, int call,
                                const std::vector<uint32_t>& owned = {}) {
  Plan plan = ParsePlan(calls);
  ShareInPlace(&plan, owned);
  std::vector<std::string> pairs;
  for (const PlanInPlace& pair : plan.calls(call).in_place()) {
    pairs.push_back(std::to_string(pair.operand()) + " -> " +
                    std::to_string(pair.result()));
  }
  return pairs;
}

TEST(ShareInPlace, LoopsTakeTheirOperandsPlace) {
  EXPECT_THAT(Shared(std::string(kMakeA) + kLoopAToB + "outputs: 2", 1),
              ElementsAre("0 -> 0"));
  // Through a view of it too.
  EXPECT_THAT(
      Shared(std::string(kMakeA) +
                 "calls { loop { carried: 1 } args: 7 args: 2 num_outputs: 1 } "
                 "outputs: 2",
             1),
      ElementsAre("0 -> 0"));
}

TEST(ShareInPlace, NotWhatIsReadAfterwards) {
  const std::string read_again =
      "calls { function: 'f' args: 7 args: 3 num_outputs: 1 } ";
  EXPECT_THAT(Shared(kMakeA + (kLoopAToB + read_again) + "outputs: 2", 1),
              IsEmpty());
  EXPECT_THAT(Shared(std::string(kMakeA) + kLoopAToB + "outputs: 7", 1),
              IsEmpty());
  // Nor what the loop reads in two positions.
  EXPECT_THAT(Shared(std::string(kMakeA) +
                         "calls { loop { carried: 1 } args: 1 args: 7 args: 2 "
                         "num_outputs: 1 } outputs: 2",
                     1),
              IsEmpty());
}

// A loop would give the result room of its own, beside the other parts.
TEST(ShareInPlace, NotParts) {
  EXPECT_THAT(
      Shared(std::string(kMakeA) +
                 "calls { loop { carried: 1 } args: 8 args: 2 num_outputs: 1 } "
                 "outputs: 2",
             1),
      IsEmpty());
}

TEST(ShareInPlace, NotInputsOtherShapesAndKernels) {
  EXPECT_THAT(Shared("calls { loop { carried: 1 } args: 0 args: 2 "
                     "num_outputs: 1 } outputs: 2",
                     0, {0}),
              IsEmpty());
  EXPECT_THAT(Shared(std::string(kMakeA) +
                         "calls { loop { carried: 1 } args: 1 args: 3 "
                         "num_outputs: 1 } outputs: 3",
                     1),
              IsEmpty());
  EXPECT_THAT(Shared(std::string(kMakeA) +
                         "calls { function: 'f' args: 1 args: 2 num_outputs: 1 "
                         "} outputs: 2",
                     1),
              IsEmpty());
}

constexpr char kInsertGiven[] =
    "calls { sequence { op: 'sequence_insert' } args: 4 args: 0 args: 5 "
    "num_outputs: 1 "
    "} ";
constexpr char kInsertSequence[] =
    "calls { sequence { op: 'sequence_insert' } args: 5 args: 0 args: 6 "
    "num_outputs: 1 "
    "} ";

TEST(ShareInPlace, SequencesAreMadeOfTheSequencesBefore) {
  const std::string calls = std::string(kInsertGiven) + kInsertSequence;
  EXPECT_THAT(Shared(calls + "outputs: 6", 1), ElementsAre("0 -> 0"));
  EXPECT_THAT(Shared(calls + "outputs: 6 outputs: 5", 1), IsEmpty());
  // An input belongs to the caller, unless it is passed for each run.
  EXPECT_THAT(Shared(calls + "outputs: 6", 0), IsEmpty());
  EXPECT_THAT(Shared(calls + "outputs: 6", 0, {0, 1}), ElementsAre("0 -> 0"));
}

TEST(ShareInPlace, BranchesPassSequencesOn) {
  const std::string branch =
      "calls { branch {} args: 3 args: 0 args: 5 args: 6 num_outputs: 1 } "
      "outputs: 6";
  EXPECT_THAT(Shared(kInsertGiven + branch, 1), ElementsAre("2 -> 0"));
}

}  // namespace
}  // namespace ingot
