#include "artifact/names.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "artifact/target_keys.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(NamesTest, AcceptsSafeFileNames) {
  for (const std::string& name : std::vector<std::string>{
           "a", "lib0.o", "src/kernels.c", ".hidden", "a b", "a..b", "...x",
           "x/.y/z-1_2+3", std::string(kMaxComponentLength, 'n')}) {
    EXPECT_TRUE(CheckFileName(name).ok()) << name;
  }
}

TEST(NamesTest, RefusesUnsafeFileNames) {
  std::string long_path = "a";
  while (long_path.size() <= kMaxFileNameLength) long_path += "/a";
  for (const std::string& name : std::vector<std::string>{
           "",         "/",       "/etc/passwd",
           "..",       "../x",    "a/../b",
           "a/..",     ".",       "./a",
           "a/.",      "a//b",    "a/",
           "C:\\x",    "c:x",     "a\\b",
           "a\nb",     "a\x7f",   std::string("a\0b", 3),
           "\xc3\xa4", " a",      "a ",
           "a.",       "a/b ./c", "nul*",
           "what?",    "a|b",     "\"",
           "<a",       "a>",      std::string(kMaxComponentLength + 1, 'n'),
           long_path}) {
    const absl::Status status = CheckFileName(name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST(NamesTest, MessagesEscapeAndCutNames) {
  const absl::Status status =
      CheckFileName("\x1b[31m" + std::string(100000, 'x'));
  EXPECT_EQ(status.message().find('\x1b'), absl::string_view::npos);
  EXPECT_LT(status.message().size(), 500u);
}

TEST(NamesTest, Identifiers) {
  for (const std::string& name : std::vector<std::string>{
           "llvm", "a-b_c.d", "0", "x-", std::string(128, 'x')}) {
    EXPECT_TRUE(CheckIdentifier("id", name).ok()) << name;
  }
  for (const std::string& name : std::vector<std::string>{
           "", ".", "..", ".a", "a.", "a/b", "a b", "-Q", "--", "-x.o",
           "\xc3\xa4", "a\n", std::string(129, 'x')}) {
    EXPECT_EQ(CheckIdentifier("id", name).code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST(NamesTest, TargetKeyLeavesTheManifestItsName) {
  EXPECT_TRUE(CheckTargetKey("host").ok());
  EXPECT_FALSE(CheckTargetKey("manifest.json").ok());
  EXPECT_FALSE(CheckTargetKey("Manifest.JSON").ok());
}

TEST(NamesTest, ProvenanceTextsAreUtf8) {
  // Cut off, too long a form of "/", a surrogate, past the last code point, a
  // continuation without a start.
  for (const std::string& bad :
       std::vector<std::string>{"\xc3", "\xc0\xaf", "\xed\xa0\x80",
                                "\xf4\x90\x80\x80", "\x80", "ok\xff"}) {
    Provenance provenance;
    provenance.set_model_name(bad);
    EXPECT_FALSE(CheckProvenance(provenance).ok()) << bad;
  }
  Provenance provenance;
  provenance.set_model_name("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\n");
  EXPECT_TRUE(CheckProvenance(provenance).ok());
  provenance.set_target("llvm\n");
  EXPECT_FALSE(CheckProvenance(provenance).ok());
}

TEST(NamesTest, LinkLibrariesAreNeitherPathsNorFlags) {
  for (const std::string& name : std::vector<std::string>{
           "m", "libdnnl.so.3", "stdc++", "openblas:libopenblas0"}) {
    Provenance provenance;
    MutableTargetKey(&provenance, "host")->add_link_libraries(name);
    EXPECT_TRUE(CheckProvenance(provenance).ok()) << name;
  }
  for (const std::string& name :
       std::vector<std::string>{"", "-Wl,x", "/lib/x.so", "../x.so", "a b",
                                ".x", "@file", ":x", "a:b:c", "a:b c"}) {
    Provenance provenance;
    MutableTargetKey(&provenance, "host")->add_link_libraries(name);
    EXPECT_FALSE(CheckProvenance(provenance).ok()) << name;
  }
}

TEST(NamesTest, TargetKeysAreNamesInOrder) {
  Provenance provenance;
  for (const char* name : {"host", "dsp", "npu", "dsp"}) {
    MutableTargetKey(&provenance, name)->set_triple(name);
  }
  ASSERT_EQ(provenance.target_keys_size(), 3);
  EXPECT_TRUE(CheckProvenance(provenance).ok());
  EXPECT_EQ(provenance.target_keys(0).name(), "dsp");
  EXPECT_EQ(provenance.target_keys(2).name(), "npu");
  EXPECT_EQ(FindTargetKey(provenance, "host").triple(), "host");
  EXPECT_EQ(FindTargetKey(provenance, "other").triple(), "");
  Provenance bad = provenance;
  bad.mutable_target_keys(1)->set_name("dsp");
  EXPECT_FALSE(CheckProvenance(bad).ok());
  bad = provenance;
  bad.mutable_target_keys()->SwapElements(0, 1);
  EXPECT_FALSE(CheckProvenance(bad).ok());
  bad = provenance;
  bad.mutable_target_keys(0)->set_name("-Q");
  EXPECT_FALSE(CheckProvenance(bad).ok());
  bad = provenance;
  bad.set_library_key("../host");
  EXPECT_FALSE(CheckProvenance(bad).ok());
}

TEST(NamesTest, SymbolPrefixIsAnIdentifier) {
  for (const std::string& prefix :
       std::vector<std::string>{"", "net_", "_1", "A9"}) {
    Provenance provenance;
    provenance.set_symbol_prefix(prefix);
    EXPECT_TRUE(CheckProvenance(provenance).ok()) << prefix;
  }
  for (const std::string& prefix : std::vector<std::string>{
           "1a", "a-b", "a b", "a.", "\"", std::string(129, 'p')}) {
    Provenance provenance;
    provenance.set_symbol_prefix(prefix);
    EXPECT_FALSE(CheckProvenance(provenance).ok()) << prefix;
  }
}

}  // namespace
}  // namespace ingot
