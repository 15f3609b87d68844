// The loop IR: what a kernel does, as typed expressions and loops over buffers.
//
// Nodes are immutable and shared; `make` functions check their operands with
// CHECK-like asserts, because a badly typed node is always our own bug (text
// from a user goes through the parser, which reports errors as Status).
//
// Meaning, in short (the interpreter is the reference):
//  * Integers wrap in two's complement; signed division kDiv truncates,
//    kFloorDiv and kFloorMod round towards minus infinity (Python's // and %).
//    Undefined: division by zero, the most negative number divided by -1, and
//    a shift by less than 0 or by at least the type's bits. The simplifier
//    never introduces one. It takes i64 arithmetic on variables (indices) not
//    to overflow; arithmetic on loaded data may.
//  * Floats follow IEEE 754 in their own type. No reassociation, except inside
//    what a schedule reorders by name; kMulAdd may or may not be fused.
//    kMin(a, b) is a < b ? a : b and kMax(a, b) is a > b ? a : b, which for a
//    NaN in either operand is b, as x86's minps and maxps: max(0, x) keeps a
//    NaN in x, max(x, 0) drops it.
//  * Logical kAnd/kOr do not short-circuit, and Select evaluates both sides,
//    but a Load under a false Select condition must not fault: code generators
//    use a branch or a clamped address unless they can prove the load safe.
//  * A value of `lanes` > 1 is a short vector; scalars never mix with vectors
//    except through Broadcast.
//  * A Load or Store indexes every dimension of its buffer, in elements. In
//    vector code exactly one index has lanes, and a stored value has as many.
#ifndef INGOT_COMPILER_TIR_IR_H_
#define INGOT_COMPILER_TIR_IR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/tir/intrinsics.h"  // IWYU pragma: export
#include "runtime/data_type.h"

namespace ingot::tir {

constexpr int kMaxLanes = 256;  // of the widest vector

// Every node kind: the enum, the visitors and the printer come from these.
#define INGOT_TIR_EXPR_NODES(V) \
  V(IntImm)                     \
  V(FloatImm)                   \
  V(Var)                        \
  V(Unary)                      \
  V(Binary)                     \
  V(Select)                     \
  V(Cast)                       \
  V(Load)                       \
  V(Ramp)                       \
  V(Broadcast)                  \
  V(Call)

#define INGOT_TIR_STMT_NODES(V) \
  V(For)                        \
  V(Store)                      \
  V(Allocate)                   \
  V(IfThenElse)                 \
  V(Seq)                        \
  V(LetStmt)                    \
  V(While)                      \
  V(Evaluate)                   \
  V(CallExtern)                 \
  V(Part)                       \
  V(Assert)                     \
  V(Prefetch)

#define INGOT_TIR_ENUM(Name) k##Name,
enum class ExprKind { INGOT_TIR_EXPR_NODES(INGOT_TIR_ENUM) };
enum class StmtKind { INGOT_TIR_STMT_NODES(INGOT_TIR_ENUM) };
#undef INGOT_TIR_ENUM

struct ExprNode {
  const ExprKind kind;
  const DataType dtype;

 protected:
  ExprNode(ExprKind kind, DataType dtype) : kind(kind), dtype(dtype) {}
  // Never deleted through this type: shared_ptr remembers the real one.
  ~ExprNode() = default;
};

struct StmtNode {
  const StmtKind kind;

 protected:
  explicit StmtNode(StmtKind kind) : kind(kind) {}
  ~StmtNode() = default;
};

using Expr = std::shared_ptr<const ExprNode>;
using Stmt = std::shared_ptr<const StmtNode>;

// ---------------------------------------------------------------- expressions

struct IntImm final : ExprNode {  // also bool: 0 or 1
  static constexpr ExprKind kKind = ExprKind::kIntImm;
  IntImm(DataType t, int64_t v) : ExprNode(kKind, t), value(v) {}
  const int64_t value;
};

struct FloatImm final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kFloatImm;
  FloatImm(DataType t, double v) : ExprNode(kKind, t), value(v) {}
  const double value;
};

// A variable: a loop index, a let binding or a symbolic dimension. Identity is
// the node's address; names are for people and made unique by the printer.
// `id` grows with each Var that the process creates: among those of one thread
// it is a repeatable order (addresses are not), which simplify sorts by.
struct Var final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kVar;
  Var(DataType t, std::string n);
  const std::string name;
  const uint64_t id;
};
using VarPtr = std::shared_ptr<const Var>;

