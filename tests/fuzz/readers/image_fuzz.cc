// Encoded images of every format; those of the codec's own test.
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "backends/image/image.h"
#include "loaders/text_lines.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  std::ifstream file("backends/image/testdata/images.txt");
  std::ostringstream text;
  text << file.rdbuf();
  std::vector<std::string> seeds;
  // Lines of others are pixels: file NAME PIXELS BYTES.
  const absl::Status status = ReadLines(text.str(), [&](Words words) {
    if (words[0] == "file" && words.size() == 4) {
      seeds.push_back(absl::HexStringToBytes(words[3]));
    }
    return absl::OkStatus();
  });
  return status.ok() ? seeds : std::vector<std::string>();
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const image::Image image = image::Decode(image::Bytes(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  if (image.rgb == nullptr) return false;
  // Every pixel was set.
  const uint8_t* const pixels = image.rgb.get();
  unsigned sum = 0;
  for (int64_t i = 0; i < image.bytes(); ++i) sum += pixels[i];
  volatile unsigned used = sum;
  static_cast<void>(used);
  return true;
}

}  // namespace ingot::fuzz
