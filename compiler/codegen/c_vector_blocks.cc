#include "compiler/codegen/c_vector_blocks.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"

namespace ingot::codegen {
namespace {

constexpr char kAll[] = "columns", kSome[] = "rows";

// Instructions that interleave the elements of two vectors do so in each of
// their parts of so many bits.
constexpr int kPartBits = 128;

struct Block {
  Block(absl::string_view op, const VectorName& t) : t(t) {
    has_guard = absl::ConsumePrefix(&op, kSome);
    if (!has_guard) absl::ConsumePrefix(&op, kAll);
    if (!absl::SimpleAtoi(op, &columns)) columns = 2;
    bits = 8 * t.bytes / t.lanes;
    part = std::min(kPartBits / bits, t.lanes);
    is_word = columns * bits < kPartBits;
    const int rows_in_one = 8 * t.bytes / (columns * bits);
    row = absl::StrCat("i", columns * bits);
    if (is_word) {
      row_type = absl::StrCat("int", columns * bits, "_t");
      if (rows_in_one > 1) words = absl::StrCat(row, "x", rows_in_one);
    } else {
      row_type = row = absl::StrCat(t.element, "x", columns);
    }
  }
  const VectorName& t;
  int columns = 0, bits = 0;
  int part = 0;  // elements of one
  bool has_guard = false;
  // A row is an integer, else a vector.
  bool is_word = false;
  std::string row, row_type;
  std::string words;  // the vector of so many integers; empty: of one
};

std::string Shuffle(absl::string_view x, absl::string_view y,
                    const std::vector<int>& order) {
  return absl::StrCat("__builtin_shufflevector(", x, ", ", y, ", ",
                      absl::StrJoin(order, ", "), ")");
}

// Vectors of so many lanes, one after the other, as one.
std::string Join(std::vector<std::string> vectors, int lanes) {
  for (; vectors.size() > 1; lanes *= 2) {
    std::vector<int> order;
    for (int i = 0; i < 2 * lanes; ++i) order.push_back(i);
    for (size_t i = 0; i < vectors.size() / 2; ++i) {
      vectors[i] = Shuffle(vectors[2 * i], vectors[2 * i + 1], order);
    }
    vectors.resize(vectors.size() / 2);
  }
  return vectors[0];
}

// Elements of two vectors in turns, part by part: those of the parts' lower
// halves, or of their upper ones.
std::vector<int> Turns(const Block& block, bool upper) {
  std::vector<int> order;
  const int part = block.part;
  for (int from = upper ? part / 2 : 0; from < block.t.lanes; from += part) {
    for (int i = from; i < from + part / 2; ++i) {
      order.push_back(i);
      order.push_back(block.t.lanes + i);
    }
  }
  return order;
}

// A vector of whole rows.
std::string OfRows(const Block& block, const std::vector<std::string>& rows) {
  if (!block.is_word) return Join(rows, block.columns);
  const std::string joined = absl::StrJoin(rows, ", ");
  return block.words.empty() ? absl::StrCat("(", block.t.name, ")", joined)
                             : absl::StrCat("(", block.t.name, ")(",
                                            block.words, "){", joined, "}");
}

std::string LoadedRows(const Block& block) {
  std::string text;
  for (int i = 0; i < block.t.lanes; ++i) {
    const std::string name = absl::StrCat("row_", i);
    absl::StrAppend(&text, "  ", block.row_type, " ", name,
                    !block.has_guard ? ";\n"
                    : block.is_word
                        ? absl::StrCat(" = 0;\n  if (some >> ", i, " & 1)")
                        : absl::StrCat(" = {0};\n  if (some >> ", i, " & 1)"),
                    block.has_guard ? " " : "  ", "memcpy(&", name, ", p + ", i,
                    " * stride, sizeof(", name, "));\n");
  }
  return text;
}

}  // namespace

bool IsLoadBlock(absl::string_view op) {
  return absl::StartsWith(op, kAll) || absl::StartsWith(op, kSome);
}

std::set<std::string> TypesOfLoadBlock(absl::string_view op,
                                       const VectorName& t) {
  const Block block(op, t);
  std::set<std::string> types = {t.name};
  if (!block.is_word) types.insert(block.row);
  if (!block.words.empty()) types.insert(block.words);
  return types;
}

// Each vector begins as whole rows, so many in each part. In the number of a
// vector followed by that of an element in its part, the bits of the column are
// then the last ones, after those of the row. Each round of interleaving takes
// the first bit of that number to its end, so that those of the column come
// first in the end: each column is a vector.
std::string LoadBlockSource(absl::string_view op, const VectorName& t) {
  const Block block(op, t);
  const int columns = block.columns, part = block.part;
  std::string text = absl::Substitute(
      "\nstatic inline void ingot_$0_$1(const $2* p, int64_t stride,$3 $1* "
      "columns) {\n$4",
      op, t.name, t.c, block.has_guard ? " uint64_t some," : "",
      LoadedRows(block));
  const auto declare = [&](const std::string& name, const std::string& value) {
    absl::StrAppend(&text, "  const ", t.name, " ", name, " = ", value, ";\n");
  };
  std::vector<std::string> vectors;
  for (int v = 0; v < columns; ++v) {
    std::vector<std::string> rows;
    for (int first = v * (part / columns); first < t.lanes; first += part) {
      for (int i = 0; i < part / columns; ++i) {
        rows.push_back(absl::StrCat("row_", first + i));
      }
    }
    vectors.push_back(absl::StrCat("v_", v));
    declare(vectors.back(), OfRows(block, rows));
  }
  for (int round = 1; round < part; round *= 2) {
    std::vector<std::string> next;
    for (int i = 0; i < columns / 2; ++i) {
      for (const bool upper : {false, true}) {
        next.push_back(absl::StrCat("v", 2 * round, "_", next.size()));
        declare(next.back(), Shuffle(vectors[i], vectors[i + columns / 2],
                                     Turns(block, upper)));
      }
    }
    vectors = std::move(next);
  }
  for (int c = 0; c < columns; ++c) {
    absl::StrAppend(&text, "  columns[", c, "] = ", vectors[c], ";\n");
  }
  return absl::StrCat(text, "}\n");
}

std::string StoreTurnsSource(const VectorName& t) {
  std::string text = absl::Substitute(
      "\nstatic inline void ingot_turns2_$0($1* p, $0 x, $0 y) {\n", t.name,
      t.c);
  for (int half = 0; half < 2; ++half) {
    std::vector<int> order;
    for (int i = half * t.lanes / 2; i < (half + 1) * t.lanes / 2; ++i) {
      order.push_back(i);
      order.push_back(t.lanes + i);
    }
    const char* const name = half == 0 ? "first" : "second";
    absl::StrAppend(&text, "  const ", t.name, " ", name, " = ",
                    Shuffle("x", "y", order), ";\n");
  }
  return absl::StrCat(text,
                      "  memcpy(p, &first, sizeof(first));\n  memcpy(p + ",
                      t.lanes, ", &second, sizeof(second));\n}\n");
}

}  // namespace ingot::codegen