enum class UnaryOp { kNeg, kNot, kBitNot };

struct Unary final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kUnary;
  Unary(UnaryOp op, Expr a) : ExprNode(kKind, a->dtype), op(op), a(a) {}
  const UnaryOp op;
  const Expr a;
};

// Comparisons and logic give bool (with the operands' lanes).
enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kAnd,
  kOr,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,
};

struct Binary final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  Binary(BinaryOp op, DataType t, Expr a, Expr b)
      : ExprNode(kKind, t), op(op), a(a), b(b) {}
  const BinaryOp op;
  const Expr a, b;
};

struct Select final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kSelect;
  Select(Expr c, Expr t, Expr f)
      : ExprNode(kKind, t->dtype), condition(c), on_true(t), on_false(f) {}
  const Expr condition, on_true, on_false;
};

// A numeric conversion. Float to int truncates (out of range saturates, NaN
// gives 0); to bool is "not equal 0"; to a narrower float rounds to even.
struct Cast final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCast;
  Cast(DataType t, Expr v) : ExprNode(kKind, t), value(v) {}
  const Expr value;
};

// The origin of a buffer's memory.
enum class Scope {
  kParam,      // passed to the function
  kWorkspace,  // one per call, shared by threads: the plan's storage
  kStack,      // private to the iteration that allocates it; a constant size
  kPart,       // inside of another buffer (Part)
  // Each iteration of a block loop has these, with a constant size:
  kShared,     // one for all of its threads
  kRegisters,  // [a, b, c, d]: thread (a, b) alone uses its part [c, d], and
               // finds in one thread loop what it left in another
};

// Whether buffers of the scope are arrays of constant size, allocated where the
// code is that uses them.
constexpr bool IsArray(Scope scope) {
  return scope == Scope::kStack || scope == Scope::kShared ||
         scope == Scope::kRegisters;
}

struct BufferNode {
  std::string name;
  DataType dtype;           // of one element; lanes 1
  std::vector<Expr> shape;  // i64; row major, dense; {} is one element
  Scope scope = Scope::kParam;
};
using Buffer = std::shared_ptr<const BufferNode>;  // identity: its address

struct Load final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLoad;
  Load(DataType t, Buffer b, std::vector<Expr> i)
      : ExprNode(kKind, t), buffer(std::move(b)), indices(std::move(i)) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
};

// base, base + stride, … : `lanes` of them.
struct Ramp final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kRamp;
  Ramp(Expr base, Expr stride, int lanes)
      : ExprNode(kKind, base->dtype.with_lanes(lanes)),
        base(base),
        stride(stride) {}
  const Expr base, stride;
};

struct Broadcast final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kBroadcast;
  Broadcast(Expr v, int lanes)
      : ExprNode(kKind, v->dtype.with_lanes(lanes)), value(v) {}
  const Expr value;
};

struct Call final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCall;
  Call(DataType t, Intrinsic f, std::vector<Expr> a)
      : ExprNode(kKind, t), intrinsic(f), args(std::move(a)) {}
  const Intrinsic intrinsic;
  const std::vector<Expr> args;
};

// ------------------------------------------------------------------ statements

// A tensorized loop and the serial ones in it add products of two buffers'
// elements to a third's, with constant extents, in a form that registers of
// tiles hold (compiler/codegen/llvm/tile_nest.h), or the threads of a warp
// (warp_nest.h). The sums may be made in any order. Where there are no such
// registers it is a serial loop. Factors of f32 may be rounded to what a unit
// multiplies: whoever tensorizes such a loop was told that this is allowed. Or
// they copy boxes of a tensor into shared memory (codegen/box_copy.h).
//
// A block loop is a parallel one whose iterations are groups of threads. Thread
// loops in it say what each of them does; all iterations of one have ended when
// what follows begins, which is what devices call a barrier. What stands around
// them, loops, conditions, lets and allocations, is the same for all threads,
// and whatever stores is inside of one. Thread loops begin at 0, have constant
// extents and do not nest. In any order of iterations they compute the same, so
// that where there are no such groups they are serial loops.
enum class ForKind {
  kSerial,
  kParallel,
  kVectorized,
  kUnrolled,
  kTensorized,
  kBlock,
  kThread,
};

