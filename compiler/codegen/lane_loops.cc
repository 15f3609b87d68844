#include "compiler/codegen/lane_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/codegen/access.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/intrinsics.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::Affine;
using tir::As;
using tir::BinaryOp;
using tir::Expr;
using tir::Stmt;

// Fewer are no faster in a vector than one after the other.
constexpr int64_t kFewestLanes = 4;

// Functions that take tens of instructions, which vectors share.
bool IsLong(const tir::Call& call) {
  switch (call.intrinsic) {
    case tir::Intrinsic::kExp:
    case tir::Intrinsic::kLog:
    case tir::Intrinsic::kTanh:
    case tir::Intrinsic::kErf:
    case tir::Intrinsic::kSin:
    case tir::Intrinsic::kCos:
    case tir::Intrinsic::kPow:
      return call.dtype == DataType::Float(32);
    default:
      return false;
  }
}

bool DividesIntegers(const tir::Binary& node) {
  switch (node.op) {
    case BinaryOp::kDiv:
      return !node.dtype.is_float();
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return true;
    default:
      return false;
  }
}

// The elements that an access of the body touches: in each iteration one,
// `stride` after that of the iteration before.
struct Place {
  const tir::BufferNode* buffer;
  Affine offset;
  int64_t stride;
};

// Whether two accesses meet in one element in the same iteration alone.
bool AreApart(const Place& a, const Place& b) {
  const Affine distance = a.offset - b.offset;
  const std::optional<int64_t> constant = distance.AsConst();
  return constant.has_value() &&
         (*constant == 0 ||
          (a.stride == b.stride && *constant % a.stride != 0));
}

// Finds what the body of a loop touches, and whether C has vectors for it all.
class Body final : public tir::StmtVisitor {
 public:
  Body(const tir::Var* var, const Stmt& body) : var_(var) {
    changing_.insert(var);
    Visit(body);
  }

