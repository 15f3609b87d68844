#include "backends/cmsis_nn/workspace.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::cmsis_nn {
namespace {

struct Processor {
  const char* name;
  Extension extension;
};

constexpr Processor kProcessors[] = {
    {"cortex-m0", Extension::kNone},  {"cortex-m0plus", Extension::kNone},
    {"cortex-m1", Extension::kNone},  {"cortex-m3", Extension::kNone},
    {"cortex-m23", Extension::kNone}, {"cortex-m4", Extension::kDsp},
    {"cortex-m7", Extension::kDsp},   {"cortex-m33", Extension::kDsp},
    {"cortex-m35p", Extension::kDsp}, {"cortex-m52", Extension::kMve},
    {"cortex-m55", Extension::kMve},  {"cortex-m85", Extension::kMve},
};

// The channels that a depthwise convolution with vectors goes through at once.
constexpr int64_t kMveChannels = 124;

int64_t RoundUp(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// Two columns of the image as 16-bit numbers, or four as bytes.
int64_t Convolve(const Window& w, Extension extension) {
  const bool is_point = w.kernel_h == 1 && w.kernel_w == 1 && w.pad_h == 0 &&
                        w.pad_w == 0 && w.dilation_h == 1 && w.dilation_w == 1;
  if (is_point) {
    // Code of Arm's own compiler asks for that, code of others for nothing.
    const bool is_fast = w.stride_h == 1 && w.stride_w == 1;
    return extension == Extension::kDsp && is_fast ? 4 * w.in_c : 0;
  }
  const int64_t column = w.kernel_h * w.kernel_w * w.in_c;
  return 4 * RoundUp(column, extension == Extension::kMve ? 16 : 4);
}

int64_t Depthwise(const Window& w, Extension extension) {
  if (w.in_c != w.out_c || w.batch != 1 || w.dilation_h != 1 ||
      w.dilation_w != 1) {
    return 0;
  }
  const int64_t taps = w.kernel_h * w.kernel_w;
  if (extension == Extension::kMve) return 4 * kMveChannels * taps;
  const bool has_own =
      w.kernel_h == 3 && w.kernel_w == 3 && w.pad_h <= 1 && w.pad_w <= 1;
  return extension == Extension::kDsp && !has_own ? 2 * w.in_c * taps : 0;
}

}  // namespace

absl::StatusOr<Extension> ExtensionOf(absl::string_view cpu) {
  std::string known;
  for (const Processor& processor : kProcessors) {
    if (processor.name == cpu) return processor.extension;
    absl::StrAppend(&known, known.empty() ? "" : ", ", processor.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", cpu, "' is no processor that CMSIS-NN is for; they are: ", known));
}

int64_t WorkspaceBytes(const Layer& layer, Extension extension) {
  switch (layer.function) {
    case Function::kConvolve:
      return Convolve(layer.window, extension);
    case Function::kDepthwise:
      return Depthwise(layer.window, extension);
    case Function::kFullyConnected:
      return extension == Extension::kMve ? 4 * layer.window.out_c : 0;
    case Function::kAveragePool:
      return extension == Extension::kDsp ? 4 * layer.window.in_c : 0;
    case Function::kMaxPool:
    case Function::kSoftmax:
    case Function::kAdd:
      return 0;
  }
  return 0;
}

}  // namespace ingot::cmsis_nn
