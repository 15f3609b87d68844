// PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6).
#include <algorithm>

#include "absl/strings/ascii.h"
#include "backends/image/formats.h"

namespace ingot::image {
namespace {

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file), form_(file[1]) {}

  bool Read(Image* image) {
    const bool is_bits = form_ == '1' || form_ == '4';
    const int64_t width = Number(), height = Number();
    if (!is_bits) most_ = Number();
    if (most_ < 1 || most_ > 65535 || !image->Allocate(height, width)) {
      return false;
    }
    if (form_ >= '4') ++at_;  // one space
    const int channels = form_ == '3' || form_ == '6' ? 3 : 1;
    for (int64_t y = 0; y < height; ++y) {
      uint8_t* pixel = image->Row(y);
      for (int64_t x = 0; x < width; ++x, pixel += 3) {
        for (int c = 0; c < 3; ++c) {
          if (c >= channels) {
            pixel[c] = pixel[0];
            continue;
          }
          const int64_t value = is_bits ? Bit(x) : Sample();
          if (value < 0) return false;
          // To the nearest, as light; a bit is ink.
          const int64_t light = is_bits ? 1 - value : std::min(value, most_);
          pixel[c] = static_cast<uint8_t>((light * 510 + most_) / (2 * most_));
        }
      }
      if (form_ == '4') at_ += (width + 7) / 8;
    }
    return true;
  }

 private:
  void SkipSpace() {
    for (; at_ < file_.size(); ++at_) {
      if (file_[at_] == '#') {
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      } else if (!absl::ascii_isspace(file_[at_])) {
        return;
      }
    }
  }

  // -1 where there is none, or none that is small enough.
  int64_t Number() {
    SkipSpace();
    int64_t value = -1;
    for (; at_ < file_.size() && absl::ascii_isdigit(file_[at_]); ++at_) {
      value = std::max<int64_t>(value, 0) * 10 + (file_[at_] - '0');
      if (value > kMostPixels) return -1;
    }
    return value;
  }

  // In text, bits need no space between them.
  int64_t Bit(int64_t x) {
    if (form_ == '1') {
      SkipSpace();
      if (at_ >= file_.size() || file_[at_] < '0' || file_[at_] > '1')
        return -1;
      return file_[at_++] - '0';
    }
    const uint64_t at = at_ + x / 8;
    return at < file_.size() ? file_[at] >> (7 - x % 8) & 1 : -1;
  }

  int64_t Sample() {
    if (form_ < '4') return Number();
    int64_t value = 0;
    for (int i = 0; i < (most_ > 255 ? 2 : 1); ++i, ++at_) {
      if (at_ >= file_.size()) return -1;
      value = value << 8 | file_[at_];
    }
    return value;
  }

  const Bytes file_;
  const char form_;
  uint64_t at_ = 2;
  int64_t most_ = 1;
};

}  // namespace

bool DecodePnm(Bytes file, Image* image) { return Reader(file).Read(image); }

}  // namespace ingot::image
