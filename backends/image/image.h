// Encoded images and their pixels.
#ifndef INGOT_BACKENDS_IMAGE_IMAGE_H_
#define INGOT_BACKENDS_IMAGE_IMAGE_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"

namespace ingot::image {

using Bytes = absl::Span<const uint8_t>;

// Larger images count as damaged: a few bytes can claim any size.
constexpr int64_t kMostPixels = int64_t{1} << 28;

struct Image {
  int64_t height = 0, width = 0;
  std::unique_ptr<uint8_t[]> rgb;  // row by row; red, green and blue of each

  // Makes room for pixels, not set yet. False for none or too many of them.
  bool Allocate(int64_t new_height, int64_t new_width);
  uint8_t* Row(int64_t y) { return rgb.get() + 3 * width * y; }
  int64_t bytes() const { return 3 * width * height; }
};

// Reads a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file, which may be
// hostile. What it says of transparency is left out; more than 8 bits lose the
// lower ones. Without pixels where nothing could be read, or not all of it.
Image Decode(Bytes file);

}  // namespace ingot::image

#endif  // INGOT_BACKENDS_IMAGE_IMAGE_H_
