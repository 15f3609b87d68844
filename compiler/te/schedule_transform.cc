// The verbs of Schedule that change definitions.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/te/schedule.h"
#include "compiler/te/sharing_mutator.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

using tir::As;

std::vector<tir::VarPtr> FreshAxes(const std::vector<tir::VarPtr>& like) {
  std::vector<tir::VarPtr> axes;
  for (const tir::VarPtr& v : like) axes.push_back(tir::MakeVar(v->name));
  return axes;
}

std::map<const tir::Var*, Expr> AxisMap(const std::vector<tir::VarPtr>& from,
                                        const Indices& to) {
  std::map<const tir::Var*, Expr> map;
  for (size_t i = 0; i < from.size(); ++i) map[from[i].get()] = to[i];
  return map;
}

Indices AsIndices(const std::vector<tir::VarPtr>& vars) {
  return Indices(vars.begin(), vars.end());
}

Tensor NewTensor(absl::string_view name, DataType dtype,
                 std::vector<Expr> shape) {
  return Tensor{tir::MakeBuffer(name, dtype, std::move(shape))};
}

// Replaces every load of one buffer; equal loads become one node.
class LoadReplacer : public SharingMutator {
 public:
  LoadReplacer(const tir::BufferNode* buffer,
               std::function<Expr(const Indices&)> make)
      : buffer_(buffer), make_(std::move(make)) {}

 protected:
  Expr MutateLoad(const Expr& e, const tir::Load& node) override {
    Expr load = tir::ExprMutator::MutateLoad(e, node);
    const auto* l = As<tir::Load>(load);
    if (l->buffer.get() != buffer_) return load;
    for (const auto& [indices, value] : made_) {
      bool same = true;
      for (size_t i = 0; i < indices.size(); ++i) {
        same = same && tir::Equal(indices[i], l->indices[i]);
      }
      if (same) return value;
    }
    Expr value = make_(l->indices);
    made_.emplace_back(l->indices, value);
    return value;
  }

 private:
  const tir::BufferNode* buffer_;
  std::function<Expr(const Indices&)> make_;
  std::vector<std::pair<Indices, Expr>> made_;
};

// Replaces the loads of one buffer at one tuple of indices.
class AccessReplacer : public SharingMutator {
 public:
  AccessReplacer(const tir::Load& access, Expr replacement)
      : buffer_(access.buffer),
        indices_(access.indices),
        replacement_(std::move(replacement)) {}

  bool found() const { return found_; }

 protected:
  Expr MutateLoad(const Expr& e, const tir::Load& node) override {
    if (!Stands(node, node.dtype)) return SharingMutator::MutateLoad(e, node);
    found_ = true;
    return replacement_;
  }
  Expr MutateCast(const Expr& e, const tir::Cast& node) override {
    const auto* load = tir::As<tir::Load>(node.value);
    if (load == nullptr || !Stands(*load, node.dtype)) {
      return SharingMutator::MutateCast(e, node);
    }
    found_ = true;
    return replacement_;
  }

 private:
  // Whether the replacement stands for a load as that type.
  bool Stands(const tir::Load& load, DataType type) const {
    bool same = load.buffer == buffer_ && type == replacement_->dtype;
    for (size_t i = 0; same && i < indices_.size(); ++i) {
      same = tir::Equal(load.indices[i], indices_[i]);
    }
    return same;
  }

  const tir::Buffer buffer_;
  const Indices indices_;
  const Expr replacement_;
  bool found_ = false;
};

// Like tir::Substitute, but keeps shared subexpressions shared.
class SharingSubstitute : public SharingMutator {
 public:
  explicit SharingSubstitute(std::map<const tir::Var*, Expr> map)
      : map_(std::move(map)) {}

 protected:
  Expr MutateVar(const Expr& e, const tir::Var& node) override {
    auto it = map_.find(&node);
    return it == map_.end() ? e : it->second;
  }

 private:
  std::map<const tir::Var*, Expr> map_;
};

// The reduction `op` lane by lane: [..., l] reduces, over r below `count`, the
// value at r * lanes + l of the innermost axis.
Operation ReduceLanes(const Operation& op, int64_t lanes, const Expr& count) {
  Operation partial;
  partial.kind = OperationKind::kReduce;
  partial.name = absl::StrCat(op.name, ".lanes");
  partial.axis = FreshAxes(op.axis);
  Indices at = AsIndices(partial.axis);
  tir::VarPtr lane = tir::MakeVar("l");
  tir::VarPtr r = tir::MakeVar("r");
  auto map = AxisMap(op.axis, at);
  partial.reduce_axis = FreshAxes(op.reduce_axis);
  partial.reduce_axis.back() = r;
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    map[op.reduce_axis[i].get()] = partial.reduce_axis[i];
  }
  map[op.reduce_axis.back().get()] = Expr(r) * lanes + Expr(lane);
  partial.axis.push_back(lane);
  partial.reduce_extent = op.reduce_extent;
  partial.reduce_extent.back() = count;
  partial.value = SharingSubstitute(map).Mutate(op.value);
  partial.reducer = op.reducer;
  partial.inputs = op.inputs;
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.push_back(tir::MakeInt(lanes));
  partial.outputs = {
      NewTensor(partial.name, op.outputs[0].dtype(), std::move(shape))};
  return partial;
}

