#ifndef INGOT_COMPILER_TIR_TEXT_H_
#define INGOT_COMPILER_TIR_TEXT_H_

#include "absl/strings/string_view.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// The words and symbols of the text form, shared by printer and parser.

// Deepest nesting of expressions and of statements that the parser accepts.
constexpr int kMaxTextDepth = 1000;

struct BinarySpelling {
  const char* text;
  int precedence;  // 1 binds loosest; 0: spelled as a call, name(a, b)
};
BinarySpelling SpellingOf(BinaryOp op);
// All operators, in the order of the enum.
constexpr int kNumBinaryOps = static_cast<int>(BinaryOp::kShr) + 1;
constexpr int kUnaryPrecedence = 11;

const char* SpellingOf(UnaryOp op);
const char* SpellingOf(ForKind kind);
// The word after an allocated buffer; empty: none.
const char* SpellingOf(Scope scope);

// Whether it can be a variable's name: a letter or _, then letters, digits, _
// and dots, and not a word with a meaning of its own.
bool IsPlainName(absl::string_view name);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_TEXT_H_
