#include <png.h>

#include <cstring>

#include "backends/image/formats.h"

namespace ingot::image {
namespace {

void Fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void Ignore(png_structp, png_const_charp) {}

void Read(png_structp png, png_bytep to, size_t count) {
  auto* rest = static_cast<Bytes*>(png_get_io_ptr(png));
  if (count > rest->size()) png_error(png, "no more bytes");
  memcpy(to, rest->data(), count);
  rest->remove_prefix(count);
}

// May be left by longjmp: nothing in here has a destructor.
bool ReadPixels(png_structp png, png_infop info, Image* image) {
  png_read_info(png, info);
  if (!image->Allocate(png_get_image_height(png, info),
                       png_get_image_width(png, info))) {
    return false;
  }
  png_set_expand(png);
  png_set_gray_to_rgb(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (static_cast<int64_t>(png_get_rowbytes(png, info)) != 3 * image->width) {
    return false;
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < image->height; ++y) {
      png_read_row(png, image->Row(y), nullptr);
    }
  }
  return true;
}

}  // namespace

bool DecodePng(Bytes file, Image* image) {
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, Fail, Ignore);
  if (png == nullptr) return false;
  png_infop info = png_create_info_struct(png);
  png_set_read_fn(png, &file, Read);
  const bool ok = info != nullptr && setjmp(png_jmpbuf(png)) == 0 &&
                  ReadPixels(png, info, image);
  png_destroy_read_struct(&png, &info, nullptr);
  return ok;
}

}  // namespace ingot::image
