#include <cstdint>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/float_bits.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/math.h"
#include "compiler/tir/typing.h"
#include "llvm/IR/Constants.h"

namespace ingot::codegen {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
using tir::As;
using tir::BinaryOp;
using tir::Expr;
using tir::ExprKind;

Value* KernelEmitter::Fail(absl::string_view what, DataType t) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("kernel ", function_->getName().str(), ": ", what));
  }
  return llvm::PoisonValue::get(module_->ValueType(t));
}

void KernelEmitter::Scoped(absl::FunctionRef<void()> emit) {
  auto saved = cache_;
  emit();
  cache_ = std::move(saved);
}

Value* KernelEmitter::Splat(int lanes, Value* v) {
  return lanes == 1 ? v : b_.CreateVectorSplat(lanes, v);
}

Value* KernelEmitter::EmitExpr(const Expr& e) {
  switch (e->kind) {  // leaves are not worth a table entry
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kVar:
      return EmitUncached(e);
    default:
      break;
  }
  // A shared node is evaluated once; without this a graph of shared nodes
  // takes exponential time.
  if (e.use_count() > 1) {
    auto it = cache_.find(e);
    if (it != cache_.end()) return it->second;
  }
  Value* value = EmitUncached(e);
  if (e.use_count() > 1) cache_[e] = value;
  return value;
}

Value* KernelEmitter::EmitUncached(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kIntImm:
      return ConstantInt::get(module_->ValueType(e->dtype),
                              static_cast<uint64_t>(As<tir::IntImm>(e)->value));
    case ExprKind::kFloatImm:
      return EmitConstant(e->dtype, As<tir::FloatImm>(e)->value);
    case ExprKind::kVar: {
      auto it = vars_.find(As<tir::Var>(e));
      if (it != vars_.end()) return it->second;
      return Fail(
          absl::StrCat("variable ", As<tir::Var>(e)->name, " is not bound"),
          e->dtype);
    }
    case ExprKind::kUnary:
      return EmitUnary(*As<tir::Unary>(e));
    case ExprKind::kBinary:
      return EmitBinary(*As<tir::Binary>(e));
    case ExprKind::kSelect:
      return EmitSelect(*As<tir::Select>(e));
    case ExprKind::kCast:
      return EmitCast(*As<tir::Cast>(e));
    case ExprKind::kLoad:
      return EmitLoad(*As<tir::Load>(e));
    case ExprKind::kRamp:
      return EmitRamp(*As<tir::Ramp>(e));
    case ExprKind::kBroadcast:
      return Splat(e->dtype.lanes, EmitExpr(As<tir::Broadcast>(e)->value));
    case ExprKind::kCall:
      return EmitCall(*As<tir::Call>(e));
  }
  return Fail("unknown expression", e->dtype);
}

Value* KernelEmitter::EmitConstant(DataType t, double value) {
  if (t.bits == 64 || t.bits == 32) {
    return ConstantFP::get(module_->ValueType(t), value);
  }
  // The value is one that the type holds, so the conversion is exact.
  llvm::APFloat bits(value);
  bool loses = false;
  bits.convert(t.code == DataType::kBFloat ? llvm::APFloat::BFloat()
                                           : llvm::APFloat::IEEEhalf(),
               llvm::APFloat::rmNearestTiesToEven, &loses);
  return ConstantInt::get(module_->ValueType(t),
                          bits.bitcastToAPInt().getZExtValue());
}

Value* KernelEmitter::EmitRamp(const tir::Ramp& e) {
  llvm::Type* type = module_->ValueType(e.dtype);
  llvm::SmallVector<llvm::Constant*, 16> steps;
  for (int i = 0; i < e.dtype.lanes; ++i) {
    steps.push_back(ConstantInt::get(type->getScalarType(), i));
  }
  Value* base = Splat(e.dtype.lanes, EmitExpr(e.base));
  Value* stride = Splat(e.dtype.lanes, EmitExpr(e.stride));
  return b_.CreateAdd(base,
                      b_.CreateMul(stride, llvm::ConstantVector::get(steps)));
}

bool KernelEmitter::IsIndexArithmetic(const Expr& e) const {
  switch (e->kind) {
    case ExprKind::kIntImm:
      return true;
    case ExprKind::kVar:
      return data_vars_.count(As<tir::Var>(e)) == 0;
    case ExprKind::kBinary: {
      const auto& binary = *As<tir::Binary>(e);
      return IsIndexArithmetic(binary.a) && IsIndexArithmetic(binary.b);
    }
    default:
      return false;
  }
}

