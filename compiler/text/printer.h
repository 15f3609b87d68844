// The writer that printers of the text forms share.
#ifndef INGOT_COMPILER_TEXT_PRINTER_H_
#define INGOT_COMPILER_TEXT_PRINTER_H_

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot::text {

// In double quotes, with C escapes, as the lexer reads it.
inline std::string QuoteString(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

// Writes text in lines, and indents each by two spaces for every block around
// it.
class IndentingPrinter {
 public:
  // `depth`: the blocks around all of it.
  explicit IndentingPrinter(int depth = 0) : depth_(depth) {}

  std::string out;

  template <typename... Parts>
  void Write(const Parts&... parts) {
    absl::StrAppend(&out, parts...);
  }
  void BeginLine() { out.append(2 * static_cast<size_t>(depth_), ' '); }
  void EndLine() { out += '\n'; }

  // The end of a line that opens a block, and the start of the one that closes
  // it.
  void Open() {
    out += "{\n";
    ++depth_;
  }
  void Close() {
    --depth_;
    BeginLine();
    out += '}';
  }

  // first, second, …
  template <typename Items, typename F>
  void List(const Items& items, const F& write) {
    const char* separator = "";
    for (const auto& item : items) {
      out += separator;
      write(item);
      separator = ", ";
    }
  }

 private:
  int depth_;
};

}  // namespace ingot::text

#endif  // INGOT_COMPILER_TEXT_PRINTER_H_