// So many partial results are joined at a time: one after the other they take
// less than as many barriers.
constexpr int64_t kJoined = 32;

// Part p of `parts` of the reduction `op`: over r, the value at element
// r * parts + p of its reduce axes from `first` on, taken as one.
Operation ReducePart(const Operation& op, int64_t parts, size_t first) {
  int64_t elements = 1;
  std::vector<int64_t> extents;
  for (size_t i = first; i < op.reduce_extent.size(); ++i) {
    extents.push_back(*tir::ToAffine(op.reduce_extent[i]).AsConst());
    elements *= extents.back();
  }
  Operation part;
  part.kind = OperationKind::kReduce;
  part.name = absl::StrCat(op.name, ".parts");
  part.axis = FreshAxes(op.axis);
  auto map = AxisMap(op.axis, AsIndices(part.axis));
  const tir::VarPtr p = tir::MakeVar("p"), r = tir::MakeVar("r");
  const Expr element = Expr(r) * parts + Expr(p);
  for (size_t i = 0; i < first; ++i) {
    part.reduce_axis.push_back(tir::MakeVar(op.reduce_axis[i]->name));
    part.reduce_extent.push_back(op.reduce_extent[i]);
    map[op.reduce_axis[i].get()] = part.reduce_axis.back();
  }
  int64_t inside = elements;
  for (size_t i = first; i < op.reduce_axis.size(); ++i) {
    const int64_t extent = extents[i - first];
    Expr at = element;
    if (inside != elements) at = at % tir::MakeInt(inside);
    inside /= extent;
    if (inside != 1) at = at / tir::MakeInt(inside);
    map[op.reduce_axis[i].get()] = extent == 1 ? tir::MakeInt(0) : at;
  }
  part.axis.push_back(p);
  part.reduce_axis.push_back(r);
  part.reduce_extent.push_back(tir::MakeInt((elements + parts - 1) / parts));
  part.value = SharingSubstitute(map).Mutate(op.value);
  if (elements % parts != 0) {
    part.value = tir::MakeSelect(tir::Lt(element, tir::MakeInt(elements)),
                                 part.value, op.reducer.identity);
  }
  part.reducer = op.reducer;
  part.inputs = op.inputs;
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.push_back(tir::MakeInt(parts));
  part.outputs = {
      NewTensor(part.name, op.outputs[0].dtype(), std::move(shape))};
  return part;
}

// `width` results, each of every width-th of `count` parts of `op`.
Operation JoinParts(const Operation& op, const Tensor& parts, int64_t count,
                    int64_t width) {
  Operation join;
  join.kind = OperationKind::kReduce;
  join.name = absl::StrCat(op.name, ".parts", width);
  join.axis = FreshAxes(op.axis);
  const tir::VarPtr p = tir::MakeVar("p"), r = tir::MakeVar("r");
  Indices at = AsIndices(join.axis);
  at.push_back(Expr(r) * width + Expr(p));
  join.axis.push_back(p);
  join.reduce_axis = {r};
  join.reduce_extent = {tir::MakeInt(count / width)};
  join.value = parts(at);
  join.reducer = op.reducer;
  join.inputs = {parts};
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.push_back(tir::MakeInt(width));
  join.outputs = {NewTensor(join.name, parts.dtype(), std::move(shape))};
  return join;
}

// The lanes [0, width) of `lanes` combined with as many after them.
Operation JoinHalves(const Operation& op, const Tensor& lanes, int64_t width) {
  Operation half;
  half.kind = OperationKind::kCompute;
  half.name = absl::StrCat(op.name, ".lanes", width);
  half.axis = FreshAxes(op.axis);
  half.axis.push_back(tir::MakeVar("l"));
  Indices low = AsIndices(half.axis), high = low;
  high.back() = high.back() + width;
  half.value = op.reducer.combine(lanes(low), lanes(high));
  half.inputs = {lanes};
  std::vector<Expr> shape = op.outputs[0].shape();
  shape.push_back(tir::MakeInt(width));
  half.outputs = {NewTensor(half.name, lanes.dtype(), std::move(shape))};
  return half;
}

