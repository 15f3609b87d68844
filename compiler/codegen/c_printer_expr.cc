#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/c_math.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/typing.h"

namespace ingot::codegen {
namespace {

using tir::Affine;
using tir::As;
using tir::BinaryOp;
using tir::Expr;
using tir::ExprKind;

struct Operator {
  const char* text;
  int precedence;
};

Operator OperatorOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return {"+", CPrinter::kAdditive};
    case BinaryOp::kSub:
      return {"-", CPrinter::kAdditive};
    case BinaryOp::kMul:
      return {"*", CPrinter::kMultiplicative};
    case BinaryOp::kDiv:
      return {"/", CPrinter::kMultiplicative};
    case BinaryOp::kAnd:
      return {"&&", CPrinter::kAnd};
    case BinaryOp::kOr:
      return {"||", CPrinter::kOr};
    case BinaryOp::kEq:
      return {"==", CPrinter::kEquality};
    case BinaryOp::kNe:
      return {"!=", CPrinter::kEquality};
    case BinaryOp::kLt:
      return {"<", CPrinter::kRelational};
    case BinaryOp::kLe:
      return {"<=", CPrinter::kRelational};
    case BinaryOp::kGt:
      return {">", CPrinter::kRelational};
    case BinaryOp::kGe:
      return {">=", CPrinter::kRelational};
    case BinaryOp::kBitAnd:
      return {"&", CPrinter::kBitAnd};
    case BinaryOp::kBitOr:
      return {"|", CPrinter::kBitOr};
    case BinaryOp::kBitXor:
      return {"^", CPrinter::kBitXor};
    case BinaryOp::kShl:
      return {"<<", CPrinter::kShift};
    case BinaryOp::kShr:
      return {">>", CPrinter::kShift};
    default:
      return {"?", CPrinter::kPrimary};
  }
}

bool IsNarrowInt(DataType t) { return t.is_integer() && t.bits < 32; }
bool IsNarrowFloat(DataType t) { return t.is_float() && t.bits == 16; }

// Whether C gives the printed i64 expression 64 bits by itself. Small constants
// print without a suffix, for the eye's sake, and are ints.
bool HasOwnType(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kIntImm:
      return false;
    case ExprKind::kBinary: {
      const auto& b = *As<tir::Binary>(e);
      const bool shift = b.op == BinaryOp::kShl || b.op == BinaryOp::kShr;
      return HasOwnType(b.a) || (!shift && HasOwnType(b.b));
    }
    case ExprKind::kUnary:
      return HasOwnType(As<tir::Unary>(e)->a);
    case ExprKind::kSelect:
      return HasOwnType(As<tir::Select>(e)->on_true) ||
             HasOwnType(As<tir::Select>(e)->on_false);
    case ExprKind::kRamp:
      return HasOwnType(As<tir::Ramp>(e)->base);
    case ExprKind::kBroadcast:
      return HasOwnType(As<tir::Broadcast>(e)->value);
    default:
      return true;
  }
}

// The load of a byte, or of the bits of 16, that `e` widens to i32 and shifts
// to the place of number `*position` of a word; null for anything else.
const tir::Load* PartOfWord(const Expr& e, int64_t* position) {
  Expr part = e;
  int64_t bits = 0;
  if (const auto* shift = As<tir::Binary>(e);
      shift != nullptr && shift->op == BinaryOp::kShl) {
    if (!tir::AsConstInt(shift->b, &bits)) return nullptr;
    part = shift->a;
  }
  const auto* cast = As<tir::Cast>(part);
  if (cast == nullptr || cast->dtype != DataType::Int(32)) return nullptr;
  const DataType t = cast->value->dtype;
  if (t != DataType::UInt(t.bits) || bits % t.bits != 0) return nullptr;
  *position = bits / t.bits;
  // The bits of numbers that have a sign.
  const auto* unsigned_bits = As<tir::Cast>(cast->value);
  const Expr& value =
      unsigned_bits != nullptr ? unsigned_bits->value : cast->value;
  return value->dtype.bits == t.bits && value->dtype.is_integer()
             ? As<tir::Load>(value)
             : nullptr;
}

