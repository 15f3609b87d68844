#include "backends/device/testing/device_sets.h"

#include <utility>

#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

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

int CountOf(absl::string_view what, absl::string_view text) {
  int count = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++count;
  }
  return count;
}

}  // namespace ingot::testing_support
