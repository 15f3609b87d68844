// Vectors as values of the compiler's own vector types.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/lane_slices.h"
#include "compiler/tir/typing.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::BinaryOp;
using tir::Expr;
using tir::ExprKind;

// Compilers take wider ones apart, into code that is no better than a loop.
constexpr int kMaxVectorBits = 2048;

bool IsElement(DataType t) {
  return t.is_integer() || (t.is_float() && t.bits >= 32);
}

// The width of the elements that a vector of conditions has, each of them 0 or
// -1: that of the widest that was compared; 0 where it can have any.
int MaskBits(const Expr& e) {
  if (const auto* binary = As<tir::Binary>(e)) {
    if (tir::IsComparison(binary->op)) return binary->a->dtype.bits;
    return std::max(MaskBits(binary->a), MaskBits(binary->b));
  }
  if (const auto* unary = As<tir::Unary>(e)) return MaskBits(unary->a);
  return 0;
}

// The condition that all lanes share; null where each has its own.
Expr ScalarOf(const Expr& condition) {
  if (condition->dtype.lanes == 1) return condition;
  const auto* broadcast = As<tir::Broadcast>(condition);
  return broadcast == nullptr ? nullptr : broadcast->value;
}

// The bytes whose places in a table of 256 bytes a load reads; null for any
// other load.
Expr LookedUp(const tir::Load& load) {
  if (load.dtype.bits != 8 || load.dtype.is_bool() ||
      load.indices.size() != 1 ||
      !tir::IsConstInt(load.buffer->shape[0], 256)) {
    return nullptr;
  }
  const auto* cast = As<tir::Cast>(load.indices[0]);
  const bool is_byte = cast != nullptr && cast->dtype.is_integer() &&
                       cast->value->dtype.element() == DataType::UInt(8);
  return is_byte ? cast->value : nullptr;
}

