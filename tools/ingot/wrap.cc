#include "tools/ingot/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot {
namespace {

bool Continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The bytes of the first `width` characters of `text`, which has more.
size_t PrefixBytes(absl::string_view text, size_t width) {
  size_t bytes = 0;
  for (size_t columns = 0; bytes < text.size(); ++bytes) {
    if (!Continues(text[bytes]) && columns++ == width) break;
  }
  return bytes;
}

}  // namespace

size_t WidthOf(FILE* stream) {
  winsize size;
  if (isatty(fileno(stream)) == 0) return kAnyWidth;
  const bool known =
      ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

size_t DisplayWidth(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

std::vector<std::string> Wrap(absl::string_view text, size_t width) {
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines;
  while (DisplayWidth(text) > width) {
    const size_t most = PrefixBytes(text, width);
    // A space at the very end needs no column.
    const size_t space = text.substr(0, most + 1).rfind(' ');
    if (space != absl::string_view::npos && space > 0) {
      lines.emplace_back(text.substr(0, space));
      text.remove_prefix(space + 1);
      continue;
    }
    const size_t joint = text.substr(0, most).find_last_of("/_.,:;|-");
    const size_t end = joint == absl::string_view::npos ? most : joint + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  lines.emplace_back(text);
  return lines;
}

std::string WrapAt(size_t indent, absl::string_view text, size_t width) {
  const size_t room = width > indent ? width - indent : 1;
  return absl::StrJoin(Wrap(text, room),
                       absl::StrCat("\n", std::string(indent, ' ')));
}

}  // namespace ingot
