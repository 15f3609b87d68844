// Sets of models for devices, and such sets damaged. For tests of backends.
#ifndef INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_
#define INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"

namespace ingot::testing_support {

// A model for CompileText, whose product is large enough for tiles: its 256
// rows and columns are 64 of them, each of a group of 256 threads.
inline constexpr char kProduct[] = R"(
module {
  func @main(%x: f32[256, 64], %w: f32[64, 256]) -> (%y) {
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

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_DEVICE_TESTING_DEVICE_SETS_H_
