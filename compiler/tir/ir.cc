#include "compiler/tir/ir.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "compiler/tir/numeric.h"
#include "compiler/tir/typing.h"

namespace ingot::tir {
namespace {

// Stops the program: only a bug of the caller gets here.
void Require(const char* error, const char* where) {
  if (error == nullptr) return;
  std::fprintf(stderr, "tir::%s: %s\n", where, error);
  std::abort();
}

void Require(bool condition, const char* error, const char* where) {
  if (!condition) Require(error, where);
}

uint64_t NextVarId() {
  static std::atomic<uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// Looks through a Broadcast, so that vector constants fold as scalar ones do.
const ExprNode* Scalar(const Expr& e) {
  const auto* broadcast = As<Broadcast>(e);
  return broadcast != nullptr ? broadcast->value.get() : e.get();
}

const IntImm* ScalarInt(const Expr& e) {
  const ExprNode* node = Scalar(e);
  return node->kind == ExprKind::kIntImm ? static_cast<const IntImm*>(node)
                                         : nullptr;
}

const FloatImm* ScalarFloat(const Expr& e) {
  const ExprNode* node = Scalar(e);
  return node->kind == ExprKind::kFloatImm ? static_cast<const FloatImm*>(node)
                                           : nullptr;
}

Expr IntOfType(DataType dtype, int64_t value) {
  return MakeBroadcast(std::make_shared<IntImm>(
                           dtype.element(), WrapInt(dtype.element(), value)),
                       dtype.lanes);
}

Expr FloatOfType(DataType dtype, double value) {
  return MakeBroadcast(std::make_shared<FloatImm>(
                           dtype.element(), RoundFloat(dtype.element(), value)),
                       dtype.lanes);
}

// Integer and bool identities; null when none applies.
Expr FoldIntIdentity(BinaryOp op, const Expr& a, const Expr& b) {
  const IntImm* ca = ScalarInt(a);
  const IntImm* cb = ScalarInt(b);
  const DataType t = a->dtype;
  switch (op) {
    case BinaryOp::kAdd:
      if (ca != nullptr && ca->value == 0) return b;
      if (cb != nullptr && cb->value == 0) return a;
      break;
    case BinaryOp::kSub:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      if (cb != nullptr && cb->value == 0) return a;
      break;
    case BinaryOp::kMul:
      if (ca != nullptr && ca->value == 1) return b;
      if (cb != nullptr && cb->value == 1) return a;
      if (ca != nullptr && ca->value == 0) return a;
      if (cb != nullptr && cb->value == 0) return b;
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      if (cb != nullptr && cb->value == 1) return a;
      break;
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      if (cb != nullptr && cb->value == 1) return IntOfType(t, 0);
      break;
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      if (a == b) return a;
      break;
    case BinaryOp::kAnd:
      if (ca != nullptr) return ca->value != 0 ? b : a;
      if (cb != nullptr) return cb->value != 0 ? a : b;
      if (a == b) return a;
      break;
    case BinaryOp::kOr:
      if (ca != nullptr) return ca->value != 0 ? a : b;
      if (cb != nullptr) return cb->value != 0 ? b : a;
      if (a == b) return a;
      break;
    default:
      break;
  }
  return nullptr;
}

// Sums and multiples of ramps are ramps: vector addresses keep their shape.
Expr FoldRamp(BinaryOp op, const Expr& a, const Expr& b) {
  const auto* ra = As<Ramp>(a);
  const auto* rb = As<Ramp>(b);
  if (ra == nullptr && rb == nullptr) return nullptr;
  const auto* ba = As<Broadcast>(a);
  const auto* bb = As<Broadcast>(b);
  const int lanes = a->dtype.lanes;
  const bool is_sum = op == BinaryOp::kAdd || op == BinaryOp::kSub;
  if (ra != nullptr && rb != nullptr && is_sum) {
    return MakeRamp(MakeBinary(op, ra->base, rb->base),
                    MakeBinary(op, ra->stride, rb->stride), lanes);
  }
  if (ra != nullptr && bb != nullptr) {
    if (is_sum) {
      return MakeRamp(MakeBinary(op, ra->base, bb->value), ra->stride, lanes);
    }
    if (op == BinaryOp::kMul) {
      return MakeRamp(MakeBinary(op, ra->base, bb->value),
                      MakeBinary(op, ra->stride, bb->value), lanes);
    }
  }
  if (ba != nullptr && rb != nullptr) {
    if (op == BinaryOp::kAdd) {
      return MakeRamp(MakeBinary(op, ba->value, rb->base), rb->stride, lanes);
    }
    if (op == BinaryOp::kSub) {
      return MakeRamp(MakeBinary(op, ba->value, rb->base),
                      MakeUnary(UnaryOp::kNeg, rb->stride), lanes);
    }
    if (op == BinaryOp::kMul) {
      return MakeRamp(MakeBinary(op, ba->value, rb->base),
                      MakeBinary(op, ba->value, rb->stride), lanes);
    }
  }
  return nullptr;
}

Expr FoldBinary(BinaryOp op, const Expr& a, const Expr& b) {
  const DataType t = a->dtype;
  const DataType result = BinaryResultType(op, t);
  if (t.is_float()) {
    const FloatImm* ca = ScalarFloat(a);
    const FloatImm* cb = ScalarFloat(b);
    if (ca != nullptr && cb != nullptr) {
      if (IsComparison(op)) {
        return IntOfType(result, EvalFloatCompare(op, ca->value, cb->value));
      }
      return FloatOfType(
          result, EvalFloatBinary(op, t.element(), ca->value, cb->value));
    }
    // x * 1 and x / 1 are exact; x + 0 is not, for x = -0.
    const bool right_one = cb != nullptr && cb->value == 1;
    if (right_one && (op == BinaryOp::kMul || op == BinaryOp::kDiv)) return a;
    if (ca != nullptr && ca->value == 1 && op == BinaryOp::kMul) return b;
  } else {
    const IntImm* ca = ScalarInt(a);
    const IntImm* cb = ScalarInt(b);
    int64_t value = 0;
    if (ca != nullptr && cb != nullptr &&
        EvalIntBinary(op, t.element(), ca->value, cb->value, &value)) {
      return IntOfType(result, value);
    }
    if (Expr folded = FoldIntIdentity(op, a, b)) return folded;
    if (Expr folded = FoldRamp(op, a, b)) return folded;
  }
  const auto* ba = As<Broadcast>(a);
  const auto* bb = As<Broadcast>(b);
  if (ba != nullptr && bb != nullptr) {
    return MakeBroadcast(MakeBinary(op, ba->value, bb->value), t.lanes);
  }
  return nullptr;
}

}  // namespace

Var::Var(DataType t, std::string n)
    : ExprNode(kKind, t), name(std::move(n)), id(NextVarId()) {}

VarPtr MakeVar(absl::string_view name, DataType dtype) {
  Require(IsValueType(dtype), "not a type that a value can have", "MakeVar");
  return std::make_shared<Var>(dtype, std::string(name));
}

Expr MakeInt(int64_t value, DataType dtype) {
  Require(IsValueType(dtype) && !dtype.is_float(), "not an integer type",
          "MakeInt");
  return IntOfType(dtype, value);
}

Expr MakeFloat(double value, DataType dtype) {
  Require(IsValueType(dtype) && dtype.is_float(), "not a float type",
          "MakeFloat");
  return FloatOfType(dtype, value);
}

Expr MakeConst(DataType dtype, double value) {
  if (dtype.is_float()) return MakeFloat(value, dtype);
  return MakeInt(CastFloatToInt(dtype.element(), value), dtype);
}

Expr MakeBool(bool value) { return MakeInt(value, DataType::Bool()); }

Expr MakeBinary(BinaryOp op, Expr a, Expr b) {
  Require(a != nullptr && b != nullptr, "null operand", "MakeBinary");
  Require(BinaryTypeError(op, a->dtype, b->dtype), "MakeBinary");
  if (Expr folded = FoldBinary(op, a, b)) return folded;
  const DataType t = BinaryResultType(op, a->dtype);
  return std::make_shared<Binary>(op, t, std::move(a), std::move(b));
}

Expr MakeUnary(UnaryOp op, Expr a) {
  Require(a != nullptr, "null operand", "MakeUnary");
  const DataType t = a->dtype;
  Require(UnaryTypeError(op, t), "MakeUnary");
  if (const FloatImm* f = ScalarFloat(a)) return FloatOfType(t, -f->value);
  if (const IntImm* i = ScalarInt(a)) {
    const uint64_t bits = static_cast<uint64_t>(i->value);
    switch (op) {
      case UnaryOp::kNeg:
        return IntOfType(t, static_cast<int64_t>(0 - bits));
      case UnaryOp::kNot:
        return IntOfType(t, i->value == 0);
      case UnaryOp::kBitNot:
        return IntOfType(t, static_cast<int64_t>(~bits));
    }
  }
  const auto* inner = As<Unary>(a);
  if (inner != nullptr && inner->op == op)
    return inner->a;  // each undoes itself
  if (const auto* broadcast = As<Broadcast>(a)) {
    return MakeBroadcast(MakeUnary(op, broadcast->value), t.lanes);
  }
  return std::make_shared<Unary>(op, std::move(a));
}

Expr MakeSelect(Expr condition, Expr on_true, Expr on_false) {
  Require(condition != nullptr && on_true != nullptr && on_false != nullptr,
          "null operand", "MakeSelect");
  Require(SelectTypeError(condition->dtype, on_true->dtype, on_false->dtype),
          "MakeSelect");
  if (const IntImm* c = ScalarInt(condition)) {
    return c->value != 0 ? on_true : on_false;
  }
  if (on_true == on_false) return on_true;
  return std::make_shared<Select>(std::move(condition), std::move(on_true),
                                  std::move(on_false));
}

Expr MakeCast(DataType dtype, Expr value) {
  Require(value != nullptr, "null operand", "MakeCast");
  const DataType from = value->dtype;
  Require(CastTypeError(dtype, from), "MakeCast");
  if (from == dtype) return value;
  if (const FloatImm* f = ScalarFloat(value)) {
    return MakeConst(dtype, f->value);
  }
  if (const IntImm* i = ScalarInt(value)) {
    if (!dtype.is_float()) return IntOfType(dtype, i->value);
    return FloatOfType(
        dtype, CastIntToFloat(dtype.element(), from.element(), i->value));
  }
  if (const auto* broadcast = As<Broadcast>(value)) {
    return MakeBroadcast(MakeCast(dtype.element(), broadcast->value),
                         dtype.lanes);
  }
  return std::make_shared<Cast>(dtype, std::move(value));
}

Expr MakeLoad(Buffer buffer, std::vector<Expr> indices) {
  Require(buffer != nullptr, "null buffer", "MakeLoad");
  Require(IndexTypeError(buffer, indices), "MakeLoad");
  const DataType t = buffer->dtype.with_lanes(IndexLanes(indices));
  return std::make_shared<Load>(t, std::move(buffer), std::move(indices));
}

Expr MakeRamp(Expr base, Expr stride, int lanes) {
  Require(base != nullptr && stride != nullptr, "null operand", "MakeRamp");
  Require(RampTypeError(base->dtype, stride->dtype, lanes), "MakeRamp");
  if (IsConstInt(stride, 0)) return MakeBroadcast(std::move(base), lanes);
  return std::make_shared<Ramp>(std::move(base), std::move(stride), lanes);
}

Expr MakeBroadcast(Expr value, int lanes) {
  Require(value != nullptr, "null operand", "MakeBroadcast");
  if (lanes == 1 && value->dtype.lanes == 1) return value;
  Require(BroadcastTypeError(value->dtype, lanes), "MakeBroadcast");
  return std::make_shared<Broadcast>(std::move(value), lanes);
}

Expr MakeCall(Intrinsic intrinsic, std::vector<Expr> args) {
  Require(CallTypeError(intrinsic, args), IntrinsicName(intrinsic).data());
  const DataType t = CallResultType(intrinsic, args[0]->dtype);
  return std::make_shared<Call>(t, intrinsic, std::move(args));
}

Buffer MakeBuffer(absl::string_view name, DataType dtype,
                  std::vector<Expr> shape, Scope scope) {
  auto buffer = std::make_shared<BufferNode>();
  buffer->name = std::string(name);
  buffer->dtype = dtype;
  buffer->shape = std::move(shape);
  buffer->scope = scope;
  Require(BufferTypeError(*buffer), "MakeBuffer");
  return buffer;
}

Stmt MakeFor(VarPtr var, Expr min, Expr extent, ForKind kind, Stmt body) {
  Require(
      var != nullptr && min != nullptr && extent != nullptr && body != nullptr,
      "null operand", "MakeFor");
  Require(var->dtype == DataType::Int(64) && min->dtype == var->dtype &&
              extent->dtype == var->dtype,
          "a loop's variable and bounds must be i64", "MakeFor");
  return std::make_shared<For>(std::move(var), std::move(min),
                               std::move(extent), kind, std::move(body));
}

Stmt MakeStore(Buffer buffer, std::vector<Expr> indices, Expr value) {
  Require(buffer != nullptr && value != nullptr, "null operand", "MakeStore");
  Require(IndexTypeError(buffer, indices), "MakeStore");
  Require(StoreTypeError(buffer, indices, value->dtype), "MakeStore");
  return std::make_shared<Store>(std::move(buffer), std::move(indices),
                                 std::move(value));
}

Stmt MakeAllocate(Buffer buffer, Stmt body) {
  Require(buffer != nullptr && body != nullptr, "null operand", "MakeAllocate");
  Require(buffer->scope != Scope::kParam, "a parameter cannot be allocated",
          "MakeAllocate");
  Require(buffer->scope != Scope::kPart, "a part cannot be allocated",
          "MakeAllocate");
  return std::make_shared<Allocate>(std::move(buffer), std::move(body));
}

Stmt MakeIf(Expr condition, Stmt then_body, Stmt else_body) {
  Require(condition != nullptr && then_body != nullptr, "null operand",
          "MakeIf");
  Require(condition->dtype == DataType::Bool(),
          "the condition must be a scalar bool", "MakeIf");
  return std::make_shared<IfThenElse>(
      std::move(condition), std::move(then_body), std::move(else_body));
}

Stmt MakeSeq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  flat.reserve(stmts.size());
  for (Stmt& stmt : stmts) {
    if (stmt == nullptr) continue;
    if (const auto* seq = As<Seq>(stmt)) {
      flat.insert(flat.end(), seq->stmts.begin(), seq->stmts.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.size() == 1) return flat[0];
  return std::make_shared<Seq>(std::move(flat));
}

Stmt MakeLet(VarPtr var, Expr value, Stmt body) {
  Require(var != nullptr && value != nullptr && body != nullptr, "null operand",
          "MakeLet");
  Require(var->dtype == value->dtype, "the variable's type is not the value's",
          "MakeLet");
  return std::make_shared<LetStmt>(std::move(var), std::move(value),
                                   std::move(body));
}

Stmt MakeWhile(Expr condition, Stmt body) {
  Require(condition != nullptr && body != nullptr, "null operand", "MakeWhile");
  Require(condition->dtype == DataType::Bool(),
          "the condition must be a scalar bool", "MakeWhile");
  return std::make_shared<While>(std::move(condition), std::move(body));
}

Stmt MakeEvaluate(Expr value) {
  Require(value != nullptr, "null operand", "MakeEvaluate");
  return std::make_shared<Evaluate>(std::move(value));
}

Stmt MakeCallExtern(absl::string_view symbol, std::vector<Buffer> reads,
                    std::vector<Buffer> writes, std::vector<Expr> scalars) {
  Require(CallExternTypeError(symbol, reads, writes, scalars),
          "MakeCallExtern");
  return std::make_shared<CallExtern>(std::string(symbol), std::move(reads),
                                      std::move(writes), std::move(scalars));
}

Stmt MakePart(Buffer buffer, Buffer whole, Expr offset, Stmt body) {
  Require(offset != nullptr && body != nullptr, "null operand", "MakePart");
  Require(PartTypeError(buffer, whole, offset), "MakePart");
  return std::make_shared<Part>(std::move(buffer), std::move(whole),
                                std::move(offset), std::move(body));
}

Stmt MakeAssert(Expr condition, absl::string_view message) {
  Require(condition != nullptr, "null operand", "MakeAssert");
  Require(condition->dtype == DataType::Bool(),
          "the condition must be a scalar bool", "MakeAssert");
  return std::make_shared<Assert>(std::move(condition), std::string(message));
}

Stmt MakePrefetch(Buffer buffer, std::vector<Expr> indices, int64_t ahead,
                  int64_t bytes) {
  Require(PrefetchTypeError(buffer, indices, ahead, bytes), "MakePrefetch");
  return std::make_shared<Prefetch>(std::move(buffer), std::move(indices),
                                    ahead, bytes);
}

bool AsConstInt(const Expr& e, int64_t* value) {
  const auto* imm = As<IntImm>(e);
  if (imm == nullptr) return false;
  *value = imm->value;
  return true;
}

bool IsConstInt(const Expr& e, int64_t value) {
  const auto* imm = As<IntImm>(e);
  return imm != nullptr && imm->value == value;
}

Expr operator+(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kAdd, a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kSub, a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kMul, a, b);
}
Expr operator-(const Expr& a) { return MakeUnary(UnaryOp::kNeg, a); }
Expr operator+(const Expr& a, int64_t b) { return a + MakeInt(b, a->dtype); }
Expr operator-(const Expr& a, int64_t b) { return a - MakeInt(b, a->dtype); }
Expr operator*(const Expr& a, int64_t b) { return a * MakeInt(b, a->dtype); }
Expr operator/(const Expr& a, const Expr& b) {
  return MakeBinary(a->dtype.is_float() ? BinaryOp::kDiv : BinaryOp::kFloorDiv,
                    a, b);
}
Expr operator%(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kFloorMod, a, b);
}
Expr Min(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kMin, a, b);
}
Expr Max(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kMax, a, b);
}
Expr And(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kAnd, a, b);
}
Expr Or(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kOr, a, b);
}
Expr Eq(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kEq, a, b);
}
Expr Ne(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kNe, a, b);
}
Expr Lt(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kLt, a, b);
}
Expr Le(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kLe, a, b);
}
Expr Gt(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kGt, a, b);
}
Expr Ge(const Expr& a, const Expr& b) {
  return MakeBinary(BinaryOp::kGe, a, b);
}

}  // namespace ingot::tir
