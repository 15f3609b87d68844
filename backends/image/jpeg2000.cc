#include <openjpeg-2.5/openjpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "backends/image/formats.h"

namespace ingot::image {
namespace {

struct Source {
  Bytes file;
  size_t at;
};

// The decoder takes memory for each component, tile and pixel that a file says
// it has, several times that of the pixels, before it reads any.
constexpr int64_t kMostSamples = kMostPixels / 4;
constexpr int kMostComponents = 4;
constexpr int64_t kMostTiles = 1 << 14;

int64_t BigEndian(Bytes file, size_t at, int count) {
  int64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | file[at + i];
  return value;
}

// Whether what the codestream says of its size, which comes first, is allowed.
bool HasFairSize(Bytes file) {
  size_t at = 0;
  while (file[0] != 0xff) {  // boxes: a size, a name and what is in them
    if (file.size() - at < 16) return false;
    const int64_t size = BigEndian(file, at, 4);
    if (memcmp(&file[at + 4], "jp2c", 4) == 0) {
      at += size == 1 ? 16 : 8;
      break;
    }
    if (size < 8 || size > static_cast<int64_t>(file.size() - at)) return false;
    at += size;
  }
  if (file.size() - at < 42 || BigEndian(file, at, 4) != 0xff4fff51) {
    return false;
  }
  const int64_t width = BigEndian(file, at + 8, 4);
  const int64_t height = BigEndian(file, at + 12, 4);
  const int64_t tile_width = BigEndian(file, at + 24, 4);
  const int64_t tile_height = BigEndian(file, at + 28, 4);
  const int64_t components = BigEndian(file, at + 40, 2);
  return tile_width > 0 && tile_height > 0 &&
         width / tile_width + 1 <= kMostTiles / (height / tile_height + 1) &&
         components >= 1 && components <= kMostComponents;
}

OPJ_SIZE_T Read(void* to, OPJ_SIZE_T count, void* user) {
  auto* source = static_cast<Source*>(user);
  const size_t n = std::min(count, source->file.size() - source->at);
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  memcpy(to, source->file.data() + source->at, n);
  source->at += n;
  return n;
}

OPJ_OFF_T Skip(OPJ_OFF_T count, void* user) {
  auto* source = static_cast<Source*>(user);
  const OPJ_OFF_T left = source->file.size() - source->at;
  const OPJ_OFF_T n = std::min(std::max<OPJ_OFF_T>(count, 0), left);
  source->at += n;
  return n == 0 && count != 0 ? -1 : n;
}

OPJ_BOOL Seek(OPJ_OFF_T at, void* user) {
  auto* source = static_cast<Source*>(user);
  if (at < 0 || static_cast<size_t>(at) > source->file.size()) return OPJ_FALSE;
  source->at = at;
  return OPJ_TRUE;
}

uint8_t Clamp(int64_t value) {
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

// One color of the pixel (x, y), which are positions on the grid of the image.
uint8_t Sample(const opj_image_t& all, int component, uint32_t x, uint32_t y) {
  const opj_image_comp_t& c = all.comps[component];
  const auto place = [](uint32_t at, uint32_t step, uint32_t first,
                        uint32_t count) {
    const uint32_t i = at / step, start = first / step + (first % step != 0);
    return std::min(i - std::min(i, start), count - 1);
  };
  int64_t value =
      c.data[static_cast<int64_t>(place(y, c.dy, all.y0, c.h)) * c.w +
             place(x, c.dx, all.x0, c.w)];
  if (c.sgnd != 0) value += int64_t{1} << (c.prec - 1);
  return Clamp(c.prec > 8 ? value >> (c.prec - 8)
                          : value * 255 / ((1 << c.prec) - 1));
}

bool ReadPixels(const opj_image_t& all, Image* image) {
  for (uint32_t i = 0; i < all.numcomps; ++i) {
    const opj_image_comp_t& c = all.comps[i];
    if (c.data == nullptr || c.w < 1 || c.h < 1 || c.dx < 1 || c.dy < 1 ||
        c.prec < 1 || c.prec > 31) {
      return false;
    }
  }
  const bool is_gray = all.numcomps < 3;
  const bool is_ycc =
      !is_gray && (all.color_space == OPJ_CLRSPC_SYCC ||
                   (all.color_space != OPJ_CLRSPC_SRGB && all.comps[1].dx > 1));
  for (int64_t y = 0; y < image->height; ++y) {
    uint8_t* pixel = image->Row(y);
    for (int64_t x = 0; x < image->width; ++x, pixel += 3) {
      for (int c = 0; c < 3; ++c) {
        pixel[c] =
            Sample(all, is_gray ? 0 : c, static_cast<uint32_t>(all.x0 + x),
                   static_cast<uint32_t>(all.y0 + y));
      }
      if (!is_ycc) continue;
      const double luma = pixel[0], cb = pixel[1] - 128.0,
                   cr = pixel[2] - 128.0;
      pixel[0] = Clamp(std::lround(luma + 1.402 * cr));
      pixel[1] = Clamp(std::lround(luma - 0.344136 * cb - 0.714136 * cr));
      pixel[2] = Clamp(std::lround(luma + 1.772 * cb));
    }
  }
  return true;
}

}  // namespace

bool DecodeJpeg2000(Bytes file, Image* image) {
  if (!HasFairSize(file)) return false;
  Source source = {file, 0};
  // Without the boxes of a file a codestream begins at once.
  const OPJ_CODEC_FORMAT format =
      file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2;
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      opj_create_decompress(format), [](opj_codec_t* c) {
        if (c != nullptr) opj_destroy_codec(c);
      });
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
      opj_stream_default_create(OPJ_TRUE), opj_stream_destroy);
  if (codec == nullptr || stream == nullptr) return false;
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), Read);
  opj_stream_set_skip_function(stream.get(), Skip);
  opj_stream_set_seek_function(stream.get(), Seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (!opj_setup_decoder(codec.get(), &parameters)) return false;
  opj_image_t* header = nullptr;
  const bool has_header =
      opj_read_header(stream.get(), codec.get(), &header) != OPJ_FALSE;
  const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> all(
      header, opj_image_destroy);
  return has_header && all->numcomps >= 1 && all->numcomps <= kMostComponents &&
         all->x1 > all->x0 && all->y1 > all->y0 &&
         image->Allocate(int64_t{all->y1} - all->y0,
                         int64_t{all->x1} - all->x0) &&
         image->height * image->width <= kMostSamples / all->numcomps &&
         opj_decode(codec.get(), stream.get(), all.get()) &&
         ReadPixels(*all, image);
}

}  // namespace ingot::image
