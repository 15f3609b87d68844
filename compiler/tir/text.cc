#include "compiler/tir/text.h"

#include "absl/strings/ascii.h"
#include "runtime/data_type.h"

namespace ingot::tir {

BinarySpelling SpellingOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return {"||", 1};
    case BinaryOp::kAnd:
      return {"&&", 2};
    case BinaryOp::kBitOr:
      return {"|", 3};
    case BinaryOp::kBitXor:
      return {"^", 4};
    case BinaryOp::kBitAnd:
      return {"&", 5};
    case BinaryOp::kEq:
      return {"==", 6};
    case BinaryOp::kNe:
      return {"!=", 6};
    case BinaryOp::kLt:
      return {"<", 7};
    case BinaryOp::kLe:
      return {"<=", 7};
    case BinaryOp::kGt:
      return {">", 7};
    case BinaryOp::kGe:
      return {">=", 7};
    case BinaryOp::kShl:
      return {"<<", 8};
    case BinaryOp::kShr:
      return {">>", 8};
    case BinaryOp::kAdd:
      return {"+", 9};
    case BinaryOp::kSub:
      return {"-", 9};
    case BinaryOp::kMul:
      return {"*", 10};
    case BinaryOp::kDiv:
      return {"/", 10};
    case BinaryOp::kFloorDiv:
      return {"//", 10};
    case BinaryOp::kFloorMod:
      return {"%", 10};
    case BinaryOp::kMod:
      return {"rem", 0};
    case BinaryOp::kMin:
      return {"min", 0};
    case BinaryOp::kMax:
      return {"max", 0};
  }
  return {"?", 0};
}

const char* SpellingOf(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNeg:
      return "-";
    case UnaryOp::kNot:
      return "!";
    case UnaryOp::kBitNot:
      return "~";
  }
  return "?";
}

const char* SpellingOf(Scope scope) {
  switch (scope) {
    case Scope::kParam:
    case Scope::kWorkspace:
    case Scope::kPart:
      return "";
    case Scope::kStack:
      return "stack";
    case Scope::kShared:
      return "shared";
    case Scope::kRegisters:
      return "registers";
  }
  return "?";
}

const char* SpellingOf(ForKind kind) {
  switch (kind) {
    case ForKind::kSerial:
      return "for";
    case ForKind::kParallel:
      return "parallel";
    case ForKind::kVectorized:
      return "vectorized";
    case ForKind::kUnrolled:
      return "unrolled";
    case ForKind::kTensorized:
      return "tensorized";
    case ForKind::kBlock:
      return "block";
    case ForKind::kThread:
      return "thread";
  }
  return "?";
}

bool IsPlainName(absl::string_view name) {
  if (name.empty() || !(absl::ascii_isalpha(name[0]) || name[0] == '_')) {
    return false;
  }
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.') return false;
  }
  static constexpr absl::string_view kWords[] = {
      "func",
      "workspace",
      "attrs",
      "for",
      "parallel",
      "vectorized",
      "let",
      "unrolled",
      "in",
      "if",
      "else",
      "while",
      "alloc",
      "part",
      "of",
      "at",
      "assert",
      "prefetch",
      "bytes",
      "stack",
      "eval",
      "true",
      "false",
      "inf",
      "nan",
      "select",
      "ramp",
      "rem",
      "broadcast",
      "min",
      "max",
#define INGOT_TIR_WORD(Name, text, arity) text,
      INGOT_TIR_INTRINSICS(INGOT_TIR_WORD)
#undef INGOT_TIR_WORD
  };
  for (absl::string_view word : kWords) {
    if (word == name) return false;
  }
  return !DataType::Parse(name).ok();
}

}  // namespace ingot::tir
