#include "backends/builtin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

TEST(Builtin, RegistersEveryBackend) {
  TargetRegistry targets;
  ASSERT_TRUE(RegisterBuiltinTargets(&targets).ok());
  std::vector<std::string> kinds;
  for (const TargetKind* kind : targets.All()) {
    kinds.push_back(kind->name);
    EXPECT_FALSE(kind->doc.empty()) << kind->name;
    EXPECT_FALSE(kind->loaders.empty()) << kind->name;
    for (const auto& [option, help] : kind->options) {
      EXPECT_FALSE(help.empty()) << kind->name << " -" << option;
    }
  }
  EXPECT_THAT(kinds, IsSupersetOf({"c", "llvm", "llvmjit"}));

  LoaderRegistry loaders;
  ASSERT_TRUE(RegisterBuiltinLoaders(&loaders).ok());
  EXPECT_THAT(loaders.Names(), Contains("llvmjit"));

  InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterBuiltinInspectors(&inspectors).ok());
  Artifact object;
  object.file_name = "a.o";
  EXPECT_EQ(inspectors.Find(object).size(), 1u);
}

TEST(Builtin, TwiceIsAnError) {
  TargetRegistry targets;
  ASSERT_TRUE(RegisterBuiltinTargets(&targets).ok());
  EXPECT_EQ(RegisterBuiltinTargets(&targets).code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace ingot
