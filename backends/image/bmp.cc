// Bitmaps of Windows and OS/2: 1 to 32 bits a pixel, colors from a palette or
// under masks, runs of 4 and 8 bits.
#include <algorithm>
#include <cstring>

#include "absl/numeric/bits.h"
#include "backends/image/formats.h"

namespace ingot::image {
namespace {

enum Compression { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3 };

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  bool Read(Image* image) {
    info_ = Number(14, 4);
    const bool is_old = info_ == 12;
    if (!is_old && info_ < 40) return false;
    int64_t width = Number(18, 2);
    height_ = Number(20, 2);
    if (!is_old) {
      width = static_cast<int32_t>(Number(18, 4));
      height_ = static_cast<int32_t>(Number(22, 4));
    }
    // The last row comes first, unless the height is negative.
    is_upside_down_ = height_ > 0;
    height_ = std::abs(height_);
    bits_ = Number(is_old ? 24 : 28, 2);
    const uint32_t compression = is_old ? kNone : Number(30, 4);
    if (!image->Allocate(height_, width)) return false;
    if (bits_ <= 8) ReadPalette(is_old);
    at_ = Number(10, 4);
    switch (compression) {
      case kNone:
        return ReadRows(image, bits_ == 16 ? 0x7c00 : 0xff0000,
                        bits_ == 16 ? 0x3e0 : 0xff00,
                        bits_ == 16 ? 0x1f : 0xff);
      case kMasks:
        return (bits_ == 16 || bits_ == 32) &&
               ReadRows(image, Number(54, 4), Number(58, 4), Number(62, 4));
      case kRuns8:
      case kRuns4:
        return bits_ == (compression == kRuns8 ? 8 : 4) && ReadRuns(image);
      default:
        return false;
    }
  }

 private:
  bool Has(uint64_t at, uint64_t count) const {
    return at <= file_.size() && count <= file_.size() - at;
  }

  // `count` bytes, the lowest first; 0 after the end.
  uint32_t Number(uint64_t at, int count) const {
    if (!Has(at, count)) return 0;
    uint32_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | file_[at + i];
    return value;
  }

  void ReadPalette(bool is_old) {
    const int step = is_old ? 3 : 4;
    for (int i = 0; i < 256; ++i) {
      const uint32_t color = Number(14 + info_ + i * step, 3);
      palette_[i][0] = static_cast<uint8_t>(color >> 16);
      palette_[i][1] = static_cast<uint8_t>(color >> 8);
      palette_[i][2] = static_cast<uint8_t>(color);
    }
  }

  uint8_t* Pixel(Image* image, int64_t x, int64_t y) const {
    return image->Row(is_upside_down_ ? height_ - 1 - y : y) + 3 * x;
  }

  void SetIndex(Image* image, int64_t x, int64_t y, uint32_t index) const {
    memcpy(Pixel(image, x, y), palette_[index], 3);
  }

  bool ReadRows(Image* image, uint32_t red, uint32_t green, uint32_t blue) {
    if (bits_ != 1 && bits_ != 4 && bits_ != 8 && bits_ != 16 && bits_ != 24 &&
        bits_ != 32) {
      return false;
    }
    const int64_t stride = (image->width * bits_ + 31) / 32 * 4;
    if (!Has(at_, stride * height_)) return false;
    const uint32_t masks[] = {red, green, blue};
    for (int64_t y = 0; y < height_; ++y, at_ += stride) {
      for (int64_t x = 0; x < image->width; ++x) {
        const uint64_t at = at_ + x * bits_ / 8;
        if (bits_ <= 8) {
          const int shift = 8 - bits_ - x * bits_ % 8;
          SetIndex(image, x, y, file_[at] >> shift & ((1 << bits_) - 1));
          continue;
        }
        const uint32_t value = Number(at, bits_ / 8);
        for (int c = 0; c < 3; ++c) {
          const int shift = absl::countr_zero(masks[c]);
          const uint64_t most = masks[c] == 0 ? 1 : masks[c] >> shift;
          const uint64_t part = masks[c] == 0 ? 0 : (value & masks[c]) >> shift;
          Pixel(image, x, y)[c] = static_cast<uint8_t>(part * 255 / most);
        }
      }
    }
    return true;
  }

  // Pairs of bytes: how many pixels, and their color, or 0 and what to do.
  bool ReadRuns(Image* image) {
    const int64_t width = image->width;
    // Pixels that are in no run have the first color. A file of nothing else is
    // none: two bytes are at most 255 pixels otherwise.
    const int64_t most = static_cast<int64_t>(file_.size()) * 1024;
    if (height_ * width > most) return false;
    for (int64_t i = 0; i < height_ * width; ++i) {
      SetIndex(image, i % width, i / width, 0);
    }
    const auto index = [this](uint8_t byte, int i) {
      return bits_ == 8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15;
    };
    for (int64_t x = 0, y = 0; Has(at_, 2);) {
      const int count = file_[at_], code = file_[at_ + 1];
      at_ += 2;
      const int pixels = count > 0 ? count : code > 2 ? code : 0;
      if (pixels > width - x || (pixels > 0 && y >= height_)) return false;
      if (count == 0 &&
          code > 2) {  // pixels one by one, an even number of bytes
        const int bytes = (pixels * bits_ + 7) / 8;
        if (!Has(at_, bytes)) return false;
        for (int i = 0; i < pixels; ++i) {
          SetIndex(image, x + i, y, index(file_[at_ + i * bits_ / 8], i));
        }
        at_ += bytes + bytes % 2;
      }
      for (int i = 0; i < count; ++i) SetIndex(image, x + i, y, index(code, i));
      x += pixels;
      if (count > 0 || code > 2) continue;
      if (code == 1) return true;  // the end
      if (code == 0) {             // of a row
        x = 0;
        ++y;
      } else {  // a jump
        if (!Has(at_, 2)) return false;
        x += file_[at_];
        y += file_[at_ + 1];
        at_ += 2;
        if (x > width || y > height_) return false;
      }
    }
    return false;
  }

  const Bytes file_;
  uint64_t at_ = 0;  // of the pixels
  int64_t info_ = 0, height_ = 0, bits_ = 0;
  bool is_upside_down_ = true;
  uint8_t palette_[256][3] = {};
};

}  // namespace

bool DecodeBmp(Bytes file, Image* image) { return Reader(file).Read(image); }

}  // namespace ingot::image
