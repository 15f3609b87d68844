// Against the pixels that Pillow reads (testdata/make_images.py).
#include "backends/image/image.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "loaders/text_lines.h"

namespace ingot::image {
namespace {

struct Pixels {
  int64_t height, width;
  std::string rgb;
};

struct TestData {
  std::map<std::string, Pixels> pixels;
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> pixels_of;  // of a file: their name
};

const TestData& Data() {
  static const TestData* const kData = [] {
    auto* data = new TestData;
    std::ifstream file("backends/image/testdata/images.txt");
    std::ostringstream text;
    text << file.rdbuf();
    const absl::Status status = ReadLines(text.str(), [data](Words words) {
      const std::string name(words[1]);
      if (words[0] == "file") {
        data->pixels_of[name] = std::string(words[2]);
        data->files[name] = absl::HexStringToBytes(words[3]);
        return absl::OkStatus();
      }
      Pixels& pixels = data->pixels[name];
      pixels.rgb = absl::HexStringToBytes(words[4]);
      return absl::SimpleAtoi(words[2], &pixels.height) &&
                     absl::SimpleAtoi(words[3], &pixels.width)
                 ? absl::OkStatus()
                 : absl::InvalidArgumentError("no number");
    });
    EXPECT_TRUE(status.ok()) << status;
    return data;
  }();
  return *kData;
}

Image DecodeText(absl::string_view file) {
  return Decode(
      Bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size()));
}

TEST(Image, ReadsEveryFormat) {
  ASSERT_GT(Data().files.size(), 30u);
  for (const auto& [name, file] : Data().files) {
    const Pixels& expected = Data().pixels.at(Data().pixels_of.at(name));
    const Image image = DecodeText(file);
    ASSERT_EQ(image.height, expected.height) << name;
    ASSERT_EQ(image.width, expected.width) << name;
    ASSERT_EQ(image.bytes(), static_cast<int64_t>(expected.rgb.size())) << name;
    // Implementations of JPEG may round differently.
    const int most = absl::StartsWith(name, "jpeg_") ? 1 : 0;
    for (int64_t i = 0; i < image.bytes(); ++i) {
      const int wanted = static_cast<uint8_t>(expected.rgb[i]);
      ASSERT_LE(std::abs(image.rgb[i] - wanted), most)
          << name << ", byte " << i << ": " << int{image.rgb[i]} << ", not "
          << wanted;
    }
  }
}

TEST(Image, HalfAFileIsNoImage) {
  for (const auto& [name, file] : Data().files) {
    // Its palette is at the end; what has none counts as gray.
    if (name == "tiff_palette") continue;
    EXPECT_EQ(DecodeText(file.substr(0, file.size() / 2)).height, 0) << name;
  }
}

TEST(Image, WhatIsNoImage) {
  for (const char* text :
       {"", "B", "BM", "P1", "P6", "P7 1 1 255 abc", "GIF89a", "\xff\xd8\xff",
        "\x89PNG\r\n\x1a\n", "II*", "\xff\x4f\xff\x51", "RIFF....WEBP",
        "....jP  \r\n\x87\n", "P2 2 1 0 0 0", "P2 2 1 65536 0 0", "P2 0 1 255",
        "P2 -1 1 255 0", "P2 1 1 255 x", "P1 2 1 02"}) {
    EXPECT_EQ(DecodeText(text).height, 0) << text;
  }
}

TEST(Image, SizesThatAreALie) {
  EXPECT_EQ(DecodeText("P6 100000 100000 255 abcdef").height, 0);
  EXPECT_EQ(DecodeText("P6 99999999999999999999 1 255 abc").height, 0);
  EXPECT_EQ(DecodeText("P4 16384 16384 abc").height, 0);
  const std::string bmp = Data().files.at("bmp_rgb");
  for (const char* size :
       {"\xff\xff\xff\x7f\xff\xff\xff\x7f", "\x00\x40\x00\x00\x00\x40\x00\x00",
        "\x07\x00\x00\x00\x00\x00\x00\x80",
        "\xff\xff\xff\xff\x05\x00\x00\x00"}) {
    std::string lie = bmp;
    lie.replace(18, 8, size, 8);
    EXPECT_EQ(DecodeText(lie).height, 0);
  }
}

// A codestream's numbers that ask for memory before there is any data: of
// components, of pixels and of tiles.
TEST(Image, CodestreamsThatAskForTooMuch) {
  const std::string good = Data().files.at("jpeg2000_lossy");
  for (const auto& [at, bytes] : std::map<size_t, absl::string_view>{
           {40, absl::string_view("\x40\x00", 2)},
           {8, "\x7f\xff\xff\xff"},
           {24, absl::string_view("\0\0\0\0", 4)},
       }) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes.data(), bytes.size());
    EXPECT_EQ(DecodeText(bad).height, 0) << at;
  }
  std::string tiles = good;
  tiles.replace(8, 8, std::string("\0\0\x10\0\0\0\x10\0", 8));
  tiles.replace(24, 8, std::string("\0\0\0\1\0\0\0\1", 8));
  EXPECT_EQ(DecodeText(tiles).height, 0);
}

TEST(Image, ReadsSomePassesOfAProgressiveJpegAndNotAnyNumber) {
  const std::string file = Data().files.at("jpeg_progressive");
  // The first pass, which sets what it reads, as often as one likes; the tables
  // of the next one come after.
  const size_t begin = file.find("\xff\xda"),
               end = file.find("\xff\xc4", begin);
  for (const int more : {2, 600}) {
    std::string longer = file;
    for (int i = 0; i < more; ++i) {
      longer.insert(end, file.substr(begin, end - begin));
    }
    EXPECT_EQ(DecodeText(longer).height, more == 2 ? 13 : 0);
  }
}

// Whatever a damaged file becomes, it has all of its pixels.
TEST(Image, DamageNeverCrashes) {
  std::mt19937 random(7);
  int64_t read = 0, refused = 0;
  uint8_t sum = 0;
  for (const auto& [name, file] : Data().files) {
    for (int i = 0; i < 100; ++i) {
      std::string bad = file;
      for (unsigned n = random() % 4 + 1; n-- > 0;) {
        const uint32_t bits = random();
        bad[random() % bad.size()] =
            static_cast<char>(bits % 3 == 0   ? 0xff
                              : bits % 3 == 1 ? 0
                                              : bits >> 8);
      }
      if (i % 10 == 0) bad.resize(random() % bad.size());
      const Image image = DecodeText(bad);
      ++(image.height == 0 ? refused : read);
      // The sanitizer looks at both ends.
      if (image.height > 0) sum ^= image.rgb[0] ^ image.rgb[image.bytes() - 1];
    }
  }
  EXPECT_GT(read, 500) << int{sum};
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace ingot::image
