#include "artifact/variants.h"

#include <string>
#include <utility>
#include <vector>

#include "artifact/container.h"
#include "artifact/loader_names.h"
#include "artifact/names.h"
#include "artifact/target_keys.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Artifact Make(const std::string& key, const std::string& loader,
              const std::string& file, const std::string& content) {
  Artifact artifact;
  artifact.codegen_id = "test";
  artifact.loader = loader;
  artifact.target_key = key;
  artifact.file_name = file;
  artifact.content = Blob::FromString(content);
  return artifact;
}

void AddOption(Provenance* provenance, const std::string& name,
               const std::string& value) {
  Provenance::Option* option = provenance->add_options();
  option->set_name(name);
  option->set_value(value);
}

// A set with code for the host and for another key, a plan and weights.
ArtifactSet MakeSet(const std::string& target, const std::string& code) {
  ArtifactSet set;
  EXPECT_TRUE(set.Add(Make("host", kNativeLoader, "kernels.o", code)).ok());
  EXPECT_TRUE(set.Add(Make("dsp", kNativeLoader, "dsp.o", code + "d")).ok());
  EXPECT_TRUE(set.Add(Make("host", kMetadataLoader, "plan", "p" + code)).ok());
  EXPECT_TRUE(set.Add(Make("host", kConstantsLoader, "weights", "w")).ok());
  Provenance& p = set.mutable_provenance();
  p.set_ingot_version("1");
  p.set_model_name("model");
  p.set_symbol_prefix("model");
  p.set_target(target);
  AddOption(&p, "opt-level", "2");
  AddOption(&p, "made-of", code);
  MutableTargetKey(&p, "host")->set_triple("triple-of-" + code);
  MutableTargetKey(&p, "dsp")->add_cpu_features("f");
  return set;
}

std::vector<std::string> PathsOf(const ArtifactSet& set) {
  std::vector<std::string> paths;
  for (const Artifact& artifact : set.artifacts()) {
    paths.push_back(ArtifactPath(artifact));
  }
  return paths;
}

TEST(Variants, LieSideBySideAndShareTheirWeights) {
  const absl::StatusOr<ArtifactSet> both =
      CombineVariants({{"a", MakeSet("x", "1")}, {"b", MakeSet("y", "2")}});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(PathsOf(*both),
              ElementsAre("a/test/kernels.o", "a/test/plan", "a.dsp/test/dsp.o",
                          "b/test/kernels.o", "b/test/plan", "b.dsp/test/dsp.o",
                          "host/test/weights"));
  const Provenance& p = both->provenance();
  EXPECT_EQ(p.target(), "a: x; b: y");
  ASSERT_EQ(p.options_size(), 1);
  EXPECT_EQ(p.options(0).name(), "opt-level");
  ASSERT_EQ(p.variants_size(), 2);
  EXPECT_EQ(p.variants(1).options(0).value(), "2");
  EXPECT_EQ(FindTargetKey(p, "b").triple(), "triple-of-2");
  EXPECT_EQ(VariantOfKey(p, "b.dsp"), "b");
  EXPECT_EQ(VariantOfKey(p, "host"), "");
}

TEST(Variants, ComeOutAsTheyWentIn) {
  const ArtifactSet a = MakeSet("x", "1"), b = MakeSet("y", "2");
  const absl::StatusOr<ArtifactSet> both =
      CombineVariants({{"a", a}, {"b", b}});
  ASSERT_TRUE(both.ok()) << both.status();
  for (const auto& [name, set] : {std::pair("a", &a), std::pair("b", &b)}) {
    const absl::StatusOr<ArtifactSet> out = SelectVariant(*both, name);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(PathsOf(*out), PathsOf(*set));
    for (size_t i = 0; i < set->artifacts().size(); ++i) {
      EXPECT_EQ(out->artifacts()[i].content.view(),
                set->artifacts()[i].content.view());
    }
    EXPECT_EQ(out->provenance().SerializeAsString(),
              set->provenance().SerializeAsString());
  }
  const absl::Status none = SelectVariant(*both, "c").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(none.message()), HasSubstr("it has: a, b"));
  EXPECT_EQ(SelectVariant(a, "a").status().code(), absl::StatusCode::kNotFound);
}

TEST(Variants, KeepWeightsApartThatDiffer) {
  ArtifactSet other;
  EXPECT_TRUE(other.Add(Make("host", kConstantsLoader, "weights", "W")).ok());
  other.mutable_provenance() = MakeSet("y", "2").provenance();
  const absl::StatusOr<ArtifactSet> both =
      CombineVariants({{"a", MakeSet("x", "1")}, {"b", other}});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_NE(both->Find("a", "test", "weights"), nullptr);
  EXPECT_NE(both->Find("b", "test", "weights"), nullptr);
  EXPECT_EQ(both->Find("host", "test", "weights"), nullptr);
}

TEST(Variants, OfDifferentModelsAreRefused) {
  ArtifactSet other = MakeSet("y", "2");
  other.mutable_provenance().set_model_name("other");
  const auto why = [&](std::vector<Variant> variants) {
    return std::string(CombineVariants(variants).status().message());
  };
  const ArtifactSet set = MakeSet("x", "1");
  EXPECT_THAT(why({{"a", set}, {"b", other}}), HasSubstr("of another model"));
  EXPECT_THAT(why({{"a", set}, {"a", set}}), HasSubstr("already has"));
  EXPECT_THAT(why({{"host", set}}), HasSubstr("what variants share"));
  EXPECT_THAT(why({{"a.b", set}}), HasSubstr("must not hold a dot"));
  EXPECT_THAT(why({{"a", *CombineVariants({{"b", set}})}}),
              HasSubstr("has variants itself"));
}

TEST(Variants, HaveNamesThatAreChecked) {
  Provenance provenance;
  for (const char* bad : {"", "host", "a.b", "../x", "manifest.json"}) {
    provenance.clear_variants();
    provenance.add_variants()->set_name(bad);
    EXPECT_FALSE(CheckProvenance(provenance).ok()) << bad;
  }
  provenance.clear_variants();
  provenance.add_variants()->set_name("a");
  EXPECT_TRUE(CheckProvenance(provenance).ok());
  provenance.add_variants()->set_name("a");
  EXPECT_FALSE(CheckProvenance(provenance).ok());
}

// A damaged set: what all share would be in the way of what the variant has.
TEST(Variants, ThatCollideWithWhatIsSharedAreRefused) {
  ArtifactSet set;
  ASSERT_TRUE(set.Add(Make("a", kNativeLoader, "x.o", "1")).ok());
  ASSERT_TRUE(set.Add(Make("host", kNativeLoader, "x.o", "2")).ok());
  set.mutable_provenance().add_variants()->set_name("a");
  EXPECT_EQ(SelectVariant(set, "a").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Variants, GoThroughAContainer) {
  const absl::StatusOr<ArtifactSet> both =
      CombineVariants({{"a", MakeSet("x", "1")}, {"b", MakeSet("y", "2")}});
  ASSERT_TRUE(both.ok()) << both.status();
  std::string bytes;
  ASSERT_TRUE(WriteContainerTo(*both, [&bytes](absl::string_view more) {
                bytes.append(more.data(), more.size());
                return absl::OkStatus();
              }).ok());
  const absl::StatusOr<ArtifactSet> read =
      ReadContainer(Blob::FromString(bytes));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->provenance().SerializeAsString(),
            both->provenance().SerializeAsString());
}

}  // namespace
}  // namespace ingot