// The first of the numbers that follow each other in memory and that `e` joins
// to a word, the first the lowest; null for anything else. Not every compiler
// sees that this is one load.
const tir::Load* FindWord(const tir::Binary& e) {
  constexpr size_t kMostParts = 4;
  std::vector<Expr> parts;
  for (const tir::Binary* rest = &e; rest != nullptr;
       rest = As<tir::Binary>(parts.back())) {
    if (rest->op != BinaryOp::kBitOr || parts.size() >= kMostParts) break;
    if (!parts.empty()) parts.pop_back();
    parts.push_back(rest->b);
    parts.push_back(rest->a);
  }
  const int count = static_cast<int>(parts.size());
  const tir::Load* loads[kMostParts] = {};
  for (const Expr& part : parts) {
    int64_t position = 0;
    const tir::Load* load = PartOfWord(part, &position);
    if (load == nullptr || position < 0 || position >= count) return nullptr;
    loads[position] = load;
  }
  if (loads[0] == nullptr || count * loads[0]->dtype.bits != 32) return nullptr;
  const Expr first = AnalyzeAccess(*loads[0]->buffer, loads[0]->indices).base;
  for (int i = 1; i < count; ++i) {
    if (loads[i] == nullptr || loads[i]->buffer != loads[0]->buffer) {
      return nullptr;
    }
    const Expr at = AnalyzeAccess(*loads[i]->buffer, loads[i]->indices).base;
    if (!tir::IsConstInt(tir::Simplify(at - first), i)) return nullptr;
  }
  return loads[0];
}

const char* FloatSuffix(DataType t) { return t.bits == 64 ? "" : "f"; }

// "f32", "i8": as in the names of helpers.
std::string TypeName(DataType t) { return t.element().ToString(); }

}  // namespace

const char* CPrinter::OperatorText(BinaryOp op) { return OperatorOf(op).text; }

std::string CPrinter::Print(const Expr& e, int precedence) {
  auto shared = shared_.find(e.get());
  if (shared != shared_.end()) return shared->second;
  int own = kPrimary;
  std::string text = PrintUnwrapped(e, &own);
  return own < precedence ? absl::StrCat("(", text, ")") : text;
}

std::string CPrinter::PrintUnwrapped(const Expr& e, int* precedence) {
  switch (e->kind) {
    case ExprKind::kIntImm: {
      const int64_t value = As<tir::IntImm>(e)->value;
      if (value < 0 && !e->dtype.is_uint()) *precedence = kUnary;
      return PrintInt(e->dtype, value);
    }
    case ExprKind::kFloatImm: {
      const double value = As<tir::FloatImm>(e)->value;
      if (std::signbit(value)) *precedence = kUnary;
      return PrintFloat(e->dtype, value);
    }
    case ExprKind::kVar: {
      const std::string& name = NameOf(As<tir::Var>(e));
      return e->dtype.lanes == 1 ? name : absl::StrCat(name, "[", lane_, "]");
    }
    case ExprKind::kUnary:
      return PrintUnary(*As<tir::Unary>(e), precedence);
    case ExprKind::kBinary:
      return PrintBinary(*As<tir::Binary>(e), precedence);
    case ExprKind::kSelect: {
      // Only the chosen side is evaluated: it guards its loads.
      const auto& select = *As<tir::Select>(e);
      *precedence = kConditional;
      return absl::StrCat(Print(select.condition, kOr), " ? ",
                          Print(select.on_true, kOr), " : ",
                          Print(select.on_false, kConditional));
    }
    case ExprKind::kCast:
      return PrintCast(*As<tir::Cast>(e), precedence);
    case ExprKind::kLoad:
      return PrintLoad(*As<tir::Load>(e), precedence);
    case ExprKind::kRamp:
      return PrintRamp(*As<tir::Ramp>(e), precedence);
    case ExprKind::kBroadcast:
      return PrintUnwrapped(As<tir::Broadcast>(e)->value, precedence);
    case ExprKind::kCall:
      return PrintCall(*As<tir::Call>(e), precedence);
  }
  return "?";
}