// The reduction `op` over the last `extent` values of the innermost axis, from
// `first` on.
Operation ReduceTail(const Operation& op, const Expr& first,
                     const Expr& extent) {
  Operation tail;
  tail.kind = OperationKind::kReduce;
  tail.name = absl::StrCat(op.name, ".tail");
  tail.axis = FreshAxes(op.axis);
  tail.reduce_axis = FreshAxes(op.reduce_axis);
  tail.reduce_extent = op.reduce_extent;
  tail.reduce_extent.back() = extent;
  auto map = AxisMap(op.axis, AsIndices(tail.axis));
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    map[op.reduce_axis[i].get()] = tail.reduce_axis[i];
  }
  map[op.reduce_axis.back().get()] = first + Expr(tail.reduce_axis.back());
  tail.value = SharingSubstitute(map).Mutate(op.value);
  tail.reducer = op.reducer;
  tail.inputs = op.inputs;
  tail.outputs = {
      NewTensor(tail.name, op.outputs[0].dtype(), op.outputs[0].shape())};
  return tail;
}

}  // namespace

void Schedule::ApplyInlining() {
  // Readers come last. Each inlined value is put straight into the stages with
  // loops that need it, and what several inlined readers share is evaluated
  // once there.
  for (auto it = stages_.rbegin(); it != stages_.rend(); ++it) {
    Stage* const stage = it->get();
    if (!stage->inlined_) continue;
    const Operation& op = stage->op_;
    const tir::BufferNode* buffer = op.outputs[0].buffer.get();
    for (Stage* reader : Readers(stage)) {
      if (reader->inlined_) continue;
      if (reader->op_.kind == OperationKind::kExtern) {
        stage->Require(false, "inlined, but read by an extern operation");
        return;
      }
      LoadReplacer replacer(buffer, [&op](const Indices& at) {
        return SharingSubstitute(AxisMap(op.axis, at)).Mutate(op.value);
      });
      reader->op_.value = replacer.Mutate(reader->op_.value);
      reader->op_.inputs = InputsOf(reader->op_.value);
    }
  }
  for (auto it = stages_.begin(); it != stages_.end();) {
    it = (*it)->inlined_ ? stages_.erase(it) : it + 1;
  }
}

Stage* Schedule::CacheWrite(Stage* stage) {
  return CacheWrite(stage, stage->output().shape(), stage->op_.reduce_extent);
}

Stage* Schedule::CacheWrite(Stage* stage, std::vector<Expr> shape,
                            std::vector<Expr> terms) {
  if (!stage->Require(stage->op_.kind == OperationKind::kCompute ||
                          stage->op_.kind == OperationKind::kReduce,
                      "cache_write of an extern operation")) {
    return stage;
  }
  Operation inner = stage->op_;
  const Tensor& out = stage->output();
  Tensor cached = NewTensor(absl::StrCat(inner.name, ".acc"), out.dtype(),
                            std::move(shape));
  inner.name = cached.buffer->name;
  inner.reduce_extent = std::move(terms);
  inner.outputs = {cached};

  Operation outer;
  outer.kind = OperationKind::kCompute;
  outer.name = stage->op_.name;
  outer.outputs = stage->op_.outputs;
  outer.axis = FreshAxes(inner.axis);
  outer.value = cached(AsIndices(outer.axis));
  outer.inputs = {cached};

  Stage* result = InsertBefore(stage, std::move(inner));
  stage->op_ = std::move(outer);
  stage->ResetLoops();
  return result;
}

Stage* Schedule::CacheRead(Stage* consumer, const tir::Load& access,
                           absl::string_view name, std::vector<Expr> shape,
                           const Graph::ComputeFn& value,
                           const Indices& index) {
  Operation op;
  op.kind = OperationKind::kCompute;
  op.name = std::string(name);
  for (size_t i = 0; i < shape.size(); ++i) {
    op.axis.push_back(tir::MakeVar(absl::StrCat("i", i)));
  }
  op.value = value(AsIndices(op.axis));
  op.inputs = InputsOf(op.value);
  Tensor cached = NewTensor(name, op.value->dtype, std::move(shape));
  op.outputs = {cached};
  AccessReplacer replacer(access, cached(index));
  Expr replaced = replacer.Mutate(consumer->op_.value);
  if (!consumer->Require(replacer.found(), "cache_read of what is not read")) {
    return consumer;
  }
  consumer->op_.value = std::move(replaced);
  consumer->op_.inputs = InputsOf(consumer->op_.value);
  return InsertBefore(consumer, std::move(op));
}

