#include "backends/llvm/code_listing.h"

#include <map>
#include <string>
#include <vector>

#include "backends/llvm/find_loops.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

Instruction Make(uint64_t address, const std::string& text) {
  Instruction instruction;
  instruction.address = address;
  instruction.size = 2;
  instruction.text = text;
  return instruction;
}

Instruction Branch(uint64_t address, uint64_t target, bool is_call = false) {
  Instruction branch = Make(address, is_call ? "call" : "jne");
  branch.target = target;
  branch.is_call = is_call;
  return branch;
}

// Two loops, one with another inside of it, and a call backwards.
std::vector<Instruction> Code() {
  return {Make(0, "push"),  Make(2, "outer"),
          Make(4, "inner"), Branch(6, 4),
          Branch(8, 2),     Make(10, "second"),
          Branch(12, 10),   Branch(14, 0, /*is_call=*/true),
          Branch(16, 30),   Make(18, "ret"),
          Make(20, "lea"),  Branch(22, 0, /*is_call=*/true)};
}

TEST(FindLoops, KnowsHowDeepTheyAre) {
  const std::vector<Loop> loops = FindLoops(Code());
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(loops[0].first, 1u);
  EXPECT_EQ(loops[0].last, 4u);
  EXPECT_FALSE(loops[0].is_innermost);
  EXPECT_EQ(loops[1].depth, 2);
  EXPECT_TRUE(loops[1].is_innermost);
  EXPECT_EQ(loops[2].depth, 1);
  EXPECT_TRUE(loops[2].is_innermost);
  EXPECT_TRUE(FindLoops({}).empty());
}

TEST(FindLoops, TakesHugeCodeInLittleTime) {
  std::vector<Instruction> code(200000, Make(0, "nop"));
  for (size_t i = 0; i < code.size(); ++i) {
    code[i].address = 2 * i;
    if (i >= code.size() / 2) code[i].target = 2 * (code.size() - 1 - i);
  }
  EXPECT_EQ(FindLoops(code).size(), code.size() / 2);
}

TEST(CodeListing, MarksHotLoopsAndNamesWhatIsReferredTo) {
  const std::map<std::string, std::string> nodes = {{"f", "Conv_0, Relu_1"}};
  CodeNotes notes;
  notes.labels = {{0, "f"}, {20, "f.parallel.0"}};
  notes.references = {{21, "weights"}};
  notes.nodes = &nodes;
  EXPECT_EQ(ListCode(Code(), notes), R"(
f:  ; Conv_0, Relu_1
       0:   push
       2:   outer
          ; hot loop, 2 deep: 2 instructions
       4: | inner
       6: | jne
       8:   jne
          ; hot loop, 1 deep: 2 instructions
       a: | second
       c: | jne
       e:   call  ; f
      10:   jne
      12:   ret

f.parallel.0:  ; Conv_0, Relu_1
      14:   lea  ; weights
      16:   call  ; f
)");
}

}  // namespace
}  // namespace ingot
