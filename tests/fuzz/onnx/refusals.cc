#include "tests/fuzz/onnx/refusals.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ingot::fuzz {

const std::vector<Refusal>& Refusals() {
  const char* const kStatic =
      "it decides on how many values, dimensions or terms there are, which a "
      "compiled model fixes";
  const char* const kHeads =
      "the number of heads and groups is static, so the dimension that it "
      "divides has to be";
  static const auto* const kRefusals = new std::vector<Refusal>{
      {"", "must not depend on the model's inputs", kStatic},
      {"", "a formula of more than 1000 terms",
       "symbols of many nodes meet in one dimension"},
      {"", "the extents of the kernel",
       "loops over a window are unrolled, so its extents are static"},
      {"ConstantOfShape", "dimensions from i64[",
       "the length of a shape is the rank, which is static"},
      {"OneHot", "dimensions from i64[",
       "a depth is one element; the model says a symbol"},
      {"Slice", "starts of i64[",
       "the number of starts is the number of axes, which is static"},
      {"Tile", "dimensions from i64[",
       "the length of the repeats is the rank, which is static"},
      {"Reshape", "the rank of the result is not known",
       "the length of a shape is the rank, which is static"},
      {"TopK", "dimensions from i64[",
       "k is one element; the model says a symbol"},
      {"GatherND", "must be static",
       "the last dimension of the indices is the depth of the index"},
      {"Attention", "heads of", kHeads},
      {"LinearAttention", "heads", kHeads},
      {"DeformConv", "offset_groups=", kHeads},
      {"DFT", "elements of",
       "the last dimension says whether numbers are complex"},
      {"DeformConv", "only images of two dimensions",
       "the number of offsets has to be known"},
      {"", " there are is not known: they are ",
       "the number of amounts is that of dimensions, which is static"},
      {"Resize", "which has no elements, stays so is not known",
       "a run that tells sizes might resample nothing"},
      {"Squeeze", "without axes the rank of its result depends on dimensions",
       "a result has one rank"},
      {"Attention", "a size of heads that only a run knows",
       "the scale is a constant of kernels"},
      {"RotaryEmbedding", "cannot rotate", kHeads},
      {"GroupNormalization", "does not divide the channels of", kHeads},
      {"STFT", "a signal of",
       "the last dimension says whether numbers are complex"},
      {"", "a run decides the rank of its result", "a result has one rank"},
      {"RotaryEmbedding", "heads of", kHeads},
      {"ConvTranspose", "output_shape needs the extents",
       "places of the result follow from the image's extents"},
      {"MaxPool", "auto_pad with a stride needs the extents",
       "places of the padded image follow from its extents"},
  };
  return *kRefusals;
}

bool IsExplained(absl::string_view message) {
  for (const Refusal& refusal : Refusals()) {
    if (!refusal.op.empty() &&
        !absl::StrContains(message, absl::StrCat("(", refusal.op, ")"))) {
      continue;
    }
    if (absl::StrContains(message, refusal.text)) return true;
  }
  return false;
}

}  // namespace ingot::fuzz
