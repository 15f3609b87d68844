#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/ingot/output.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

constexpr absl::string_view kGap = "  ", kIndent = "    ";

// Narrower columns are harder to read than longer lines.
constexpr size_t kNarrowest = 8;

}  // namespace

// The first columns stand beside each other, with these widths, the others
// beneath.
struct Table::Layout {
  std::vector<size_t> widths;
  size_t beneath = 0;  // the width of those
  bool fits = false;
  size_t lines = 0;  // of the whole table

  // What stands beneath is harder to compare with the row above, so it has to
  // save a fifth of the lines.
  bool IsBetterThan(const Layout& other) const {
    return fits == other.fits ? 5 * lines < 4 * other.lines : fits;
  }
};

Table::Table(std::vector<std::string> header) {
  for (std::string& title : header) {
    right_.push_back(!title.empty() && title[0] == '>');
    if (right_.back()) title.erase(0, 1);
  }
  rows_.push_back(std::move(header));
}

void Table::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = OneLine(cell);
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

// Takes from the widest columns, and from each only what is needed.
Table::Layout Table::LayOut(size_t width, size_t beside) const {
  Layout layout;
  layout.widths.resize(beside);
  layout.beneath =
      width > kIndent.size() + kNarrowest ? width - kIndent.size() : kNarrowest;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < beside; ++i) {
      layout.widths[i] = std::max(layout.widths[i], DisplayWidth(row[i]));
    }
  }
  size_t total = beside > 0 ? kGap.size() * (beside - 1) : 0;
  for (const size_t each : layout.widths) total += each;
  while (total > width) {
    size_t widest = beside;
    for (size_t i = 0; i < beside; ++i) {
      if (right_[i] || layout.widths[i] <= kNarrowest) continue;
      if (widest == beside || layout.widths[i] > layout.widths[widest]) {
        widest = i;
      }
    }
    if (widest == beside) break;
    --layout.widths[widest];
    --total;
  }
  layout.fits = total <= width;
  for (const auto& row : rows_) {
    size_t lines = 0, more = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i < beside) {
        lines = std::max(lines, Wrap(row[i], layout.widths[i]).size());
      } else if (!row[i].empty()) {
        more += Wrap(row[i], layout.beneath).size();
      }
    }
    layout.lines += lines + more;
  }
  return layout;
}

std::string Table::ToString() const { return ToString(WidthOf(stdout)); }

std::string Table::ToString(size_t width) const {
  Layout layout = LayOut(width, right_.size());
  if (width != kAnyWidth) {
    for (size_t beside = right_.size(); beside-- > 1;) {
      Layout other = LayOut(width, beside);
      if (other.IsBetterThan(layout)) layout = std::move(other);
    }
  }
  const size_t beside = layout.widths.size();
  std::string text;
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    size_t lines = 0;
    for (size_t i = 0; i < beside; ++i) {
      cells.push_back(Wrap(row[i], layout.widths[i]));
      lines = std::max(lines, cells[i].size());
    }
    for (size_t k = 0; k < lines; ++k) {
      std::string line;
      for (size_t i = 0; i < beside; ++i) {
        const std::string cell = k < cells[i].size() ? cells[i][k] : "";
        const std::string padding(layout.widths[i] - DisplayWidth(cell), ' ');
        absl::StrAppend(&line, i > 0 ? kGap : "", right_[i] ? padding : "",
                        cell, right_[i] ? "" : padding);
      }
      absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
    }
    for (size_t i = beside; i < row.size(); ++i) {
      if (row[i].empty()) continue;
      absl::StrAppend(
          &text, kIndent,
          WrapAt(kIndent.size(), row[i], layout.beneath + kIndent.size()),
          "\n");
    }
  }
  return text;
}

}  // namespace ingot
