#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "backends/image/formats.h"

namespace ingot::image {
namespace {

struct Source {
  Bytes file;
  uint64_t at;
};

tmsize_t Read(thandle_t handle, void* to, tmsize_t count) {
  auto* source = static_cast<Source*>(handle);
  const uint64_t size = source->file.size();
  const uint64_t n =
      std::min<uint64_t>(count, size - std::min(size, source->at));
  if (n > 0) memcpy(to, source->file.data() + source->at, n);
  source->at += n;
  return static_cast<tmsize_t>(n);
}

tmsize_t Write(thandle_t, void*, tmsize_t) { return 0; }

toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  auto* source = static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source->at;
  if (whence == SEEK_END) offset += source->file.size();
  return source->at = offset;
}

int Close(thandle_t) { return 0; }

toff_t Size(thandle_t handle) {
  return static_cast<Source*>(handle)->file.size();
}

int Silent(TIFF*, void*, const char*, const char*, va_list) { return 1; }

bool ReadPixels(TIFF* tiff, Image* image) {
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  if (!image->Allocate(height, width)) return false;
  // Colors are multiplied with an opacity that they do not have in them yet,
  // unless they are said to have it.
  uint16_t extra = 0;
  uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
  if (extra > 0 && kinds[0] == EXTRASAMPLE_UNASSALPHA) {
    uint16_t kind = EXTRASAMPLE_ASSOCALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  const int64_t pixels = image->height * image->width;
  const std::unique_ptr<uint32_t[]> raster(new (std::nothrow) uint32_t[pixels]);
  if (raster == nullptr ||
      TIFFReadRGBAImageOriented(tiff, width, height, raster.get(),
                                ORIENTATION_TOPLEFT, /*stop=*/1) == 0) {
    return false;
  }
  for (int64_t i = 0; i < pixels; ++i) {
    image->rgb[3 * i] = TIFFGetR(raster[i]);
    image->rgb[3 * i + 1] = TIFFGetG(raster[i]);
    image->rgb[3 * i + 2] = TIFFGetB(raster[i]);
  }
  return true;
}

}  // namespace

bool DecodeTiff(Bytes file, Image* image) {
  Source source = {file, 0};
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return false;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, 4 * kMostPixels);
  TIFFOpenOptionsSetErrorHandlerExtR(options, Silent, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, Silent, nullptr);
  // "m": do not map; the file is in memory already.
  TIFF* tiff = TIFFClientOpenExt("image", "rm", &source, Read, Write, Seek,
                                 Close, Size, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  if (tiff == nullptr) return false;
  const bool ok = ReadPixels(tiff, image);
  TIFFClose(tiff);
  return ok;
}

}  // namespace ingot::image
