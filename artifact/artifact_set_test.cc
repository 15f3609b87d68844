#include "artifact/artifact_set.h"

#include <memory>
#include <string>
#include <vector>

#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Fails;
using testing::MakeArtifact;
using testing::SameSets;

std::vector<std::string> Paths(const ArtifactSet& set) {
  std::vector<std::string> paths;
  for (const Artifact& artifact : set.artifacts()) {
    paths.push_back(ArtifactPath(artifact));
  }
  return paths;
}

TEST(ArtifactSetTest, OrderDoesNotDependOnHowItWasFilled) {
  const std::vector<Artifact> artifacts = {
      MakeArtifact("llvm", "native", "host", "b.o", "1"),
      MakeArtifact("llvm", "native", "host", "a.o", "2"),
      MakeArtifact("c", "native", "host", "z.c", "3"),
      MakeArtifact("llvm", "native", "dsp", "a.o", "4"),
      MakeArtifact("llvm", "native", "host", "a/x.o", "5"),
  };
  ArtifactSet forward, backward;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    EXPECT_OK(forward.Add(artifacts[i]));
    EXPECT_OK(backward.Add(artifacts[artifacts.size() - 1 - i]));
  }
  EXPECT_EQ(Paths(forward), (std::vector<std::string>{
                                "dsp/llvm/a.o", "host/c/z.c", "host/llvm/a.o",
                                "host/llvm/a/x.o", "host/llvm/b.o"}));
  EXPECT_TRUE(SameSets(forward, backward));
}

TEST(ArtifactSetTest, FindsByAllThreeNames) {
  const ArtifactSet set = testing::SmallSet();
  const Artifact* found = set.Find("dsp", "llvm", "lib0.o");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->content.view(), "dsp");
  EXPECT_EQ(set.Find("dsp", "llvm", "lib1.o"), nullptr);
  EXPECT_EQ(set.Find("dsp", "c", "lib0.o"), nullptr);
  EXPECT_EQ(set.Find("zzz", "llvm", "lib0.o"), nullptr);
}

TEST(ArtifactSetTest, AnEmptyTargetKeyIsHost) {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "", "a", "")));
  EXPECT_NE(set.Find("host", "llvm", "a"), nullptr);
}

TEST(ArtifactSetTest, RefusesADuplicate) {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "a", "1")));
  EXPECT_TRUE(Fails(set.Add(MakeArtifact("llvm", "other", "host", "a", "2")),
                    absl::StatusCode::kAlreadyExists, {"host/llvm/a"}));
  ASSERT_EQ(set.artifacts().size(), 1u);
  EXPECT_EQ(set.artifacts()[0].content.view(), "1");
  // The same name for another codegen or target is another artifact.
  EXPECT_OK(set.Add(MakeArtifact("c", "native", "host", "a", "")));
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "dsp", "a", "")));
}

TEST(ArtifactSetTest, RefusesNamesThatDifferOnlyInCase) {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "Src/a.o", "")));
  for (const Artifact& clash :
       {MakeArtifact("llvm", "native", "host", "Src/A.o", ""),
        MakeArtifact("llvm", "native", "host", "src/b.o", ""),
        MakeArtifact("LLVM", "native", "host", "x", ""),
        MakeArtifact("llvm", "native", "Host", "x", "")}) {
    EXPECT_TRUE(Fails(set.Add(clash), absl::StatusCode::kInvalidArgument,
                      {"clashes with", ArtifactPath(clash)}));
  }
  EXPECT_EQ(set.artifacts().size(), 1u);
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "Src/b.o", "")));
}

TEST(ArtifactSetTest, RefusesANameThatIsBothFileAndFolder) {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "a/b", "")));
  EXPECT_TRUE(Fails(set.Add(MakeArtifact("llvm", "native", "host", "a", "")),
                    absl::StatusCode::kInvalidArgument, {"folder"}));
  EXPECT_TRUE(
      Fails(set.Add(MakeArtifact("llvm", "native", "host", "a/b/c", "")),
            absl::StatusCode::kInvalidArgument, {"folder"}));
}

TEST(ArtifactSetTest, ARefusedArtifactLeavesNoTrace) {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "x/f", "")));
  EXPECT_FALSE(
      set.Add(MakeArtifact("llvm", "native", "host", "x/f/g", "")).ok());
  EXPECT_FALSE(set.Add(MakeArtifact("llvm", "bad/", "host", "Y/f", "")).ok());
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "y/f", "")));
}

TEST(ArtifactSetTest, ChecksEachName) {
  ArtifactSet set;
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Fails(set.Add(MakeArtifact("", "native", "host", "a", "")), code,
                    {"codegen id"}));
  EXPECT_TRUE(
      Fails(set.Add(MakeArtifact("c", "", "host", "a", "")), code, {"loader"}));
  EXPECT_TRUE(Fails(set.Add(MakeArtifact("c", "native", "..", "a", "")), code,
                    {"target key"}));
  EXPECT_TRUE(Fails(set.Add(MakeArtifact("c", "native", "host", "../a", "")),
                    code, {"file name", "../a"}));
  EXPECT_TRUE(set.artifacts().empty());
}

TEST(ArtifactSetTest, ALiveObjectIsNotExportable) {
  ArtifactSet set = testing::SmallSet();
  EXPECT_OK(set.CheckExportable());
  Artifact live = MakeArtifact("python", "python", "host", "function", "");
  live.live = std::make_shared<int>(1);
  EXPECT_OK(set.Add(live));
  EXPECT_TRUE(Fails(set.CheckExportable(),
                    absl::StatusCode::kFailedPrecondition,
                    {"host/python/function", "live object"}));
}

TEST(ArtifactSetTest, BadProvenanceIsNotExportable) {
  ArtifactSet set = testing::SmallSet();
  set.mutable_provenance().set_model_name("\xff");
  EXPECT_TRUE(Fails(set.CheckExportable(), absl::StatusCode::kInvalidArgument,
                    {"model's name"}));
}

}  // namespace
}  // namespace ingot