// Whether no byte of the lanes can be 128 or more: a mask says so.
bool HasSmallBytes(const Expr& e) {
  const auto* binary = As<tir::Binary>(e);
  if (binary == nullptr || binary->op != BinaryOp::kBitAnd) return false;
  for (const Expr& operand : {binary->a, binary->b}) {
    const auto* all = As<tir::Broadcast>(operand);
    int64_t mask;
    if (all != nullptr && tir::AsConstInt(all->value, &mask) &&
        (mask & 0x80808080) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool CPrinter::HasVectorType(DataType t) const {
  const bool is_power = t.lanes > 1 && (t.lanes & (t.lanes - 1)) == 0;
  return uses_vectors_ && is_power && IsElement(t) &&
         t.bits * t.lanes <= kMaxVectorBits;
}

std::string CPrinter::VectorType(DataType t) {
  const std::string name =
      absl::StrCat(t.element().ToString(), "x", int{t.lanes});
  Helper(absl::StrCat("ingot_type_", name));
  return name;
}

std::string CPrinter::VectorHelper(absl::string_view op, DataType t) {
  return Helper(absl::StrCat("ingot_", op, "_", VectorType(t)));
}

bool CPrinter::IsVector(const Expr& e) {
  if (e->dtype.lanes == 1) return true;
  const auto [it, is_new] = vectors_.emplace(e.get(), false);
  if (is_new) {
    const bool result = ComputeIsVector(e);
    vectors_[e.get()] = result;
    return result;
  }
  return it->second;
}

bool CPrinter::ComputeIsVector(const Expr& e) {
  const DataType t = e->dtype;
  if (!t.is_bool() && !HasVectorType(t)) return false;
  const bool is_constant = e->kind == ExprKind::kBroadcast;
  if (t.is_bool() && !is_constant && MaskBits(e) == 0) return false;
  switch (e->kind) {
    case ExprKind::kVar:
      return vector_vars_.count(As<tir::Var>(e)) != 0;
    case ExprKind::kUnary:
      return IsVector(As<tir::Unary>(e)->a);
    case ExprKind::kBinary: {
      const auto& binary = *As<tir::Binary>(e);
      const DataType of = binary.a->dtype;
      switch (binary.op) {
        case BinaryOp::kDiv:
          if (!of.is_float()) return false;
          break;
        case BinaryOp::kMod:
        case BinaryOp::kFloorDiv:
        case BinaryOp::kFloorMod:
          return false;
        default:
          break;
      }
      const bool is_logic =
          binary.op == BinaryOp::kAnd || binary.op == BinaryOp::kOr;
      return (is_logic || HasVectorType(of)) && IsVector(binary.a) &&
             IsVector(binary.b);
    }
    case ExprKind::kSelect: {
      const auto& select = *As<tir::Select>(e);
      if (LoadedUnder(select) != nullptr) return true;
      if (t.is_bool() || !IsVector(select.on_true) ||
          !IsVector(select.on_false)) {
        return false;
      }
      // One condition for all lanes guards what is read.
      return ScalarOf(select.condition) != nullptr ||
             (!MayFault(e, bounds_) && IsVector(select.condition));
    }
    case ExprKind::kCast: {
      const Expr& value = As<tir::Cast>(e)->value;
      const bool saturates = value->dtype.is_float() && t.is_integer();
      return (!saturates || t.bits <= 16) && !t.is_bool() &&
             HasVectorType(value->dtype) && IsVector(value);
    }
    case ExprKind::kLoad: {
      const auto& load = *As<tir::Load>(e);
      if (loaded_.count(&load) != 0) return true;
      const Access access = AnalyzeAccess(*load.buffer, load.indices, &bounds_);
      const bool is_register = registers_.count(load.buffer.get()) != 0;
      if (const Expr bytes = LookedUp(load); bytes != nullptr && !is_register) {
        return IsVector(bytes);
      }
      return IsElement(load.buffer->dtype) && access.is_ramp() &&
             (access.contiguous() || !is_register);
    }
    case ExprKind::kRamp:
      return t.is_integer();
    case ExprKind::kBroadcast:
      return true;
    case ExprKind::kCall: {
      const auto& call = *As<tir::Call>(e);
      if (t.is_bool() ||
          (!t.is_float() && call.intrinsic != tir::Intrinsic::kMulAdd &&
           !tir::IsDot(call.intrinsic))) {
        return false;
      }
      for (const Expr& arg : call.args) {
        if (!IsVector(arg)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

// One lane's number, which is an int, as small constants are: what is made of
// them might be none.
std::string CPrinter::PrintRamp(const tir::Ramp& e, int* precedence) {
  constexpr int64_t kFar = INT32_MAX / 2;
  int64_t base = 0, stride = 0;
  tir::AsConstInt(e.base, &base);
  tir::AsConstInt(e.stride, &stride);
  const bool is_far = base / kFar != 0 || stride / (kFar / e.dtype.lanes) != 0;
  *precedence = kAdditive;
  return absl::StrCat(Print(e.base, kAdditive), " + ",
                      is_far ? "(int64_t)" : "", lane_, " * ",
                      Print(e.stride, kUnary));
}

std::string CPrinter::Splat(DataType t, const Expr& scalar) {
  return absl::StrCat(VectorHelper("splat", t), "(", Print(scalar), ")");
}

// The conditions of `e` in lanes of the width of `t`'s elements.
std::string CPrinter::PrintMask(const Expr& e, DataType t) {
  const DataType mask = DataType::Int(t.bits, t.lanes);
  if (e->kind == ExprKind::kBroadcast || e->dtype.lanes == 1) {
    const Expr& scalar =
        e->kind == ExprKind::kBroadcast ? As<tir::Broadcast>(e)->value : e;
    return absl::StrCat(VectorHelper("splat", mask), "(-",
                        Print(scalar, kUnary), ")");
  }
  const int bits = MaskBits(e);
  const std::string text = PrintVector(e, kAnything);
  if (bits == t.bits || bits == 0) return text;
  return absl::StrCat("__builtin_convertvector(", text, ", ", VectorType(mask),
                      ")");
}

std::string CPrinter::PrintVectorBinary(const tir::Binary& e, int* precedence) {
  const DataType t = e.a->dtype;
  if (e.op == BinaryOp::kMin || e.op == BinaryOp::kMax) {
    return absl::StrCat(VectorHelper(e.op == BinaryOp::kMin ? "min" : "max", t),
                        "(", PrintVector(e.a, kAnything), ", ",
                        PrintVector(e.b, kAnything), ")");
  }
  *precedence = kAnything;
  if (e.op == BinaryOp::kAnd || e.op == BinaryOp::kOr) {
    const int bits = std::max(MaskBits(e.a), MaskBits(e.b));
    const DataType mask = DataType::Int(bits, t.lanes);
    return absl::StrCat("(", PrintMask(e.a, mask), ")",
                        e.op == BinaryOp::kAnd ? " & " : " | ", "(",
                        PrintMask(e.b, mask), ")");
  }
  const bool is_product = e.op == BinaryOp::kMul || e.op == BinaryOp::kDiv;
  const bool is_sum = e.op == BinaryOp::kAdd || e.op == BinaryOp::kSub;
  const int left = is_product ? kMultiplicative : is_sum ? kAdditive : kPrimary;
  if (is_product || is_sum) *precedence = left;
  return absl::StrCat(PrintVector(e.a, left), " ", OperatorText(e.op), " ",
                      PrintVector(e.b, left == kPrimary ? left : left + 1));
}

std::string CPrinter::PrintVectorCall(const tir::Call& e, int* precedence) {
  const bool rounds_once = rounds_once_ && e.dtype.bits == 32;
  if (e.intrinsic == tir::Intrinsic::kMulAdd && !rounds_once) {
    *precedence = kAdditive;
    return absl::StrCat(PrintVector(e.args[0], kMultiplicative), " * ",
                        PrintVector(e.args[1], kPrimary), " + ",
                        PrintVector(e.args[2], kMultiplicative));
  }
  std::vector<std::string> args;
  for (const Expr& arg : e.args) args.push_back(PrintVector(arg, kAnything));
  const bool small =
      e.intrinsic == tir::Intrinsic::kDot4 && HasSmallBytes(e.args[0]);
  return absl::StrCat(
      VectorHelper(small ? "dot4small" : tir::IntrinsicName(e.intrinsic),
                   e.dtype),
      "(", absl::StrJoin(args, ", "), ")");
}

std::string CPrinter::PrintVector(const Expr& e, int precedence) {
  const auto shared = shared_.find(e.get());
  if (shared != shared_.end()) return shared->second;
  int own = kPrimary;
  std::string text = PrintVectorUnwrapped(e, &own);
  return own < precedence ? absl::StrCat("(", text, ")") : text;
}

std::string CPrinter::PrintConverted(const std::string& text, DataType from,
                                     DataType to) {
  const int widest = to.is_float() ? std::min<int>(to.bits, 32) : to.bits;
  if (from.is_integer() && from.bits < widest) {
    const DataType wide =
        to.is_float() ? DataType::Int(widest, from.lanes) : to;
    const std::string widened = absl::StrCat(
        VectorHelper(absl::StrCat("to", wide.element().ToString()), from), "(",
        text, ")");
    return to.is_float() ? PrintConverted(widened, wide, to) : widened;
  }
  return absl::StrCat("__builtin_convertvector(", text, ", ", VectorType(to),
                      ")");
}

std::string CPrinter::PrintQuantized(const tir::Cast& e) {
  const std::optional<Dequantization> d = quantizations_.FindDequantization(e);
  const std::optional<Quantization> q = d ? d->rounded : quantizations_.Find(e);
  if (!q) return "";
  std::string args = PrintVector(q->x, kAnything);
  for (const float number :
       {q->least, q->most, q->scale, q->reciprocal.high, q->reciprocal.low}) {
    absl::StrAppend(&args, ", ", PrintFloat(DataType::Float(32), number));
  }
  if (!d) {
    absl::StrAppend(&args, ", ", q->zero);
  } else {
    const double less = kWholeNumbers - (q->zero - d->zero);
    absl::StrAppend(&args, ", ", PrintFloat(DataType::Float(32), less));
    if (q->to.is_int()) {
      absl::StrAppend(&args, ", ",
                      PrintFloat(DataType::Float(32), 0.0 - d->zero));
    }
  }
  const std::string op =
      absl::StrCat(d ? "dequantized" : "quantized", q->to.element().ToString());
  return absl::StrCat(VectorHelper(op, q->x->dtype), "(", args, ")");
}

std::string CPrinter::PrintVectorLoad(const tir::Load& load) {
  const DataType t = load.dtype;
  const auto loaded = loaded_.find(&load);
  if (loaded != loaded_.end()) return loaded->second.name;
  const Access access = AnalyzeAccess(*load.buffer, load.indices, &bounds_);
  if (registers_.count(load.buffer.get()) != 0) {
    return RegisterAt(*load.buffer, access);
  }
  if (const Expr bytes = LookedUp(load)) {
    return absl::StrCat(VectorHelper("lookup", t), "(",
                        NameOf(load.buffer.get()), ", ",
                        PrintVector(bytes, kAnything), ")");
  }
  const std::string element = absl::StrCat(NameOf(load.buffer.get()), "[",
                                           PrintOffset(access.base), "]");
  if (access.uniform()) {
    return absl::StrCat(VectorHelper("splat", t), "(", element, ")");
  }
  if (access.contiguous()) {
    return absl::StrCat(VectorHelper("load", t), "(&", element, ")");
  }
  return absl::StrCat(VectorHelper("strided", t), "(&", element, ", ",
                      Print(access.stride), ")");
}

std::string CPrinter::PrintVectorUnwrapped(const Expr& e, int* precedence) {
  const DataType t = e->dtype;
  switch (e->kind) {
    case ExprKind::kVar:
      return NameOf(As<tir::Var>(e));
    case ExprKind::kUnary: {
      const auto& unary = *As<tir::Unary>(e);
      *precedence = kUnary;
      return absl::StrCat(unary.op == tir::UnaryOp::kNeg ? "-" : "~",
                          PrintVector(unary.a, kPrimary));
    }
    case ExprKind::kBinary:
      return PrintVectorBinary(*As<tir::Binary>(e), precedence);
    case ExprKind::kSelect: {
      const auto& select = *As<tir::Select>(e);
      if (const tir::Load* load = LoadedUnder(select)) {
        return loaded_.at(load).name;
      }
      if (const Expr condition = ScalarOf(select.condition)) {
        *precedence = kConditional;
        return absl::StrCat(Print(condition, kOr), " ? ",
                            PrintVector(select.on_true, kOr), " : ",
                            PrintVector(select.on_false, kConditional));
      }
      const std::string mask = PrintMask(select.condition, t);
      return absl::StrCat(VectorHelper("select", t), "(", mask, ", ",
                          PrintVector(select.on_true, kAnything), ", ",
                          PrintVector(select.on_false, kAnything), ")");
    }
    case ExprKind::kCast: {
      const auto& cast = *As<tir::Cast>(e);
      std::string text = PrintQuantized(cast);
      if (!text.empty()) return text;
      const Expr& value = cast.value;
      text = PrintVector(value, kAnything);
      if (value->dtype.is_float() && t.is_integer()) {
        return absl::StrCat(
            VectorHelper(absl::StrCat("to", t.element().ToString()),
                         value->dtype),
            "(", text, ")");
      }
      return PrintConverted(text, value->dtype, t);
    }
    case ExprKind::kLoad:
      return PrintVectorLoad(*As<tir::Load>(e));
    case ExprKind::kRamp: {
      const auto& ramp = *As<tir::Ramp>(e);
      std::vector<std::string> lanes;
      for (int i = 0; i < t.lanes; ++i) lanes.push_back(absl::StrCat(i));
      *precedence = kAdditive;
      return absl::StrCat(Splat(t, ramp.base), " + (", VectorType(t), "){",
                          absl::StrJoin(lanes, ", "), "} * ",
                          Splat(t, ramp.stride));
    }
    case ExprKind::kBroadcast:
      return Splat(t, As<tir::Broadcast>(e)->value);
    case ExprKind::kCall:
      return PrintVectorCall(*As<tir::Call>(e), precedence);
    default:
      Fail("an expression that is no vector");
      return "?";
  }
}

bool CPrinter::IsVectorStore(const tir::Store& s) {
  vectors_.clear();
  if (!HasVectorType(s.value->dtype) || !IsVector(s.value)) return false;
  const Access access = AnalyzeAccess(*s.buffer, s.indices, &bounds_);
  return access.is_ramp() && access.contiguous();
}

bool CPrinter::PrintVectorStore(const tir::Store& s) {
  if (!IsVectorStore(s)) return false;
  const Access access = AnalyzeAccess(*s.buffer, s.indices, &bounds_);
  NameShared(s.value);
  const std::string value = PrintVector(s.value, kAnything);
  shared_.clear();
  if (registers_.count(s.buffer.get()) != 0) {
    const std::string name = RegisterAt(*s.buffer, access);
    if (value != name) Line(absl::StrCat(name, " = ", value, ";"));
  } else {
    Line(absl::StrCat(VectorHelper("store", s.value->dtype), "(&",
                      NameOf(s.buffer.get()), "[", PrintOffset(access.base),
                      "], ", value, ");"));
  }
  return true;
}

bool CPrinter::TakeTurns(const tir::Store& first, const tir::Store& second) {
  const DataType t = first.value->dtype;
  if (first.buffer != second.buffer || second.value->dtype != t ||
      !HasVectorType(t) || ReadsElsewhere(first) || ReadsElsewhere(second)) {
    return false;
  }
  const Access even = AnalyzeAccess(*first.buffer, first.indices, &bounds_);
  const Access odd = AnalyzeAccess(*first.buffer, second.indices, &bounds_);
  if (!even.is_ramp() || !tir::IsConstInt(even.stride, 2) || !odd.is_ramp() ||
      !tir::IsConstInt(odd.stride, 2) ||
      (tir::ToAffine(odd.base) - tir::ToAffine(even.base)).AsConst() != 1) {
    return false;
  }
  vectors_.clear();
  return IsVector(first.value) && IsVector(second.value);
}

void CPrinter::PrintTurns(const tir::Store& first, const tir::Store& second) {
  const Access access = AnalyzeAccess(*first.buffer, first.indices, &bounds_);
  std::vector<std::string> values;
  for (const tir::Store* s : {&first, &second}) {
    NameShared(s->value);
    values.push_back(PrintVector(s->value, kAnything));
  }
  shared_.clear();
  Line(absl::StrCat(VectorHelper("turns2", first.value->dtype), "(&",
                    NameOf(first.buffer.get()), "[", PrintOffset(access.base),
                    "], ", absl::StrJoin(values, ", "), ");"));
}

bool CPrinter::PrintVectorLet(const tir::LetStmt& s) {
  vectors_.clear();
  if (!HasVectorType(s.value->dtype) || !IsVector(s.value)) return false;
  NameShared(s.value);
  const std::string value = PrintVector(s.value, kAnything);
  shared_.clear();
  const std::string name = DeclareVar(s.var.get());
  Line(absl::StrCat("const ", VectorType(s.value->dtype), " ", name, " = ",
                    value, ";"));
  vector_vars_.insert(s.var.get());
  return true;
}

}  // namespace ingot::codegen