std::vector<Stage*> Schedule::SplitReduction(Stage* stage, int64_t lanes) {
  const Operation op = stage->op_;
  if (!stage->Require(
          op.kind == OperationKind::kReduce && !op.reduce_axis.empty(),
          "split_reduction needs a reduce axis") ||
      !stage->Require(lanes >= 2 && (lanes & (lanes - 1)) == 0,
                      "split_reduction into a power of 2")) {
    return {};
  }
  const Expr extent = tir::ToAffine(op.reduce_extent.back()).ToExpr();
  const Expr count = tir::ToAffine(extent / tir::MakeInt(lanes)).ToExpr();
  std::vector<Stage*> made;
  const auto insert = [&](Operation part) {
    Tensor result = part.outputs[0];
    made.push_back(InsertBefore(stage, std::move(part)));
    return result;
  };
  Tensor current = insert(ReduceLanes(op, lanes, count));
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    current = insert(JoinHalves(op, current, width));
  }

  Operation join;
  join.kind = OperationKind::kCompute;
  join.name = op.name;
  join.outputs = op.outputs;
  join.tags = op.tags;
  join.axis = FreshAxes(op.axis);
  Indices join_at = AsIndices(join.axis);
  Indices first = join_at;
  first.push_back(tir::MakeInt(0));
  join.value = current(first);

  const tir::Affine rest = tir::ToAffine(extent) - tir::ToAffine(count) * lanes;
  if (rest.AsConst() != std::optional<int64_t>(0)) {
    const Tensor tail = insert(ReduceTail(op, count * lanes, rest.ToExpr()));
    join.value = op.reducer.combine(join.value, tail(join_at));
  }
  join.inputs = InputsOf(join.value);
  stage->op_ = std::move(join);
  stage->ResetLoops();
  return made;
}

void Schedule::WriteLoops(Stage* stage, tir::Stmt loops) {
  if (!stage->Require(
          stage->op_.kind != OperationKind::kExtern && stage->IsUntouched(),
          "write_loops of a stage with loops of its own")) {
    return;
  }
  // Arrays inside of the loops are no tensors.
  std::set<const tir::BufferNode*> tensors;
  for (const auto& other : stages_) {
    if (other.get() == stage) continue;
    for (const Tensor& t : other->op_.outputs) tensors.insert(t.buffer.get());
    for (const Tensor& t : other->op_.inputs) tensors.insert(t.buffer.get());
  }
  for (const Tensor& t : stage->op_.inputs) tensors.insert(t.buffer.get());
  tensors.erase(stage->output().buffer.get());
  Operation written;
  written.kind = OperationKind::kExtern;
  written.name = stage->op_.name;
  written.outputs = stage->op_.outputs;
  written.tags = stage->op_.tags;
  for (Tensor& t : InputsOf(loops)) {
    if (tensors.count(t.buffer.get()) != 0) written.inputs.push_back(t);
  }
  written.body = std::move(loops);
  stage->op_ = std::move(written);
  stage->ResetLoops();
  // Readers come last.
  for (size_t i = stages_.size(); i-- > 0;) {
    const Stage* other = stages_[i].get();
    if (!other->is_output_ && Readers(other).empty()) {
      stages_.erase(stages_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

std::vector<Stage*> Schedule::ShareReduction(Stage* stage, int64_t parts) {
  const Operation op = stage->op_;
  const bool constant = std::all_of(
      op.reduce_extent.begin(), op.reduce_extent.end(),
      [](const Expr& n) { return tir::ToAffine(n).AsConst().value_or(0) > 0; });
  if (!stage->Require(op.kind == OperationKind::kReduce &&
                          !op.reduce_axis.empty() && constant,
                      "share_reduction needs reduce axes of known extents") ||
      !stage->Require(parts >= 2 && (parts & (parts - 1)) == 0,
                      "share_reduction among a power of 2")) {
    return {};
  }
  size_t first = op.reduce_axis.size();
  for (int64_t inside = 1; first > 0 && inside < parts; --first) {
    inside *= *tir::ToAffine(op.reduce_extent[first - 1]).AsConst();
  }
  std::vector<Stage*> made;
  const auto insert = [&](Operation part) {
    Tensor result = part.outputs[0];
    made.push_back(InsertBefore(stage, std::move(part)));
    return result;
  };
  Tensor current = insert(ReducePart(op, parts, first));
  while (parts > 1) {
    const int64_t width = parts > kJoined ? parts / kJoined : 1;
    current = insert(JoinParts(op, current, parts, width));
    parts = width;
  }
  Operation whole;
  whole.kind = OperationKind::kCompute;
  whole.name = op.name;
  whole.outputs = op.outputs;
  whole.tags = op.tags;
  whole.axis = FreshAxes(op.axis);
  Indices at = AsIndices(whole.axis);
  at.push_back(tir::MakeInt(0));
  whole.value = current(at);
  whole.inputs = {current};
  stage->op_ = std::move(whole);
  stage->ResetLoops();
  return made;
}

}  // namespace ingot::te
