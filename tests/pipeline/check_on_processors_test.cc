// `ingot check` beside loading, on processors that QEMU stands for: what it
// says there, and what it says here of that processor (--cpu), must be what
// happens.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;

struct Processor {
  const char* qemu;  // as QEMU names it, and as LLVM does
  const char* llvm;
};

class CheckOnProcessorsTest : public CliTest {
 protected:
  // The same as Ingot() on another processor.
  CommandResult IngotOn(const Processor& processor,
                        const std::vector<std::string>& words) const {
    std::vector<std::string> args = {"/usr/bin/qemu-x86_64", "-cpu",
                                     processor.qemu, getenv("INGOT_BINARY")};
    args.insert(args.end(), words.begin(), words.end());
    return RunCommand(args);
  }
};

TEST_F(CheckOnProcessorsTest, CheckSaysWhatLoadingDoes) {
  const auto level = [](const std::string& cpu) {
    return "llvm -mtriple=x86_64-linux-gnu -mcpu=" + cpu;
  };
  const std::vector<std::string> targets = {
      level("x86-64"),
      level("x86-64-v2"),
      level("x86-64-v3"),
      level("x86-64-v4"),
      "v4: " + level("x86-64-v4") + "; v3: " + level("x86-64-v3") +
          "; v2: " + level("x86-64-v2"),
  };
  int loaded = 0, refused = 0;
  for (const std::string& target : targets) {
    Do({"compile", "@conv.onnx", "-o", "@set.ingot", "--quiet",
        "--target=" + target});
    Do({"link", "@set.ingot", "-o", "@set.so", "--quiet"});
    const std::string set = Path("set.so");
    for (const Processor& processor :
         {Processor{"core2duo", "core2"}, Processor{"Nehalem", "nehalem"},
          Processor{"SandyBridge", "sandybridge"},
          Processor{"Haswell", "haswell"}}) {
      SCOPED_TRACE(target + " on " + processor.qemu);
      const CommandResult run = IngotOn(processor, {"run", set});
      const CommandResult there = IngotOn(processor, {"check", set});
      const CommandResult here =
          Ingot({"check", set, std::string("--cpu=") + processor.llvm});
      EXPECT_EQ(there.exit, run.exit) << there.out << there.err << run.err;
      EXPECT_EQ(here.exit, run.exit) << here.out << here.err << run.err;
      ++(run.exit == 0 ? loaded : refused);
      if (run.exit != 0) {
        EXPECT_THAT(run.err, HasSubstr("lacks"));
        EXPECT_THAT(there.out, HasSubstr("refused"));
        continue;
      }
      // The variant that it names is the one that is loaded.
      const size_t variant = there.out.find("Loading takes the variant ");
      if (variant == std::string::npos) continue;
      const std::string name = there.out.substr(variant + 26, 2);
      EXPECT_THAT(run.out + run.err, HasSubstr("loaded the variant " + name));
      EXPECT_THAT(here.out, HasSubstr("Loading takes the variant " + name));
    }
  }
  // Both happen: the combinations say something.
  EXPECT_EQ(loaded + refused, 20);
  EXPECT_GE(loaded, 5);
  EXPECT_GE(refused, 5);
}

}  // namespace
}  // namespace ingot
