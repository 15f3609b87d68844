// The C of a whole model as firmware compiles it, with the warnings of a
// careful build.

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(Warnings, ThereAreNone) {
  for (const char* nodes : {
           // Nothing reads %u.
           "%w = const f32[2, 3] random(1) %e = exp(%x) %y = mul(%e, %w)",
           // There is no kernel that could fail.
           "%y = reshape(%x) {shape=[2, 3]}",
       }) {
    auto module = relay::ReadModule(
        absl::StrCat("module { func @main(%x: f32[2, 3], %u: f32[2, 3]) "
                     "-> (%y) { ",
                     nodes, " } }"));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto set = testing_support::CompileFor(module->get(), "c");
    ASSERT_TRUE(set.ok()) << set.status();
    const std::string path = absl::StrCat(testing::TempDir(), "/kernels.c");
    std::ofstream file(path);
    for (const Artifact& artifact : set->artifacts()) {
      if (artifact.codegen_id == "c") file << artifact.content.view();
    }
    file.close();
    for (const char* define : {"-DINGOT_FREESTANDING", "-DHOSTED"}) {
      const std::string command =
          absl::StrCat("cc -std=c99 -Wall -Wextra -Werror -S -o /dev/null ",
                       define, " ", path);
      EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << nodes;
    }
  }
}

}  // namespace
}  // namespace ingot