Value* KernelEmitter::EmitUnary(const tir::Unary& e) {
  Value* x = EmitExpr(e.a);
  switch (e.op) {
    case tir::UnaryOp::kNeg:
      if (e.dtype.is_integer()) return b_.CreateNeg(x);
      if (e.dtype.bits == 16) {
        return b_.CreateXor(x, ConstantInt::get(x->getType(), 0x8000));
      }
      return b_.CreateFNeg(x);
    case tir::UnaryOp::kNot:
    case tir::UnaryOp::kBitNot:
      return b_.CreateNot(x);
  }
  return x;
}

Value* KernelEmitter::EmitBinary(const tir::Binary& e) {
  Value* x = EmitExpr(e.a);
  Value* y = EmitExpr(e.b);
  if (e.a->dtype.is_float()) return EmitFloatBinary(e, x, y);
  return EmitIntBinary(e, x, y);
}

Value* KernelEmitter::EmitFloatBinary(const tir::Binary& e, Value* x,
                                      Value* y) {
  const DataType t = e.a->dtype;
  const bool picks = e.op == BinaryOp::kMin || e.op == BinaryOp::kMax;
  const bool compares = picks || tir::IsComparison(e.op);
  Value* wide_x = compares ? WidenToCompare(t, x) : Widen(t, x);
  Value* wide_y = compares ? WidenToCompare(t, y) : Widen(t, y);
  if (picks) {
    Value* first = e.op == BinaryOp::kMin ? b_.CreateFCmpOLT(wide_x, wide_y)
                                          : b_.CreateFCmpOGT(wide_x, wide_y);
    // Picking from f32 is one instruction, and narrowing that is exact.
    return t.code == DataType::kFloat && m_.has_f16c
               ? Narrow(t, b_.CreateSelect(first, wide_x, wide_y))
               : b_.CreateSelect(first, x, y);
  }
  switch (e.op) {
    case BinaryOp::kAdd:
      return Narrow(t, b_.CreateFAdd(wide_x, wide_y));
    case BinaryOp::kSub:
      return Narrow(t, b_.CreateFSub(wide_x, wide_y));
    case BinaryOp::kMul:
      return Narrow(t, b_.CreateFMul(wide_x, wide_y));
    case BinaryOp::kDiv:
      return Narrow(t, b_.CreateFDiv(wide_x, wide_y));
    case BinaryOp::kEq:
      return b_.CreateFCmpOEQ(wide_x, wide_y);
    case BinaryOp::kNe:
      return b_.CreateFCmpUNE(wide_x, wide_y);
    case BinaryOp::kLt:
      return b_.CreateFCmpOLT(wide_x, wide_y);
    case BinaryOp::kLe:
      return b_.CreateFCmpOLE(wide_x, wide_y);
    case BinaryOp::kGt:
      return b_.CreateFCmpOGT(wide_x, wide_y);
    case BinaryOp::kGe:
      return b_.CreateFCmpOGE(wide_x, wide_y);
    default:
      return Fail("an integer operator on floats", e.dtype);
  }
}

Value* KernelEmitter::EmitIntBinary(const tir::Binary& e, Value* x, Value* y) {
  const bool is_signed = e.a->dtype.is_int();
  switch (e.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul: {
      const bool no_wrap = e.dtype == DataType::Int(64) &&
                           IsIndexArithmetic(e.a) && IsIndexArithmetic(e.b);
      if (e.op == BinaryOp::kAdd) return b_.CreateAdd(x, y, "", false, no_wrap);
      if (e.op == BinaryOp::kSub) return b_.CreateSub(x, y, "", false, no_wrap);
      return b_.CreateMul(x, y, "", false, no_wrap);
    }
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return EmitDivision(e, x, y);
    case BinaryOp::kMin:
      return b_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
    case BinaryOp::kMax:
      return b_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      return b_.CreateAnd(x, y);
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      return b_.CreateOr(x, y);
    case BinaryOp::kBitXor:
      return b_.CreateXor(x, y);
    case BinaryOp::kShl:
      return b_.CreateShl(x, y);
    case BinaryOp::kShr:
      return is_signed ? b_.CreateAShr(x, y) : b_.CreateLShr(x, y);
    case BinaryOp::kEq:
      return b_.CreateICmpEQ(x, y);
    case BinaryOp::kNe:
      return b_.CreateICmpNE(x, y);
    case BinaryOp::kLt:
      return is_signed ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
    case BinaryOp::kLe:
      return is_signed ? b_.CreateICmpSLE(x, y) : b_.CreateICmpULE(x, y);
    case BinaryOp::kGt:
      return is_signed ? b_.CreateICmpSGT(x, y) : b_.CreateICmpUGT(x, y);
    case BinaryOp::kGe:
      return is_signed ? b_.CreateICmpSGE(x, y) : b_.CreateICmpUGE(x, y);
  }
  return Fail("unknown operator", e.dtype);
}

