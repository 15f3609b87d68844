// `ingot sign` and --require-signature, on sets and libraries that somebody
// changed.
#include <filesystem>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;

constexpr char kPrivate[] = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJtnGhXCaL9eN/LRq24oyiYQnObC9V/9RNJ+mJfxrfW1
-----END PRIVATE KEY-----
)";
constexpr char kPublic[] = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAxfKsWoBR5QnvglHS9Z8Vysm/STCD5mRwhdO0iHruUYE=
-----END PUBLIC KEY-----
)";
constexpr char kOtherPublic[] = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAwJIom1GFhZhM8+TivOEJWQuXE7Uef/8w61mUBSba8bw=
-----END PUBLIC KEY-----
)";

class SignCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteFileBytes(Path("key.pem"), kPrivate);
    WriteFileBytes(Path("public.pem"), kPublic);
    WriteFileBytes(Path("other.pem"), kOtherPublic);
    Do({"compile", "@conv.onnx", "-o", "@m.ingot", "--quiet"});
  }

  void Sign(const std::string& file) const {
    EXPECT_THAT(Do({"sign", "@" + file, "--key=@key.pem"}),
                HasSubstr(".sig: signs "));
  }

  // What a command says that refuses the file.
  void ExpectRefused(const std::string& command, const std::string& file,
                     const std::string& why,
                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {command, "@" + file,
                                      "--require-signature=@public.pem"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = Ingot(words);
    EXPECT_EQ(result.exit, 1) << command << " " << file;
    EXPECT_THAT(result.err, HasSubstr(why)) << command << " " << file;
  }
};

TEST_F(SignCommandTest, WhatIsSignedRunsAndLinksAsEver) {
  Sign("m.ingot");
  Do({"run", "@m.ingot"});  // links it
  const std::string plain = Do({"run", "@m.ingot", "--seed=1"});
  EXPECT_EQ(
      Do({"run", "@m.ingot", "--seed=1", "--require-signature=@public.pem"}),
      plain);
  Do({"check", "@m.ingot", "--require-signature=@public.pem"});
  Do({"link", "@m.ingot", "-o", "@m.so", "--quiet",
      "--require-signature=@public.pem"});
  ExpectRefused("run", "m.so", "a signature is required, and there is none");
  Sign("m.so");
  EXPECT_EQ(Do({"run", "@m.so", "--seed=1", "--require-signature=@public.pem"}),
            plain);
}

TEST_F(SignCommandTest, ASignatureMayLieElsewhere) {
  Do({"sign", "@m.ingot", "--key=@key.pem", "-o", "@elsewhere.json"});
  std::filesystem::rename(Path("m.ingot"), Path("renamed.ingot"));
  Do({"run", "@renamed.ingot", "--require-signature=@public.pem",
      "--signature=@elsewhere.json"});
  ExpectRefused("run", "renamed.ingot", "there is none");
  // One that is not asked for would look as if it had been checked.
  for (const char* command : {"run", "bench", "check"}) {
    ExpectError({command, "@renamed.ingot", "--signature=@elsewhere.json"}, 2,
                {"--require-signature=PUBLIC.pem"});
  }
  ExpectError(
      {"link", "@renamed.ingot", "-o", "@m.so", "--signature=@elsewhere.json"},
      2, {"--require-signature=PUBLIC.pem"});
}

TEST_F(SignCommandTest, NoByteMayChange) {
  Sign("m.ingot");
  const std::string good = ReadFile(Path("m.ingot"));
  for (const size_t at : {good.size() - 1, good.size() / 2, size_t{64}}) {
    std::string bad = good;
    bad[at] ^= 1;
    WriteFileBytes(Path("m.ingot"), bad);
    for (const char* command : {"run", "bench", "check"}) {
      ExpectRefused(command, "m.ingot", "is of other bytes");
    }
    ExpectRefused("link", "m.ingot", "is of other bytes", {"-o", "@m.so"});
    EXPECT_FALSE(std::filesystem::exists(Path("m.so")));
  }
}

