#include "backends/image/image.h"

#include <new>

#include "absl/strings/string_view.h"
#include "backends/image/formats.h"

namespace ingot::image {
namespace {

struct Format {
  absl::string_view magic;  // what its files have at `position`
  size_t position;
  bool (*decode)(Bytes, Image*);
};

// Strings with zeros in them.
template <size_t n>
constexpr absl::string_view Magic(const char (&text)[n]) {
  return absl::string_view(text, n - 1);
}

constexpr Format kFormats[] = {
    {Magic("BM"), 0, DecodeBmp},
    {Magic("\xff\xd8\xff"), 0, DecodeJpeg},
    {Magic("\xff\x4f\xff\x51"), 0, DecodeJpeg2000},
    {Magic("jP  \r\n\x87\n"), 4, DecodeJpeg2000},
    {Magic("\x89PNG\r\n\x1a\n"), 0, DecodePng},
    {Magic("P1"), 0, DecodePnm},
    {Magic("P2"), 0, DecodePnm},
    {Magic("P3"), 0, DecodePnm},
    {Magic("P4"), 0, DecodePnm},
    {Magic("P5"), 0, DecodePnm},
    {Magic("P6"), 0, DecodePnm},
    {Magic("II*\0"), 0, DecodeTiff},
    {Magic("MM\0*"), 0, DecodeTiff},
    {Magic("II+\0"), 0, DecodeTiff},
    {Magic("MM\0+"), 0, DecodeTiff},
    {Magic("WEBP"), 8, DecodeWebp},
};

}  // namespace

bool Image::Allocate(int64_t new_height, int64_t new_width) {
  if (new_height < 1 || new_width < 1 || new_height > kMostPixels / new_width) {
    return false;
  }
  height = new_height;
  width = new_width;
  // Not zeroed: the memory of a size that is a lie is never touched.
  rgb.reset(new (std::nothrow) uint8_t[bytes()]);
  return rgb != nullptr;
}

Image Decode(Bytes file) {
  const absl::string_view text(reinterpret_cast<const char*>(file.data()),
                               file.size());
  for (const Format& format : kFormats) {
    if (text.size() < format.position ||
        text.substr(format.position, format.magic.size()) != format.magic) {
      continue;
    }
    Image image;
    if (format.decode(file, &image)) return image;
  }
  return {};
}

}  // namespace ingot::image
