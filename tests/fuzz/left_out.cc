#include "tests/fuzz/left_out.h"

namespace ingot::fuzz {

const std::map<std::string, std::string>& LeftOutOperators() {
  const char* const kExtents = "gives extents that only the run tells";
  const char* const kText = "of text, which the models have none of";
  const char* const kImage = "of encoded images, which loops do not read";
  const char* const kPass = "made by the pass that lays out, at level 2";
  const char* const kBackend = "a backend's own, which has no definition";
  const char* const kDevice = "made by the pass that places on devices";
  const char* const kCheck = "says what a run checks, and computes nothing";
  static const auto* const kLeftOut = new std::map<std::string, std::string>{
      {"bind_dims", kExtents},     {"range_count", kExtents},
      {"resolve_shape", kExtents}, {"resolve_slice", kExtents},
      {"change_case", kText},      {"concat_text", kText},
      {"format_number", kText},    {"parse_number", kText},
      {"words_equal", kText},      {"find_pieces", kText},
      {"take_pieces", kText},      {"dfa_match", kText},
      {"decode_image", kImage},    {"image_size", kImage},
      {"dense_packed", kPass},     {"layout_transform", kPass},
      {"conv2d_parts", kPass},     {"conv2d_words", kPass},
      {"dense_parts", kPass},      {"fix_shape", kCheck},
      {"device_copy", kDevice},    {"custom", kBackend},
  };
  return *kLeftOut;
}

}  // namespace ingot::fuzz
