#include "compiler/schedules/stage_facts.h"

#include <algorithm>

#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::As;

absl::string_view TagOf(const Stage* stage, absl::string_view key) {
  auto it = stage->op().tags.find(std::string(key));
  return it == stage->op().tags.end() ? absl::string_view() : it->second;
}

std::optional<int64_t> ConstExtent(const Expr& extent) {
  return tir::ToAffine(extent).AsConst();
}

int64_t GuessExtent(const Expr& extent) {
  return ConstExtent(extent).value_or(kGuess);
}

int64_t OutputElements(const Stage* stage) {
  int64_t count = 1;
  for (const Expr& dim : stage->output().shape()) count *= GuessExtent(dim);
  return count;
}

int64_t GuessWork(const Stage* stage) {
  int64_t count = OutputElements(stage);
  for (const Expr& dim : stage->op().reduce_extent) count *= GuessExtent(dim);
  return count;
}

namespace {

class CostVisitor : public tir::ExprVisitor {
 public:
  int64_t cost = 1;
  bool expensive = false;
  std::vector<const tir::Load*> loads;

 protected:
  void VisitBinary(const tir::Binary& node) override {
    const bool division =
        node.op == tir::BinaryOp::kDiv || node.op == tir::BinaryOp::kMod;
    if (!(node.dtype == DataType::Int(64))) cost += division ? 5 : 1;
    tir::ExprVisitor::VisitBinary(node);
  }
  void VisitCall(const tir::Call& node) override {
    switch (node.intrinsic) {
      case tir::Intrinsic::kMulAdd:
      case tir::Intrinsic::kDot4:
      case tir::Intrinsic::kDot2:
      case tir::Intrinsic::kAbs:
      case tir::Intrinsic::kFloor:
      case tir::Intrinsic::kCeil:
      case tir::Intrinsic::kRound:
      case tir::Intrinsic::kTrunc:
      case tir::Intrinsic::kIsNan:
      case tir::Intrinsic::kIsInf:
        cost += 1;
        break;
      case tir::Intrinsic::kSqrt:
      case tir::Intrinsic::kRsqrt:
        cost += 8;
        break;
      default:
        cost += 20;
        expensive = true;
    }
    tir::ExprVisitor::VisitCall(node);
  }
  void VisitLoad(const tir::Load& node) override {
    cost += 1;
    loads.push_back(&node);
    tir::ExprVisitor::VisitLoad(node);
  }
};

// Whether every load's elements are at most so far apart.
bool StrideIsAtMost(const Stage* stage, const tir::Var* var, int most) {
  for (const tir::Load* load : LoadsOf(stage->op().value)) {
    const int stride = AccessStride(*load, var);
    if (stride < 0 || stride > most) return false;
  }
  return true;
}

}  // namespace

int64_t ValueCost(const Expr& value) {
  CostVisitor visitor;
  visitor.Visit(value);
  return visitor.cost;
}

bool IsExpensive(const Expr& value) {
  CostVisitor visitor;
  visitor.Visit(value);
  return visitor.expensive;
}

bool DependsOn(const tir::Load& load, const tir::Var* var) {
  return std::any_of(load.indices.begin(), load.indices.end(),
                     [var](const Expr& i) { return tir::Uses(i, var); });
}

std::vector<const tir::Load*> LoadsOf(const Expr& value) {
  CostVisitor visitor;
  visitor.Visit(value);
  return std::move(visitor.loads);
}

int AccessStride(const tir::Load& load, const tir::Var* var) {
  int stride = 0;
  const std::vector<Expr>& shape = load.buffer->shape;
  for (size_t i = 0; i < load.indices.size(); ++i) {
    const tir::Affine index = tir::ToAffine(load.indices[i]);
    const bool last = std::all_of(
        shape.begin() + static_cast<int64_t>(i) + 1, shape.end(),
        [](const Expr& extent) { return tir::IsConstInt(extent, 1); });
    for (const tir::Term& term : index.terms) {
      const bool used = std::any_of(
          term.factors.begin(), term.factors.end(),
          [var](const Expr& factor) { return tir::Uses(factor, var); });
      if (!used) continue;
      const bool alone =
          term.factors.size() == 1 && term.factors[0].get() == var;
      if (!last || !alone || stride != 0 || term.coefficient < 1 ||
          term.coefficient > 2) {
        return -1;
      }
      stride = static_cast<int>(term.coefficient);
    }
  }
  return stride;
}

bool IsContiguous(const Stage* stage, const tir::Var* var) {
  return StrideIsAtMost(stage, var, 1);
}

bool IsNearlyContiguous(const Stage* stage, const tir::Var* var) {
  return StrideIsAtMost(stage, var, 2);
}

bool ReadsAtOwnPoints(const Stage& reader, const tir::Buffer& buffer) {
  if (reader.axes().size() != buffer->shape.size()) return false;
  for (const tir::Load* load : LoadsOf(reader.op().value)) {
    if (load->buffer != buffer) continue;
    for (size_t i = 0; i < load->indices.size(); ++i) {
      // Definitions write either the axis or 0 for the index of an extent of 1.
      const bool at_axis = load->indices[i] == reader.op().axis[i];
      const bool single = tir::IsConstInt(load->indices[i], 0) &&
                          ConstExtent(reader.output().shape()[i]) == 1 &&
                          ConstExtent(buffer->shape[i]) == 1;
      if (!at_axis && !single) return false;
    }
  }
  return true;
}

bool ReadsAtOwnPoints(const Stage* reader, const Stage* stage) {
  return reader->op().kind == OperationKind::kCompute &&
         ReadsAtOwnPoints(*reader, stage->output().buffer);
}

Stage* FindPad(const Schedule& schedule, const Stage& reader) {
  for (const Tensor& t : reader.op().inputs) {
    Stage* producer = schedule.Find(t);
    if (producer != nullptr && !TagOf(producer, kPad).empty() &&
        !producer->is_output() && schedule.Readers(producer).size() == 1) {
      return producer;
    }
  }
  return nullptr;
}

}  // namespace ingot::te