// Division by zero, and of the lowest value by -1, is undefined in tir, but
// must not stop the process: x86 raises a signal. The divisor is then 1.
Value* KernelEmitter::EmitDivision(const tir::Binary& e, Value* x, Value* y) {
  const bool is_div = e.op == BinaryOp::kDiv || e.op == BinaryOp::kFloorDiv;
  llvm::Type* type = x->getType();
  Value* zero = ConstantInt::get(type, 0);
  Value* one = ConstantInt::get(type, 1);
  const bool constant = llvm::isa<llvm::Constant>(y);
  const bool floors =
      e.op == BinaryOp::kFloorDiv || e.op == BinaryOp::kFloorMod;
  const bool not_negative =
      floors && e.dtype == DataType::Int(64) &&
      tir::ConstLowerBound(e.a, &bounds_).value_or(-1) >= 0 &&
      tir::ConstLowerBound(e.b, &bounds_).value_or(0) >= 1;
  if (!e.dtype.is_int() || not_negative) {
    if (!constant && !not_negative) {
      y = b_.CreateSelect(b_.CreateICmpEQ(y, zero), one, y);
    }
    return is_div ? b_.CreateUDiv(x, y) : b_.CreateURem(x, y);
  }
  if (!constant) {
    Value* lowest = ConstantInt::get(
        type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    Value* overflows =
        b_.CreateAnd(b_.CreateICmpEQ(x, lowest),
                     b_.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type)));
    y = b_.CreateSelect(b_.CreateOr(b_.CreateICmpEQ(y, zero), overflows), one,
                        y);
  } else if (y == llvm::Constant::getAllOnesValue(type)) {
    return is_div ? b_.CreateNeg(x) : zero;
  } else if (y == zero) {
    y = one;
  }
  Value* quotient = is_div ? b_.CreateSDiv(x, y) : nullptr;
  if (!floors) return is_div ? quotient : b_.CreateSRem(x, y);
  Value* remainder = b_.CreateSRem(x, y);
  Value* adjust =
      b_.CreateAnd(b_.CreateICmpNE(remainder, zero),
                   b_.CreateICmpSLT(b_.CreateXor(remainder, y), zero));
  if (is_div) return b_.CreateSub(quotient, b_.CreateZExt(adjust, type));
  return b_.CreateAdd(remainder, b_.CreateSelect(adjust, y, zero));
}

Value* KernelEmitter::EmitByteProducts(const tir::Call& last) {
  std::vector<Dot4Terms> terms;
  const tir::Call* call = &last;
  while (true) {
    Value* data = EmitWordOfNeighbours(call->args[0]);
    if (data == nullptr) data = EmitExpr(call->args[0]);
    const auto* constant = llvm::dyn_cast<llvm::Constant>(data);
    if (constant == nullptr || !constant->isNullValue()) {
      terms.push_back({data, EmitExpr(call->args[1])});
    }
    const auto* before = tir::As<tir::Call>(call->args[2]);
    if (before == nullptr || before->intrinsic != tir::Intrinsic::kDot4) break;
    call = before;
  }
  Value* sum = EmitExpr(call->args[2]);
  return terms.empty() ? sum : EmitDot4s(b_, m_, terms, sum);
}

Value* KernelEmitter::EmitCall(const tir::Call& e) {
  const DataType t = e.args[0]->dtype;
  if (e.intrinsic == tir::Intrinsic::kDot4) return EmitByteProducts(e);
  std::vector<Value*> args;
  for (const Expr& arg : e.args) args.push_back(EmitExpr(arg));
  if (e.intrinsic == tir::Intrinsic::kDot2) {
    return EmitDot2(b_, m_, args[0], args[1], args[2]);
  }
  if (!t.is_float()) {
    if (e.intrinsic != tir::Intrinsic::kAbs) {
      return Fail(
          absl::StrCat(tir::IntrinsicName(e.intrinsic), " of ", t.ToString()),
          e.dtype);
    }
    if (!t.is_int()) return args[0];
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0],
                                    b_.getFalse());
  }
  for (Value*& arg : args) arg = WidenToCompare(t, arg);
  Value* result = EmitIntrinsic(b_, m_, e.intrinsic, args);
  return e.dtype.is_bool() ? result : Narrow(t, result);
}

}  // namespace ingot::codegen
