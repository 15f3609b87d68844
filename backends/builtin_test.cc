#include "backends/builtin.h"

#include "backends/light_inspectors.h"
#include "backends/light_loaders.h"
#include "compiler/relay/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Builtin, RegistersEveryBackend) {
  TargetRegistry targets;
  ASSERT_TRUE(RegisterBuiltinTargets(&targets).ok());
  std::vector<std::string> kinds;
  for (const TargetKind* kind : targets.All()) {
    kinds.push_back(kind->name);
    EXPECT_FALSE(kind->doc.empty()) << kind->name;
    EXPECT_FALSE(kind->loaders.empty()) << kind->name;
    for (const std::string& op :
         kind->operators.value_or(std::vector<std::string>())) {
      EXPECT_NE(relay::StandardOps().Find(op), nullptr)
          << kind->name << " takes an operator that is not there: " << op;
    }
    for (const auto& [option, help] : kind->options) {
      EXPECT_FALSE(help.doc.empty()) << kind->name << " -" << option;
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

TEST(Builtin, ProgramsWithoutACompilerHaveTheLightOnes) {
  LoaderRegistry loaders;
  ASSERT_TRUE(RegisterLightLoaders(&loaders).ok());
  EXPECT_THAT(loaders.Names(), Contains("dnnl"));
  EXPECT_THAT(loaders.Names(), Not(Contains("llvmjit")));

  InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterLightInspectors(&inspectors).ok());
  Artifact artifact;
  artifact.file_name = "a.o";
  EXPECT_TRUE(inspectors.Find(artifact).empty());
  artifact.file_name = "a.json";
  EXPECT_FALSE(inspectors.Find(artifact).empty());
}

TEST(Builtin, TwiceIsAnError) {
  TargetRegistry targets;
  ASSERT_TRUE(RegisterBuiltinTargets(&targets).ok());
  EXPECT_EQ(RegisterBuiltinTargets(&targets).code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace ingot
