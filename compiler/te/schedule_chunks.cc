// Reductions cut into chunks that are reduced apart.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/te/schedule.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// The reduction `op` with one more axis, the first: along it, one of `chunks`
// equal parts of its first reduce axis.
Operation ChunksOf(const Operation& op, int64_t chunks, int64_t extent) {
  Operation made;
  made.kind = OperationKind::kReduce;
  made.name = absl::StrCat(op.name, ".chunks");
  made.tags = op.tags;
  made.reducer = op.reducer;
  made.inputs = op.inputs;
  std::map<const tir::Var*, Expr> map;
  const auto fresh = [&map](const std::vector<tir::VarPtr>& vars) {
    std::vector<tir::VarPtr> result;
    for (const tir::VarPtr& var : vars) {
      result.push_back(tir::MakeVar(var->name));
      map[var.get()] = result.back();
    }
    return result;
  };
  made.axis = fresh(op.axis);
  made.reduce_axis = fresh(op.reduce_axis);
  made.reduce_extent = op.reduce_extent;
  const tir::VarPtr chunk = tir::MakeVar("chunk");
  const int64_t terms = extent / chunks;
  made.reduce_extent[0] = tir::MakeInt(terms);
  map[op.reduce_axis[0].get()] =
      Expr(chunk) * tir::MakeInt(terms) + Expr(made.reduce_axis[0]);
  made.axis.insert(made.axis.begin(), chunk);
  made.value = tir::Substitute(op.value, map);
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.insert(shape.begin(), tir::MakeInt(chunks));
  made.outputs = {Tensor{
      tir::MakeBuffer(made.name, op.outputs[0].dtype(), std::move(shape))}};
  return made;
}

}  // namespace

Stage* Schedule::ReduceInChunks(Stage* stage, int64_t chunks) {
  const Operation op = stage->op_;
  int64_t extent = 0;
  const bool fits =
      op.kind == OperationKind::kReduce && !op.reduce_axis.empty() &&
      tir::AsConstInt(tir::Simplify(op.reduce_extent[0]), &extent) &&
      chunks >= 2 && extent % chunks == 0;
  if (!stage->Require(fits, "reduce_in_chunks needs chunks that divide")) {
    return stage;
  }
  Operation part = ChunksOf(op, chunks, extent);
  const Tensor parts = part.outputs[0];
  Operation whole;
  whole.kind = OperationKind::kCompute;
  whole.name = op.name;
  whole.outputs = op.outputs;
  Indices at;
  for (const tir::VarPtr& var : op.axis) {
    whole.axis.push_back(tir::MakeVar(var->name));
    at.push_back(whole.axis.back());
  }
  at.insert(at.begin(), tir::MakeInt(0));
  whole.value = parts(at);
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    at[0] = tir::MakeInt(chunk);
    whole.value = op.reducer.combine(whole.value, parts(at));
  }
  whole.inputs = {parts};
  stage->op_ = std::move(whole);
  stage->ResetLoops();
  return InsertBefore(stage, std::move(part));
}

}  // namespace ingot::te
