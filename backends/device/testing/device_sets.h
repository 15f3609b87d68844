// Sets of models for devices, and such sets damaged. For tests of backends.
#ifndef INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_
#define INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "loaders/build_cache.h"

namespace ingot::testing_support {

// A model for CompileText, whose product is large enough for tiles: its 256
// rows and columns are 64 of them, each of a group of 256 threads.
inline constexpr char kProduct[] = R"(
module {
  func @main(%x: f32[1024, 128], %w: f32[128, 1024]) -> (%y) {
    %p = matmul(%x, %w)
    %y = relu(%p)
  }
}
)";

// Rows that a block's threads share, and a convolution by tiles, with its
// padding.
inline constexpr char kSoftmax[] = R"(
module {
  func @main(%x: f32[128, 384]) -> (%y) {
    %y = softmax(%x) {axis=1}
  }
}
)";
inline constexpr char kConvolution[] = R"(
module {
  func @main(%x: f32[1, 64, 56, 56], %w: f32[64, 64, 3, 3]) -> (%y) {
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %y = relu(%c)
  }
}
)";

// Counts how often `what` stands in a text.
int CountOf(absl::string_view what, absl::string_view text);

// A model in relay's text, compiled as "m" for targets such as "opencl,llvm".
absl::StatusOr<ArtifactSet> CompileText(absl::string_view model,
                                        const std::string& targets);

// A file among the artifacts that the target `kind` made, whose key is its
// name. Fails the test where there is none.
std::string ContentOf(const ArtifactSet& set, absl::string_view kind,
                      absl::string_view file);

// The set with another text in the place of one of its files.
ArtifactSet WithFile(const ArtifactSet& set, absl::string_view file,
                     const std::string& content);

// Keeps what drivers build, and finds it again.
class KeptBuilds final : public BuildCache {
 public:
  std::optional<Blob> Find(absl::string_view file_name) override {
    const auto found = kept_.find(std::string(file_name));
    if (found == kept_.end()) return std::nullopt;
    return found->second.content;
  }
  void Keep(const Artifact& built) override { kept_[built.file_name] = built; }

  const std::map<std::string, Artifact>& kept() const { return kept_; }

 private:
  std::map<std::string, Artifact> kept_;
};

// Loads a set without native code with this cache, which may be null, and
// returns what was said of work: what the driver had to compile. Fails the test
// where it does not load.
std::vector<std::string> WorkOfLoading(const ArtifactSet& set,
                                       BuildCache* builds);

// Loads such a set, whose driver compiles `code_file`, again and again: it is
// compiled only where neither the set nor a cache has what was built of these
// bytes, or where that is damaged.
void CheckThatBuildsAreKept(const ArtifactSet& set,
                            absl::string_view code_file);

// A model that puts so many tensors together, in one operator.
std::string ConcatOf(int tensors);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_