std::string CPrinter::PrintInt(DataType t, int64_t value) {
  if (t.is_uint() && t.bits >= 32) {
    return absl::StrCat(static_cast<uint64_t>(value),
                        t.bits == 64 ? "ull" : "u");
  }
  if (value == INT64_MIN) return "INT64_MIN";
  if (t.bits == 32 && value == INT32_MIN) return "INT32_MIN";
  const bool fits_int = value >= -INT32_MAX && value <= INT32_MAX;
  return absl::StrCat(value, fits_int ? "" : "ll");
}

std::string CPrinter::PrintFloat(DataType t, double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    const double back = std::strtod(text.c_str(), nullptr);
    if (t.bits == 64 ? back == value
                     : static_cast<float>(back) == static_cast<float>(value)) {
      break;
    }
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + FloatSuffix(t);
}

std::string CPrinter::Narrow(DataType t, std::string text, int* precedence) {
  if (IsNarrowInt(t)) {
    const bool wrapped = *precedence >= kUnary;
    *precedence = kUnary;
    return absl::StrCat("(", ValueType(t), ")", wrapped ? "" : "(", text,
                        wrapped ? "" : ")");
  }
  if (IsNarrowFloat(t)) {
    *precedence = kPrimary;
    Helper(absl::StrCat("ingot_round_", TypeName(t)));
    return absl::StrCat("ingot_round_", TypeName(t), "(", text, ")");
  }
  return text;
}

std::string CPrinter::PrintUnary(const tir::Unary& e, int* precedence) {
  const char* op = e.op == tir::UnaryOp::kNeg   ? "-"
                   : e.op == tir::UnaryOp::kNot ? "!"
                                                : "~";
  std::string operand = Print(e.a, kUnary);
  *precedence = kUnary;
  // "--x" is another operator; and a negated 16-bit float is still one.
  std::string text =
      absl::StrCat(op, absl::StartsWith(operand, op) ? " " : "", operand);
  return e.dtype.is_integer() ? Narrow(e.dtype, std::move(text), precedence)
                              : text;
}

std::string CPrinter::PrintBinary(const tir::Binary& e, int* precedence) {
  const DataType t = e.a->dtype;
  if (e.op == BinaryOp::kBitOr && t == DataType::Int(32)) {
    if (const tir::Load* first = FindWord(e)) {
      const Access access = AnalyzeAccess(*first->buffer, first->indices);
      const std::string type = TypeName(first->dtype);
      return absl::StrCat(Helper(absl::StrCat("ingot_word_", type)), "(&",
                          NameOf(first->buffer.get()), "[", Print(access.base),
                          "])");
    }
  }
  switch (e.op) {
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      if (t.is_bool()) {
        return PrintBinary(
            tir::Binary(e.op == BinaryOp::kMin ? BinaryOp::kAnd : BinaryOp::kOr,
                        e.dtype, e.a, e.b),
            precedence);
      }
      const std::string helper =
          Helper(absl::StrCat("ingot_", e.op == BinaryOp::kMin ? "min" : "max",
                              "_", IsNarrowFloat(t) ? "f32" : TypeName(t)));
      return absl::StrCat(helper, "(", Print(e.a), ", ", Print(e.b), ")");
    }
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return PrintDivision(e, precedence);
    case BinaryOp::kDiv:
      if (!t.is_float()) return PrintDivision(e, precedence);
      break;
    default:
      break;
  }
  const Operator op = OperatorOf(e.op);
  *precedence = op.precedence;
  int left = op.precedence;
  int right = op.precedence + 1;
  switch (op.precedence) {  // parentheses where readers, and compilers, stumble
    case kOr:
      left = right = kBitOr;
      break;
    case kEquality:
    case kRelational:
      left = right = kAdditive;
      break;
    case kBitOr:
    case kBitXor:
    case kBitAnd:
    case kShift:
      left = right = kUnary;
      break;
    default:
      break;
  }
  std::string a = Print(e.a, left);
  const std::string b = Print(e.b, right);
  const bool wide = t.is_integer() && t.bits == 64 && !t.is_uint();
  if (wide && !HasOwnType(e.a) &&
      (!HasOwnType(e.b) || op.precedence == kShift)) {
    a = absl::StrCat("(int64_t)", Print(e.a, kUnary));
  }
  std::string text = absl::StrCat(a, " ", op.text, " ", b);
  if (tir::IsComparison(e.op) || e.dtype.is_bool()) return text;
  return Narrow(e.dtype, std::move(text), precedence);
}