// for var in [min, min + extent): body. A vectorized or unrolled loop has a
// constant extent.
struct For final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kFor;
  For(VarPtr v, Expr min, Expr extent, ForKind k, Stmt body)
      : StmtNode(kKind),
        var(v),
        min(min),
        extent(extent),
        for_kind(k),
        body(body) {}
  const VarPtr var;
  const Expr min, extent;
  const ForKind for_kind;
  const Stmt body;
};

struct Store final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kStore;
  Store(Buffer b, std::vector<Expr> i, Expr v)
      : StmtNode(kKind),
        buffer(std::move(b)),
        indices(std::move(i)),
        value(v) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
  const Expr value;
};

// The buffer is live, uninitialised, inside body.
struct Allocate final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kAllocate;
  Allocate(Buffer b, Stmt body)
      : StmtNode(kKind), buffer(std::move(b)), body(body) {}
  const Buffer buffer;
  const Stmt body;
};

struct IfThenElse final : StmtNode {  // else_body may be null
  static constexpr StmtKind kKind = StmtKind::kIfThenElse;
  IfThenElse(Expr c, Stmt t, Stmt e)
      : StmtNode(kKind), condition(c), then_body(t), else_body(e) {}
  const Expr condition;
  const Stmt then_body, else_body;
};

struct Seq final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kSeq;
  explicit Seq(std::vector<Stmt> s) : StmtNode(kKind), stmts(std::move(s)) {}
  const std::vector<Stmt> stmts;
};

struct LetStmt final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kLetStmt;
  LetStmt(VarPtr v, Expr value, Stmt body)
      : StmtNode(kKind), var(v), value(value), body(body) {}
  const VarPtr var;
  const Expr value;
  const Stmt body;
};

struct While final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kWhile;
  While(Expr c, Stmt body) : StmtNode(kKind), condition(c), body(body) {}
  const Expr condition;
  const Stmt body;
};

struct Evaluate final : StmtNode {  // evaluates and drops; a no-op when pure
  static constexpr StmtKind kKind = StmtKind::kEvaluate;
  explicit Evaluate(Expr v) : StmtNode(kKind), value(v) {}
  const Expr value;
};

// Calls `int symbol(const T* read…, T* write…, scalar…)`, a function of other
// code that the kernel is linked with: whole buffers by their first elements,
// no written one twice, then scalars of i32, i64, f32 or f64. It answers 0, or
// the kernel fails. Not inside of parallel and vectorized loops.
struct CallExtern final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kCallExtern;
  CallExtern(std::string symbol, std::vector<Buffer> reads,
             std::vector<Buffer> writes, std::vector<Expr> scalars)
      : StmtNode(kKind),
        symbol(std::move(symbol)),
        reads(std::move(reads)),
        writes(std::move(writes)),
        scalars(std::move(scalars)) {}
  const std::string symbol;  // a C identifier
  const std::vector<Buffer> reads, writes;
  const std::vector<Expr> scalars;
};

// Inside body the buffer, whose scope is kPart, is the memory of `whole` from
// byte `offset` on, up to as many bytes as it has: another name for elements
// that are already there. The offset is a multiple of an element's size. Only
// read where `whole` is.
struct Part final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kPart;
  Part(Buffer b, Buffer w, Expr o, Stmt body)
      : StmtNode(kKind),
        buffer(std::move(b)),
        whole(std::move(w)),
        offset(o),
        body(body) {}
  const Buffer buffer, whole;
  const Expr offset;  // i64
  const Stmt body;
};

// The function fails with `message`, for people, unless the condition holds.
// Not inside of parallel and vectorized loops.
struct Assert final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kAssert;
  Assert(Expr c, std::string m)
      : StmtNode(kKind), condition(c), message(std::move(m)) {}
  const Expr condition;
  const std::string message;
};

// Asks for `bytes` bytes of memory, from `ahead` bytes after an element on,
// beyond the buffer, too. Has no other effect, and none on devices.
struct Prefetch final : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kPrefetch;
  Prefetch(Buffer b, std::vector<Expr> i, int64_t ahead, int64_t bytes)
      : StmtNode(kKind),
        buffer(std::move(b)),
        indices(std::move(i)),
        ahead(ahead),
        bytes(bytes) {}
  const Buffer buffer;
  const std::vector<Expr> indices;  // scalars
  const int64_t ahead, bytes;
};

// ------------------------------------------------------------------- functions

