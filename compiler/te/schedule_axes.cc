// Reductions with other axes than their definitions: in chunks that are reduced
// apart, or with several as one.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/te/schedule.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// The axes by which new ones are computed.
using AxisMap = std::map<const tir::Var*, Expr>;

// New variables like the old ones, which the map sends to them.
std::vector<tir::VarPtr> Fresh(const std::vector<tir::VarPtr>& like,
                               AxisMap* map) {
  std::vector<tir::VarPtr> result;
  for (const tir::VarPtr& var : like) {
    result.push_back(tir::MakeVar(var->name));
    (*map)[var.get()] = result.back();
  }
  return result;
}

// The reduction `op` with one more axis, the first: along it, one of `chunks`
// equal parts of a reduce axis of that extent.
Operation ChunksOf(const Operation& op, size_t reduce_axis, int64_t chunks,
                   int64_t extent) {
  Operation made;
  made.kind = OperationKind::kReduce;
  made.name = absl::StrCat(op.name, ".chunks");
  made.tags = op.tags;
  made.reducer = op.reducer;
  made.inputs = op.inputs;
  AxisMap map;
  made.axis = Fresh(op.axis, &map);
  made.reduce_axis = Fresh(op.reduce_axis, &map);
  made.reduce_extent = op.reduce_extent;
  const tir::VarPtr chunk = tir::MakeVar("chunk");
  const int64_t terms = extent / chunks;
  made.reduce_extent[reduce_axis] = tir::MakeInt(terms);
  map[op.reduce_axis[reduce_axis].get()] =
      Expr(chunk) * tir::MakeInt(terms) + Expr(made.reduce_axis[reduce_axis]);
  made.axis.insert(made.axis.begin(), chunk);
  made.value = tir::Substitute(op.value, map);
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.insert(shape.begin(), tir::MakeInt(chunks));
  made.outputs = {Tensor{
      tir::MakeBuffer(made.name, op.outputs[0].dtype(), std::move(shape))}};
  return made;
}

// Sends `vars` to the places that the number `joined` has among all of them,
// the last the fastest.
void TakeApart(const Expr& joined, const std::vector<tir::VarPtr>& vars,
               const std::vector<Expr>& extents, AxisMap* map) {
  Expr rest = joined;
  for (size_t i = vars.size(); i-- > 0;) {
    (*map)[vars[i].get()] = i == 0 ? rest : rest % extents[i];
    rest = rest / extents[i];
  }
}

// The reduction `op` with one axis, of that extent, for those from `first` to
// `last`.
Operation JoinedAxes(const Operation& op, size_t first, size_t last,
                     int64_t extent) {
  Operation made = op;
  made.name = absl::StrCat(op.name, ".joined");
  AxisMap map;
  made.axis = Fresh(op.axis, &map);
  made.reduce_axis = Fresh(op.reduce_axis, &map);
  const tir::VarPtr joined = tir::MakeVar("joined");
  std::vector<Expr> shape = op.outputs[0].shape();
  const auto from = static_cast<int64_t>(first),
             to = static_cast<int64_t>(last);
  TakeApart(joined, {op.axis.begin() + from, op.axis.begin() + to + 1},
            {shape.begin() + from, shape.begin() + to + 1}, &map);
  const auto join = [first, last](auto* all, auto one) {
    all->erase(all->begin() + static_cast<int64_t>(first),
               all->begin() + static_cast<int64_t>(last) + 1);
    all->insert(all->begin() + static_cast<int64_t>(first), one);
  };
  join(&made.axis, joined);
  join(&shape, tir::MakeInt(extent));
  made.value = tir::Substitute(op.value, map);
  made.outputs = {Tensor{
      tir::MakeBuffer(made.name, op.outputs[0].dtype(), std::move(shape))}};
  return made;
}

}  // namespace

Stage* Schedule::JoinAxes(Stage* stage, int first, int last) {
  const Operation op = stage->op_;
  const int rank = stage->output().rank();
  bool fits = op.kind == OperationKind::kReduce && 0 <= first && first < last &&
              last < rank;
  int64_t extent = 1;
  for (int i = first; fits && i <= last; ++i) {
    int64_t n = 0;
    fits = tir::AsConstInt(stage->output().shape()[i], &n) &&
           !__builtin_mul_overflow(extent, n, &extent);
  }
  if (!stage->Require(fits, "join_axes needs axes of constant extents")) {
    return stage;
  }
  Operation joined = JoinedAxes(op, static_cast<size_t>(first),
                                static_cast<size_t>(last), extent);
  Operation whole;
  whole.kind = OperationKind::kCompute;
  whole.name = op.name;
  whole.outputs = op.outputs;
  AxisMap map;
  whole.axis = Fresh(op.axis, &map);
  Indices at;
  for (int i = 0; i < rank; ++i) {
    const Expr index = whole.axis[i];
    if (i > first && i <= last) {
      at.back() = at.back() * op.outputs[0].shape()[i] + index;
    } else {
      at.push_back(index);
    }
  }
  whole.value = joined.outputs[0](at);
  whole.inputs = {joined.outputs[0]};
  stage->op_ = std::move(whole);
  stage->ResetLoops();
  return InsertBefore(stage, std::move(joined));
}

void Schedule::JoinReduceAxes(Stage* stage) {
  const Operation op = stage->op_;
  bool fits = op.kind == OperationKind::kReduce && !op.reduce_axis.empty();
  int64_t terms = 1;
  for (const Expr& extent : op.reduce_extent) {
    int64_t n = 0;
    fits = fits && tir::AsConstInt(tir::Simplify(extent), &n) &&
           !__builtin_mul_overflow(terms, n, &terms);
  }
  if (!stage->Require(fits,
                      "join_reduce_axes needs axes of constant extents")) {
    return;
  }
  Operation made = op;
  AxisMap map;
  const tir::VarPtr term = tir::MakeVar("term");
  TakeApart(term, op.reduce_axis, op.reduce_extent, &map);
  made.reduce_axis = {term};
  made.reduce_extent = {tir::MakeInt(terms)};
  made.value = tir::Substitute(op.value, map);
  stage->op_ = std::move(made);
  stage->ResetLoops();
}

Stage* Schedule::ReduceInChunks(Stage* stage, size_t reduce_axis,
                                int64_t chunks) {
  const Operation op = stage->op_;
  int64_t extent = 0;
  const bool fits =
      op.kind == OperationKind::kReduce &&
      reduce_axis < op.reduce_axis.size() &&
      tir::AsConstInt(tir::Simplify(op.reduce_extent[reduce_axis]), &extent) &&
      chunks >= 2 && extent % chunks == 0;
  if (!stage->Require(fits, "reduce_in_chunks needs chunks that divide")) {
    return stage;
  }
  Operation part = ChunksOf(op, reduce_axis, chunks, extent);
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