std::string CPrinter::PrintDivision(const tir::Binary& e, int* precedence) {
  int64_t divisor = 0;
  const Expr& b =
      e.b->kind == ExprKind::kBroadcast ? As<tir::Broadcast>(e.b)->value : e.b;
  const bool plain = tir::AsConstInt(b, &divisor) && divisor > 0;
  const bool is_div = e.op == BinaryOp::kDiv || e.op == BinaryOp::kFloorDiv;
  const bool floors =
      (e.op == BinaryOp::kFloorDiv || e.op == BinaryOp::kFloorMod) &&
      !e.dtype.is_uint() &&
      (tir::ConstLowerBound(e.a, &bounds_).value_or(-1) < 0 ||
       tir::ConstLowerBound(e.b, &bounds_).value_or(-1) < 0);
  if (plain && !floors) {
    *precedence = kMultiplicative;
    return absl::StrCat(Print(e.a, kMultiplicative), is_div ? " / " : " % ",
                        Print(e.b, kUnary));
  }
  const std::string helper =
      Helper(absl::StrCat("ingot_", floors ? "floor" : "",
                          is_div ? "div" : "mod", "_", TypeName(e.dtype)));
  return absl::StrCat(helper, "(", Print(e.a), ", ", Print(e.b), ")");
}

std::string CPrinter::PrintCast(const tir::Cast& e, int* precedence) {
  const DataType from = e.value->dtype;
  const DataType to = e.dtype;
  if (to.is_bool()) {
    *precedence = kEquality;
    return absl::StrCat(Print(e.value, kRelational), " != 0");
  }
  if (from.is_float() && to.is_integer()) {
    const std::string helper = Helper(absl::StrCat(
        "ingot_", from.bits == 64 ? "f64" : "f32", "_to_", TypeName(to)));
    return absl::StrCat(helper, "(", Print(e.value), ")");
  }
  if (IsNarrowFloat(to)) {
    // Rounding to f32 on the way would round twice.
    const bool exact_in_float =
        (from.is_float() && from.bits <= 32) || from.bits <= 16;
    const std::string helper = Helper(
        absl::StrCat("ingot_round_", TypeName(to), exact_in_float ? "" : "_d"));
    return absl::StrCat(helper, "(", Print(e.value), ")");
  }
  *precedence = kUnary;
  return absl::StrCat("(", ValueType(to), ")", Print(e.value, kUnary));
}

bool CPrinter::IsOurs(tir::Intrinsic f, DataType t) const {
  if (t.bits == 64) return false;
  // C libraries differ in the last bits of these two by more than readers mind
  // our own text.
  if (f == tir::Intrinsic::kTanh || f == tir::Intrinsic::kErf) return true;
  return rounds_once_ && f != tir::Intrinsic::kTrunc &&
         IsOwnMath(tir::IntrinsicName(f), false);
}