// A kernel. Its parameters are buffers: those it reads, then those it writes,
// then workspaces. Symbolic dimensions are the Vars that occur in the shapes
// of `params`; each stands alone as a dimension of at least one of them and is
// bound from the argument's shape when the function is called.
struct PrimFunc {
  std::string name;
  std::vector<Buffer> params;
  int num_outputs = 1;     // of params, before the workspaces
  int num_workspaces = 0;  // the last of params
  Stmt body;
  std::map<std::string, std::string> attrs;  // for people and backends

  int num_inputs() const {
    return static_cast<int>(params.size()) - num_outputs - num_workspaces;
  }
};

// -------------------------------------------------------------------- downcast

// The node as T, or null when it is none.
template <typename T>
const T* As(const Expr& e) {
  return e != nullptr && e->kind == T::kKind ? static_cast<const T*>(e.get())
                                             : nullptr;
}
template <typename T>
const T* As(const Stmt& s) {
  return s != nullptr && s->kind == T::kKind ? static_cast<const T*>(s.get())
                                             : nullptr;
}

// --------------------------------------------------------------------- builder

// Light folding only (constants, x+0, x*1, x*0 of integers); `simplify.h` does
// the rest. Operands of binary operators must have the same type.

VarPtr MakeVar(absl::string_view name, DataType dtype = DataType::Int(64));
Expr MakeInt(int64_t value, DataType dtype = DataType::Int(64));
Expr MakeFloat(double value, DataType dtype = DataType::Float(32));
// A constant of any type, vector types included.
Expr MakeConst(DataType dtype, double value);
Expr MakeBool(bool value);
Expr MakeBinary(BinaryOp op, Expr a, Expr b);
Expr MakeUnary(UnaryOp op, Expr a);
Expr MakeSelect(Expr condition, Expr on_true, Expr on_false);
Expr MakeCast(DataType dtype, Expr value);  // the value itself if same type
Expr MakeLoad(Buffer buffer, std::vector<Expr> indices);
Expr MakeRamp(Expr base, Expr stride, int lanes);
Expr MakeBroadcast(Expr value, int lanes);  // the value itself if lanes is 1
Expr MakeCall(Intrinsic intrinsic, std::vector<Expr> args);
Buffer MakeBuffer(absl::string_view name, DataType dtype,
                  std::vector<Expr> shape, Scope scope = Scope::kParam);

Stmt MakeFor(VarPtr var, Expr min, Expr extent, ForKind kind, Stmt body);
Stmt MakeStore(Buffer buffer, std::vector<Expr> indices, Expr value);
Stmt MakeAllocate(Buffer buffer, Stmt body);
Stmt MakeIf(Expr condition, Stmt then_body, Stmt else_body = nullptr);
// Flattens nested sequences and skips nulls; of one statement, itself.
Stmt MakeSeq(std::vector<Stmt> stmts);
Stmt MakeLet(VarPtr var, Expr value, Stmt body);
Stmt MakeWhile(Expr condition, Stmt body);
Stmt MakeEvaluate(Expr value);
Stmt MakeCallExtern(absl::string_view symbol, std::vector<Buffer> reads,
                    std::vector<Buffer> writes, std::vector<Expr> scalars);
Stmt MakePart(Buffer buffer, Buffer whole, Expr offset, Stmt body);
Stmt MakeAssert(Expr condition, absl::string_view message);
Stmt MakePrefetch(Buffer buffer, std::vector<Expr> indices, int64_t ahead,
                  int64_t bytes);

// The value of an integer (or bool) constant. Returns false for anything else.
bool AsConstInt(const Expr& e, int64_t* value);
bool IsConstInt(const Expr& e, int64_t value);

// Operators on expressions, which argument-dependent lookup finds: a + b * 2.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator+(const Expr& a, int64_t b);
Expr operator-(const Expr& a, int64_t b);
Expr operator*(const Expr& a, int64_t b);
// Integers: kFloorDiv, kFloorMod. Floats: true division.
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr Min(const Expr& a, const Expr& b);
Expr Max(const Expr& a, const Expr& b);
Expr And(const Expr& a, const Expr& b);
Expr Or(const Expr& a, const Expr& b);
Expr Eq(const Expr& a, const Expr& b);
Expr Ne(const Expr& a, const Expr& b);
Expr Lt(const Expr& a, const Expr& b);
Expr Le(const Expr& a, const Expr& b);
Expr Gt(const Expr& a, const Expr& b);
Expr Ge(const Expr& a, const Expr& b);
}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_IR_H_