TEST_F(SignCommandTest, OnlyTheOwnerOfTheKeySigns) {
  Sign("m.ingot");
  const CommandResult result =
      Ingot({"run", "@m.ingot", "--require-signature=@other.pem"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("m.ingot.sig: the signature is not by the "
                                    "owner of the public key"));
}

TEST_F(SignCommandTest, SaysWhatHasNoSignature) {
  Do({"dump", "@m.ingot", "-o", "@dumped"});
  ExpectRefused("run", "dumped", "a directory has no signature");
  ExpectRefused("run", "conv.onnx", "only sets and libraries are signed");
  const CommandResult directory = Ingot({"sign", "@dumped", "--key=@key.pem"});
  EXPECT_EQ(directory.exit, 1);
  const CommandResult model = Ingot({"sign", "@conv.onnx", "--key=@key.pem"});
  EXPECT_EQ(model.exit, 1);
  EXPECT_THAT(model.err, HasSubstr("is neither a set (.ingot) nor a library"));
  const CommandResult key = Ingot({"sign", "@m.ingot", "--key=@public.pem"});
  EXPECT_EQ(key.exit, 1);
  EXPECT_THAT(key.err, HasSubstr("is no private Ed25519 key"));
  EXPECT_EQ(Ingot({"sign", "@m.ingot"}).exit, 2);
}

TEST_F(SignCommandTest, TheBillOfMaterialsHasEveryArtifact) {
  Do({"compile", "@conv.onnx", "--target=dnnl,llvm", "-o", "@d.ingot",
      "--quiet"});
  const auto sbom =
      nlohmann::json::parse(Do({"inspect", "@d.ingot", "--sbom"}), nullptr,
                            /*allow_exceptions=*/false);
  ASSERT_TRUE(sbom.is_object());
  EXPECT_EQ(sbom["bomFormat"], "CycloneDX");
  EXPECT_EQ(sbom["metadata"]["component"]["type"], "machine-learning-model");
  std::map<std::string, std::string> hashes;
  for (const auto& component : sbom["components"]) {
    if (component["type"] == "library") continue;
    hashes[component["name"]] = component["hashes"][0]["content"];
  }
  const auto list = DoJson({"list", "@d.ingot"});
  EXPECT_EQ(hashes.size(), list["artifacts"].size());
  for (const auto& artifact : list["artifacts"]) {
    const std::string path =
        absl::StrCat(artifact["target_key"].get<std::string>(), "/",
                     artifact["codegen_id"].get<std::string>(), "/",
                     artifact["file_name"].get<std::string>());
    EXPECT_EQ(hashes[path], artifact["sha256"]) << path;
  }
  EXPECT_EQ(sbom["dependencies"][0]["dependsOn"].size(),
            sbom["components"].size());
}

// An entry of a serialised onnx.ModelProto's metadata_props (field 14), which
// may follow the rest of the file.
std::string Metadata(const std::string& key, const std::string& value) {
  const auto field = [](char tag, const std::string& bytes) {
    return tag + std::string(1, static_cast<char>(bytes.size())) + bytes;
  };
  return field('\x72', field('\x0a', key) + field('\x12', value));
}

TEST_F(SignCommandTest, TheBillOfMaterialsSaysWhatTheModelSaysOfItself) {
  WriteFileBytes(Path("licensed.onnx"),
                 ReadFile(Path("conv.onnx")) +
                     Metadata("model_license", "https://example.com/licence") +
                     Metadata("model_author", "A. Müller") +
                     Metadata("names", "{0: 'cat'}\n") +
                     Metadata("broken", "\xff"));
  const CommandResult compiled =
      Ingot({"compile", "@licensed.onnx", "-o", "@licensed.ingot", "--quiet"});
  EXPECT_EQ(compiled.exit, 0) << compiled.err;
  EXPECT_THAT(compiled.err, HasSubstr("metadata 'broken' is no text"));
  EXPECT_THAT(Do({"inspect", "@licensed.ingot"}), HasSubstr("A. Müller"));
  const auto model = nlohmann::json::parse(
      Do({"inspect", "@licensed.ingot", "--sbom"}))["metadata"]["component"];
  EXPECT_EQ(model["author"], "A. Müller");
  ASSERT_EQ(model["licenses"].size(), 1u);
  EXPECT_EQ(model["licenses"][0]["license"]["url"],
            "https://example.com/licence");
  EXPECT_EQ(model["properties"][0]["name"], "model:names");
  EXPECT_EQ(model["properties"][0]["value"], "{0: 'cat'}\n");
}

}  // namespace
}  // namespace ingot
