#include "backends/llvm/code_listing.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace ingot {
namespace {

// The nodes of the function that a label is or belongs to, such as
// "__tvm_ffi_f" or "f.parallel.0"; empty for others.
std::string NodesOf(absl::string_view label,
                    const std::map<std::string, std::string>& nodes) {
  label = absl::StripPrefix(label, "__tvm_ffi_");
  const auto it = nodes.find(std::string(label.substr(0, label.find('.'))));
  return it == nodes.end() ? "" : it->second;
}

class Lister {
 public:
  explicit Lister(const CodeNotes& notes) : notes_(notes) {}

  std::string Run(absl::Span<const Instruction> code) {
    size_t begin = 0;
    for (size_t i = 1; i <= code.size(); ++i) {
      // A function goes on to the next label.
      if (i < code.size() && notes_.labels.count(code[i].address) == 0) {
        continue;
      }
      ListFunction(code.subspan(begin, i - begin));
      begin = i;
    }
    return std::move(text_);
  }

 private:
  void ListFunction(absl::Span<const Instruction> code) {
    if (code.empty()) return;
    const auto [first, end] = notes_.labels.equal_range(code[0].address);
    for (auto label = first; label != end; ++label) {
      const std::string nodes = NodesOf(label->second, *notes_.nodes);
      absl::StrAppend(&text_, "\n", label->second, ":",
                      nodes.empty() ? "" : absl::StrCat("  ; ", nodes), "\n");
    }
    const std::vector<Loop> loops = FindLoops(code);
    const Loop* hot = nullptr;  // the innermost loop that i is in
    size_t next = 0;
    for (size_t i = 0; i < code.size(); ++i) {
      for (; next < loops.size() && loops[next].first == i; ++next) {
        if (!loops[next].is_innermost) continue;
        hot = &loops[next];
        absl::StrAppendFormat(
            &text_, "          ; hot loop, %d deep: %d instructions\n",
            hot->depth, hot->last - hot->first + 1);
      }
      if (hot != nullptr && i > hot->last) hot = nullptr;
      ListInstruction(code, i, hot != nullptr);
    }
  }

  void ListInstruction(absl::Span<const Instruction> code, size_t i,
                       bool is_hot) {
    const Instruction& instruction = code[i];
    absl::StrAppendFormat(&text_, "%8x: %s %s", instruction.address,
                          is_hot ? "|" : " ", instruction.text);
    const char* separator = "  ; ";
    for (auto it = notes_.references.lower_bound(instruction.address);
         it != notes_.references.end() &&
         it->first < instruction.address + instruction.size;
         ++it) {
      absl::StrAppend(&text_, separator, it->second);
      separator = ", ";
    }
    // An operand that is relocated says nothing yet.
    if (instruction.target && *separator == ' ') {
      const auto label = notes_.labels.find(*instruction.target);
      if (label != notes_.labels.end()) {
        absl::StrAppend(&text_, separator, label->second);
      }
    }
    text_ += '\n';
  }

  const CodeNotes& notes_;
  std::string text_;
};

}  // namespace

std::string ListCode(absl::Span<const Instruction> code,
                     const CodeNotes& notes) {
  return Lister(notes).Run(code);
}

}  // namespace ingot
