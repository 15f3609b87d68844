#include <webp/decode.h>

#include "backends/image/formats.h"

namespace ingot::image {

bool DecodeWebp(Bytes file, Image* image) {
  int width = 0, height = 0;
  return WebPGetInfo(file.data(), file.size(), &width, &height) != 0 &&
         image->Allocate(height, width) &&
         WebPDecodeRGBInto(file.data(), file.size(), image->rgb.get(),
                           image->bytes(), 3 * width) != nullptr;
}

}  // namespace ingot::image