std::string CPrinter::PrintCall(const tir::Call& e, int* precedence) {
  const DataType t = e.args[0]->dtype;
  const std::string x = Print(e.args[0]);
  const char* f = FloatSuffix(t);
  std::string text;
  switch (e.intrinsic) {
    case tir::Intrinsic::kIsNan:
      return absl::StrCat("(isnan(", x, ") != 0)");
    case tir::Intrinsic::kIsInf:
      return absl::StrCat("(isinf(", x, ") != 0)");
    case tir::Intrinsic::kAbs:
      if (t.is_uint()) return Print(e.args[0], kPrimary);
      if (!t.is_float()) {
        return absl::StrCat(Helper(absl::StrCat("ingot_abs_", TypeName(t))),
                            "(", x, ")");
      }
      return absl::StrCat("fabs", f, "(", x, ")");
    case tir::Intrinsic::kDot4:
    case tir::Intrinsic::kDot2:
      return absl::StrCat(
          Helper(
              absl::StrCat("ingot_", tir::IntrinsicName(e.intrinsic), "_i32")),
          "(", x, ", ", Print(e.args[1]), ", ", Print(e.args[2]), ")");
    case tir::Intrinsic::kMulAdd:
      if (rounds_once_ && t.bits != 64) {
        text = absl::StrCat(Helper("ingot_muladd_f32"), "(", x, ", ",
                            Print(e.args[1]), ", ", Print(e.args[2]), ")");
        break;
      }
      *precedence = kAdditive;
      text = absl::StrCat(Print(e.args[0], kMultiplicative), " * ",
                          Print(e.args[1], kUnary), " + ",
                          Print(e.args[2], kMultiplicative));
      return Narrow(t, std::move(text), precedence);
    case tir::Intrinsic::kRsqrt:
      *precedence = kMultiplicative;
      text = absl::StrCat(t.bits == 64 ? "1.0" : "1.0f", " / sqrt", f, "(", x,
                          ")");
      return Narrow(t, std::move(text), precedence);
    case tir::Intrinsic::kRound:
      text = absl::StrCat("rint", f, "(", x, ")");
      break;
    default: {
      const absl::string_view name = tir::IntrinsicName(e.intrinsic);
      text = absl::StrCat(IsOurs(e.intrinsic, t)
                              ? Helper(absl::StrCat("ingot_", name, "_f32"))
                              : absl::StrCat(name, f),
                          "(", x);
      for (size_t i = 1; i < e.args.size(); ++i) {
        absl::StrAppend(&text, ", ", Print(e.args[i]));
      }
      text += ")";
    }
  }
  *precedence = kPrimary;
  return Narrow(t, std::move(text), precedence);
}

std::string CPrinter::Subscript(const tir::BufferNode& buffer,
                                const std::vector<Expr>& indices) {
  if (registers_.count(&buffer) != 0) {
    return absl::StrCat(
        RegisterAt(buffer, AnalyzeAccess(buffer, indices, &bounds_)), "[",
        lane_, "]");
  }
  return absl::StrCat(NameOf(&buffer), "[",
                      PrintOffset(FlattenIndex(buffer, indices, &bounds_)),
                      "]");
}

std::string CPrinter::PrintOffset(const Expr& offset) {
  if (!offsets_.empty() && offset->dtype.lanes == 1) {
    const Affine place = tir::ToAffine(offset);
    for (auto& [shared, name, is_used] : offsets_) {
      const Affine rest = place - shared;
      if (!rest.IsConstant()) continue;
      is_used = true;
      const int64_t after = rest.constant;
      if (after == 0) return name;
      return after > 0 ? absl::StrCat(name, " + ", after)
                       : absl::StrCat(name, " - ", -after);
    }
  }
  return Print(offset);
}

std::string CPrinter::PrintLoad(const tir::Load& e, int* precedence) {
  std::string text = Subscript(*e.buffer, e.indices);
  const DataType t = e.buffer->dtype;
  if (t.is_bool()) {
    *precedence = kEquality;
    return text + " != 0";
  }
  if (!IsNarrowFloat(t)) return text;
  const std::string helper =
      Helper(absl::StrCat("ingot_", TypeName(t), "_to_f32"));
  return absl::StrCat(helper, "(", text, ")");
}

}  // namespace ingot::codegen