  // Whether lanes may run all of it, one statement after the other.
  bool FitsLanes() const {
    if (!fits_ || !calls_) return false;
    for (const Place& store : stores_) {
      if (store.stride != 1 && !TakesTurns(store)) return false;
      for (const std::vector<Place>* others : {&stores_, &loads_}) {
        for (const Place& other : *others) {
          if (other.buffer == store.buffer && !AreApart(store, other)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  int bits() const { return bits_; }

  void Visit(const Expr& e) override {
    const DataType t = e->dtype;
    fits_ = fits_ && t.lanes == 1 && !(t.is_float() && t.bits < 32);
    if (!t.is_bool()) bits_ = std::max<int>(bits_, t.bits);
    tir::StmtVisitor::Visit(e);
  }
  void Visit(const Stmt& s) override {
    fits_ = fits_ && (s->kind == tir::StmtKind::kStore ||
                      s->kind == tir::StmtKind::kSeq ||
                      s->kind == tir::StmtKind::kLetStmt);
    if (fits_) tir::StmtVisitor::Visit(s);
  }

 protected:
  void VisitBinary(const tir::Binary& node) override {
    if (DividesIntegers(node)) fits_ = false;
    tir::StmtVisitor::VisitBinary(node);
  }
  void VisitCast(const tir::Cast& node) override {
    const bool saturates = node.value->dtype.is_float() &&
                           node.dtype.is_integer() && node.dtype.bits > 16;
    if (saturates || node.dtype.is_bool()) fits_ = false;
    tir::StmtVisitor::VisitCast(node);
  }
  void VisitCall(const tir::Call& node) override {
    if (node.dtype.is_bool()) fits_ = false;
    calls_ = calls_ || IsLong(node);
    tir::StmtVisitor::VisitCall(node);
  }
  void VisitLetStmt(const tir::LetStmt& node) override {
    Visit(node.value);
    changing_.insert(node.var.get());
    Visit(node.body);
  }
  void VisitLoad(const tir::Load& node) override {
    Touch(node.buffer, node.indices, &loads_);
  }
  void VisitStore(const tir::Store& node) override {
    Touch(node.buffer, node.indices, &stores_);
    Visit(node.value);
  }

 private:
  // A part is other buffers' memory, too, and of conditions there are no
  // vectors in memory.
  void Touch(const tir::Buffer& buffer, const std::vector<Expr>& indices,
             std::vector<Place>* places) {
    int following = 0;
    for (const Expr& index : indices) {
      if (Changes(index)) ++following;
    }
    Affine offset = tir::ToAffine(FlattenIndex(*buffer, indices));
    const int64_t stride = offset.CoefficientOf(var_);
    Affine rest = offset;
    for (auto term = rest.terms.begin(); term != rest.terms.end(); ++term) {
      if (term->factors.size() == 1 && As<tir::Var>(term->factors[0]) == var_) {
        rest.terms.erase(term);
        break;
      }
    }
    fits_ = fits_ && following <= 1 && !Changes(rest.ToExpr()) &&
            buffer->scope != tir::Scope::kPart && !buffer->dtype.is_bool();
    places->push_back({buffer.get(), std::move(offset), stride});
  }

  // Whether another store is to the elements between those of this one.
  bool TakesTurns(const Place& store) const {
    if (store.stride != 2) return false;
    return std::any_of(stores_.begin(), stores_.end(), [&](const Place& other) {
      const std::optional<int64_t> distance =
          (other.offset - store.offset).AsConst();
      return other.buffer == store.buffer && distance.has_value() &&
             (*distance == 1 || *distance == -1);
    });
  }

  bool Changes(const Expr& e) const {
    return std::any_of(changing_.begin(), changing_.end(),
                       [&](const tir::Var* var) { return tir::Uses(e, var); });
  }

  const tir::Var* const var_;
  std::set<const tir::Var*> changing_;  // from one iteration to the next
  bool fits_ = true;
  bool calls_ = false;
  int bits_ = 8;
  std::vector<Place> loads_, stores_;
};

class LaneLooper final : public tir::StmtMutator {
 public:
  explicit LaneLooper(int vector_bits) : vector_bits_(vector_bits) {}

 protected:
  Stmt MutateFor(const Stmt& s, const tir::For& node) override {
    if (node.for_kind != tir::ForKind::kSerial) {
      return StmtMutator::MutateFor(s, node);
    }
    const Body body(node.var.get(), node.body);
    if (!body.FitsLanes()) return StmtMutator::MutateFor(s, node);
    int64_t lanes = vector_bits_ / body.bits();
    int64_t extent = 0;
    if (tir::AsConstInt(node.extent, &extent)) {
      return extent < kFewestLanes ? s : OfConstantExtent(node, extent, lanes);
    }
    if (tir::Prove(tir::Lt(node.extent, tir::MakeInt(lanes)))) return s;
    const Expr whole =
        tir::MakeBinary(BinaryOp::kDiv, node.extent, tir::MakeInt(lanes));
    const Expr done = whole * lanes;
    return tir::MakeSeq(
        {Whole(node, whole, lanes),
         tir::MakeFor(node.var, node.min + done, node.extent - done,
                      tir::ForKind::kSerial, node.body)});
  }

 private:
  static Stmt Lanes(const tir::For& loop, const Expr& first, int64_t lanes) {
    return tir::MakeFor(loop.var, loop.min + first, tir::MakeInt(lanes),
                        tir::ForKind::kVectorized, loop.body);
  }

  static Stmt Whole(const tir::For& loop, const Expr& count, int64_t lanes) {
    const tir::VarPtr outer = tir::MakeVar(loop.var->name + "o");
    return tir::MakeFor(outer, tir::MakeInt(0), count, tir::ForKind::kSerial,
                        Lanes(loop, Expr(outer) * lanes, lanes));
  }

  // Shorter vectors take what the widest leave over.
  static Stmt OfConstantExtent(const tir::For& loop, int64_t extent,
                               int64_t lanes) {
    std::vector<Stmt> parts;
    int64_t done = extent / lanes * lanes;
    if (done > 0) {
      parts.push_back(Whole(loop, tir::MakeInt(done / lanes), lanes));
    }
    for (lanes /= 2; lanes >= kFewestLanes; lanes /= 2) {
      if (extent - done < lanes) continue;
      parts.push_back(Lanes(loop, tir::MakeInt(done), lanes));
      done += lanes;
    }
    if (done < extent) {
      parts.push_back(tir::MakeFor(loop.var, loop.min + done,
                                   tir::MakeInt(extent - done),
                                   tir::ForKind::kSerial, loop.body));
    }
    return tir::MakeSeq(std::move(parts));
  }

  const int vector_bits_;
};

}  // namespace

tir::PrimFunc MakeLaneLoops(const tir::PrimFunc& func, int vector_bits) {
  tir::PrimFunc result = func;
  result.body = LaneLooper(vector_bits).Mutate(func.body);
  return result;
}

}  // namespace ingot::codegen
