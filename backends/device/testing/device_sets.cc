#include "backends/device/testing/device_sets.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"

namespace ingot::testing_support {

absl::StatusOr<ArtifactSet> CompileText(absl::string_view model,
                                        const std::string& targets) {
  auto module = relay::ReadModule(model);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return module.status();
  CompileOptions options;
  auto list = ParseTargets(targets);
  EXPECT_TRUE(list.ok()) << list.status();
  if (!list.ok()) return list.status();
  options.targets = *list;
  options.target_text = targets;
  return CompileModule(module->get(), "m", "", BuiltinTargets(), options);
}

std::string ContentOf(const ArtifactSet& set, absl::string_view kind,
                      absl::string_view file) {
  const Artifact* artifact = set.Find(kind, kind, file);
  EXPECT_NE(artifact, nullptr) << file;
  return artifact == nullptr ? "" : std::string(artifact->content.view());
}

ArtifactSet WithFile(const ArtifactSet& set, absl::string_view file,
                     const std::string& content) {
  ArtifactSet changed;
  changed.mutable_provenance() = set.provenance();
  for (Artifact artifact : set.artifacts()) {
    if (artifact.file_name == file) {
      artifact.content = Blob::FromString(content);
    }
    EXPECT_TRUE(changed.Add(std::move(artifact)).ok());
  }
  return changed;
}

std::vector<std::string> WorkOfLoading(const ArtifactSet& set,
                                       BuildCache* builds) {
  std::vector<std::string> work;
  LoadOptions options;
  options.builds = builds;
  options.on_work = [&](absl::string_view line) { work.emplace_back(line); };
  const auto model = Load(set, BuiltinLoaders(), options);
  EXPECT_TRUE(model.ok()) << model.status();
  return work;
}

void CheckThatBuildsAreKept(const ArtifactSet& set,
                            absl::string_view code_file) {
  EXPECT_EQ(WorkOfLoading(set, nullptr).size(), 1u);
  KeptBuilds cache;
  const std::vector<std::string> work = WorkOfLoading(set, &cache);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_THAT(work[0], ::testing::HasSubstr(": the driver compiled "));
  ASSERT_EQ(cache.kept().size(), 1u);
  EXPECT_EQ(WorkOfLoading(set, &cache).size(), 0u);

  // Beside the code, without a cache.
  const Artifact built = cache.kept().begin()->second;
  ArtifactSet prepared = set;
  ASSERT_TRUE(prepared.Add(built).ok());
  EXPECT_EQ(WorkOfLoading(prepared, nullptr).size(), 0u);

  // The code is another now.
  std::string code;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.file_name == code_file)
      code = std::string(artifact.content.view());
  }
  const ArtifactSet edited = WithFile(prepared, code_file, code + "\n");
  EXPECT_EQ(WorkOfLoading(edited, nullptr).size(), 1u);

  // Damaged, and of something else under this name.
  const std::string content(built.content.view());
  for (const std::string& other :
       {std::string(), content.substr(0, 30),
        content.substr(0, content.find("\n\n") + 2) + "no code",
        content.substr(0, content.size() - 1), content + " ",
        "ingot built code 2\ndevice another\n\n" + content}) {
    const ArtifactSet damaged = WithFile(prepared, built.file_name, other);
    EXPECT_EQ(WorkOfLoading(damaged, nullptr).size(), 1u) << other;
  }
}

int CountOf(absl::string_view what, absl::string_view text) {
  int count = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++count;
  }
  return count;
}

std::string ConcatOf(int tensors) {
  std::string inputs, operands;
  for (int i = 0; i < tensors; ++i) {
    absl::StrAppend(&inputs, i == 0 ? "" : ", ", "%x", i, ": f32[2, 3]");
    absl::StrAppend(&operands, i == 0 ? "" : ", ", "%x", i);
  }
  return absl::StrCat("module { func @main(", inputs,
                      ") -> (%y) { %y = concat(", operands, ") {axis=1} } }");
}

}  // namespace ingot::testing_support
