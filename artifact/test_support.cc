#include "artifact/test_support.h"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/target_keys.h"

namespace ingot::testing {

::testing::AssertionResult Fails(const absl::Status& status,
                                 absl::StatusCode code,
                                 const std::vector<std::string>& words) {
  bool matches = status.code() == code;
  for (const std::string& word : words) {
    matches &= absl::StrContains(status.message(), word);
  }
  if (matches) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << status.ToString();
}

Artifact MakeArtifact(absl::string_view codegen_id, absl::string_view loader,
                      absl::string_view target_key, absl::string_view file_name,
                      std::string content) {
  Artifact artifact;
  artifact.codegen_id = std::string(codegen_id);
  artifact.loader = std::string(loader);
  artifact.target_key = std::string(target_key);
  artifact.file_name = std::string(file_name);
  artifact.content = Blob::FromString(std::move(content));
  return artifact;
}

ArtifactSet SmallSet() {
  ArtifactSet set;
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "host", "lib0.o",
                                 std::string("\x7f"
                                             "ELF\0\1\2\3",
                                             8))));
  EXPECT_OK(set.Add(MakeArtifact("llvm", "native", "dsp", "lib0.o", "dsp")));
  EXPECT_OK(set.Add(MakeArtifact("plan", "metadata", "host", "plan.json",
                                 R"({"b":[1,2.50],"a":{}})")));
  EXPECT_OK(set.Add(MakeArtifact("c", "native", "host", "src/kernels.c",
                                 "int f(void) { return 1; }\n")));
  EXPECT_OK(set.Add(MakeArtifact("c", "native", "host", "empty", "")));
  EXPECT_OK(set.Add(MakeArtifact("constants", "constants", "host",
                                 "weights.bin", std::string(100, '\x3f'))));
  Provenance& p = set.mutable_provenance();
  p.set_ingot_version("0.1");
  p.set_model_name("netz \xc3\xa4\n\"quoted\"");
  p.set_model_sha256(std::string(64, 'a'));
  Provenance::Option* metadata = p.add_model_metadata();
  metadata->set_name("model_license");
  metadata->set_value("Apache-2.0\n\xc3\xa4");
  p.set_target("dnnl,llvm -mcpu=native");
  Provenance::Option* option = p.add_options();
  option->set_name("opt-level");
  option->set_value("3");
  p.add_options()->set_name("empty-value");
  p.set_symbol_prefix("net_");
  Provenance::TargetKey* key = MutableTargetKey(&p, "host");
  key->set_triple("x86_64-linux-gnu");
  key->add_cpu_features("avx2");
  key->add_cpu_features("fma");
  key->add_link_libraries("libdnnl.so.3");
  Provenance::Variant* variant = p.add_variants();
  variant->set_name("small");
  variant->set_target("c");
  Provenance::Option* own = variant->add_options();
  own->set_name("no-main");
  own->set_value("why");
  return set;
}

::testing::AssertionResult SameSets(const ArtifactSet& a,
                                    const ArtifactSet& b) {
  if (a.artifacts().size() != b.artifacts().size()) {
    return ::testing::AssertionFailure()
           << a.artifacts().size() << " and " << b.artifacts().size()
           << " artifacts";
  }
  for (size_t i = 0; i < a.artifacts().size(); ++i) {
    const Artifact& x = a.artifacts()[i];
    const Artifact& y = b.artifacts()[i];
    if (ArtifactPath(x) != ArtifactPath(y) || x.loader != y.loader ||
        x.content.view() != y.content.view()) {
      return ::testing::AssertionFailure()
             << ArtifactPath(x) << " and " << ArtifactPath(y) << " differ";
    }
  }
  // Fields that a later Ingot added are read, but not written.
  Provenance of_a = a.provenance(), of_b = b.provenance();
  of_a.DiscardUnknownFields();
  of_b.DiscardUnknownFields();
  if (of_a.SerializeAsString() != of_b.SerializeAsString()) {
    return ::testing::AssertionFailure() << "the provenance differs";
  }
  return ::testing::AssertionSuccess();
}

std::string TestFolder() {
  std::string name = absl::StrCat(::testing::TempDir(), "/ingot.XXXXXX");
  EXPECT_NE(mkdtemp(name.data()), nullptr) << name;
  return name;
}

void WriteFile(const std::string& path, absl::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.flush().good()) << path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

FileSizeLimit::FileSizeLimit(uint64_t bytes) {
  EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit_), 0);
  // By default the signal ends the process.
  old_handler_ = signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit_;
  limit.rlim_cur = bytes;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

FileSizeLimit::~FileSizeLimit() {
  setrlimit(RLIMIT_FSIZE, &old_limit_);
  signal(SIGXFSZ, old_handler_);
}

std::vector<std::string> FilesBelow(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    names.push_back(entry.path().string().substr(dir.size() + 1));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ingot::testing
