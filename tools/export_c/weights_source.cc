#include "tools/export_c/weights_source.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ingot {
namespace {

constexpr size_t kLineWidth = 80;

std::string InComment(absl::string_view text) {
  return absl::StrReplaceAll(absl::CHexEscape(text),
                             {{"*/", "* /"}, {"/*", "/ *"}});
}

// Appends bytes as numbers, in lines.
void AppendBytes(absl::string_view bytes, std::string* out) {
  size_t line = 0;
  for (const char c : bytes) {
    const std::string number =
        absl::StrCat(static_cast<int>(static_cast<unsigned char>(c)), ",");
    if (line + number.size() > kLineWidth) {
      *out += "\n";
      line = 0;
    }
    *out += number;
    line += number.size();
  }
  if (line > 0) *out += "\n";
}

}  // namespace

absl::StatusOr<std::string> WeightsSource(const Blob& file, uint64_t offset,
                                          absl::string_view symbol,
                                          const NamedTensors& tensors) {
  const absl::string_view data = file.view().substr(offset);
  const size_t size = std::max<size_t>(data.size(), 1);  // C has no empty array
  // By their place in the data.
  std::map<uint64_t, std::string> comments;
  for (const auto& [name, tensor] : tensors) {
    const auto* first = static_cast<const char*>(tensor.raw_data());
    if (tensor.bytes() == 0) continue;
    if (first < data.data() || first >= data.data() + data.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the weights '", name,
                       "' are not aligned to their elements in the file"));
    }
    absl::StrAppend(&comments[static_cast<uint64_t>(first - data.data())],
                    "/* ", InComment(name), ": ", tensor.TypeString(), " */\n");
  }
  std::string out = absl::StrCat(
      "/* The weights, little-endian. They may be in read-only memory. */\n"
      "#include <stdint.h>\n\n"
      "#if defined(__GNUC__)\n"
      "#define INGOT_ALIGNED __attribute__((aligned(16)))\n"
      "#else\n"
      "#define INGOT_ALIGNED\n"
      "#endif\n\n",
      "extern const uint8_t ", symbol, "[", size, "];\n", "const uint8_t ",
      symbol, "[", size, "] INGOT_ALIGNED = {\n");
  if (data.empty()) out += "0\n";
  comments.emplace(0, "");
  for (auto at = comments.begin(); at != comments.end(); ++at) {
    const auto next = std::next(at);
    const uint64_t end = next == comments.end() ? data.size() : next->first;
    out += at->second;
    AppendBytes(data.substr(at->first, end - at->first), &out);
  }
  out += "};\n";
  return out;
}

}  // namespace ingot
