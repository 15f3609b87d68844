// Operators that select some of what they are given. How many is one of their
// results; the others have room for all.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/place_heap.h"

namespace ingot::relay::ops {
namespace {

using tir::MakeAllocate;
using tir::MakeInt;

// Finds the rows of a matrix that differ. order[0, number) gets the first place
// of each, `inverse` which of these each row is, `counts` how often each
// occurs. Sorting brings equal rows together, the first of them first.
class RowsThatDiffer {
 public:
  RowsThatDiffer(const te::Tensor& x, bool sorted,
                 absl::Span<const te::Tensor> out)
      : x_(x),
        sorted_(sorted),
        order_(out[0]),
        inverse_(out[1]),
        counts_(out[2]),
        number_of_all_(out[3]) {}

  Stmt Write() const {
    const Stmt start = Loop("i", rows(), [&](const Expr& i) {
      return MakeSeq({MakeStore(places_, {i}, i),
                      MakeStore(order_.buffer, {i}, I64(0)),
                      MakeStore(counts_.buffer, {i}, I64(0))});
    });
    const Stmt all =
        MakeSeq({start, Sort(), FindFirsts(), NumberFirsts(), Count(),
                 MakeStore(number_of_all_.buffer, {I64(0)}, number_.value())});
    return MakeAllocate(
        places_, MakeAllocate(merged_, WithCells({&width_, &left_, &right_,
                                                  &sign_, &first_, &number_},
                                                 all)));
  }

 private:
  Dim rows() const { return x_.shape()[0]; }
  tir::Buffer Places(absl::string_view name) const {
    return tir::MakeBuffer(name, DataType::Int(64), {rows()},
                           tir::Scope::kWorkspace);
  }

  // Sets `sign` to the order of row a to row b: -1, 0 or 1. NaNs come last,
  // each by itself, as they come.
  Stmt Compare(const Expr& a, const Expr& b) const {
    return MakeSeq(
        {sign_.Set(I64(0)), Loop("e", x_.shape()[1], [&](const Expr& e) {
           const Expr p = x_({a, e}), q = x_({b, e});
           const auto way = [](const Expr& before) {
             return MakeSelect(before, I64(-1), I64(1));
           };
           Expr unequal = way(Lt(p, q));
           if (p->dtype.is_float()) {
             unequal = way(Or(Lt(p, q), And(Eq(p, p), Ne(q, q))));
             unequal =
                 MakeSelect(And(Ne(p, p), Ne(q, q)), way(Lt(a, b)), unequal);
           }
           const Expr sign = MakeSelect(Eq(p, q), I64(0), unequal);
           return MakeIf(Eq(sign_.value(), I64(0)), sign_.Set(sign));
         })});
  }

  // Sorts `places` by merging runs of 1, 2, 4 and so on.
  Stmt Sort() const {
    const Expr width = width_.value();
    const Stmt merge =
        Loop("r", (rows() + width * I64(2) - 1) / (width * I64(2)),
             [&](const Expr& run) { return Merge(run * width * I64(2)); });
    const Stmt back = Loop("i", rows(), [&](const Expr& i) {
      return MakeStore(places_, {i}, MakeLoad(merged_, {i}));
    });
    constexpr int64_t kMostLevels = 48;  // of more rows than there can be
    return MakeSeq(
        {width_.Set(1), Loop("l", I64(kMostLevels), [&](const Expr&) {
           return MakeIf(Lt(width, rows()),
                         MakeSeq({merge, back, width_.Set(width * I64(2))}));
         })});
  }

  // Merges two runs, the first of which starts at `start`.
  Stmt Merge(const Expr& start) const {
    const Expr middle = Min(start + width_.value(), rows());
    const Expr end = Min(middle + width_.value(), rows());
    // The places beyond a run are not used.
    const auto place = [&](const Cell& at) {
      return MakeLoad(places_, {Min(at.value(), rows() - 1)});
    };
    const Stmt step = Loop("k", end - start, [&](const Expr& k) {
      const Expr takes_right =
          And(Lt(right_.value(), end),
              Or(Ge(left_.value(), middle), Eq(sign_.value(), I64(-1))));
      return MakeSeq({Compare(place(right_), place(left_)),
                      sign_.Set(MakeSelect(takes_right, I64(1), I64(0))),
                      MakeStore(merged_, {start + k},
                                MakeSelect(Eq(sign_.value(), I64(1)),
                                           place(right_), place(left_))),
                      right_.Set(right_.value() + sign_.value()),
                      left_.Set(left_.value() + 1 - sign_.value())});
    });
    return MakeSeq({left_.Set(start), right_.Set(middle), step});
  }

  // Sets `inverse` to the first place of each row.
  Stmt FindFirsts() const {
    return Loop("k", rows(), [&](const Expr& k) {
      const Expr place = MakeLoad(places_, {k});
      return MakeSeq({Compare(first_.value(), place),
                      MakeIf(Or(Eq(k, I64(0)), Ne(sign_.value(), I64(0))),
                             first_.Set(place)),
                      MakeStore(inverse_.buffer, {place}, first_.value())});
    });
  }

  // Keeps in `merged` which of them each first row is.
  Stmt NumberFirsts() const {
    return Loop("k", rows(), [&](const Expr& k) {
      const Expr place = sorted_ ? MakeLoad(places_, {k}) : k;
      return MakeIf(Eq(inverse_({place}), place),
                    MakeSeq({MakeStore(merged_, {place}, number_.value()),
                             MakeStore(order_.buffer, {number_.value()}, place),
                             number_.Increment()}));
    });
  }

  // Rows lead to their first row, then to its number, and are counted.
  Stmt Count() const {
    return Loop("i", rows(), [&](const Expr& i) {
      return MakeSeq(
          {MakeStore(inverse_.buffer, {i}, MakeLoad(merged_, {inverse_({i})})),
           MakeStore(counts_.buffer, {inverse_({i})},
                     counts_({inverse_({i})}) + 1)});
    });
  }

  const te::Tensor x_;
  const bool sorted_;
  const te::Tensor order_, inverse_, counts_, number_of_all_;
  const tir::Buffer places_ = Places("places"), merged_ = Places("merged");
  const Cell width_{"width", DataType::Int(64)};  // of sorted runs
  const Cell left_{"left", DataType::Int(64)};
  const Cell right_{"right", DataType::Int(64)};
  const Cell sign_{"sign", DataType::Int(64)};
  const Cell first_{"first", DataType::Int(64)};
  const Cell number_{"number", DataType::Int(64)};
};

OpDef UniqueRows() {
  OpDef def;
  def.name = "unique_rows";
  def.doc =
      "the different rows of a matrix: first place of each, which of them each "
      "row is, how often each occurs, and how many there are";
  def.attrs = {
      IntAttr("sorted", "whether by their elements, not as they come", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(0), 2, "x"));
    const DataType i64 = DataType::Int(64);
    const Shape rows = {c.type(0).shape[0]};
    return Types{{i64, rows}, {i64, rows}, {i64, rows}, {i64, {I64(1)}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const bool sorted = c.attrs.Get<int64_t>("sorted") != 0;
    const DataType i64 = DataType::Int(64);
    const Dim rows = x.shape()[0];
    return c.graph.Extern(c.name, {{rows}, {rows}, {rows}, {I64(1)}},
                          {i64, i64, i64, i64}, {x},
                          [&](absl::Span<const te::Tensor> out) {
                            return RowsThatDiffer(x, sorted, out).Write();
                          });
  };
  return def;
}

// A box by its parts: corners y1, x1, y2 and x2, and its area.
constexpr int kParts = 5;
using Box = std::array<Expr, kParts>;

Box BoxOf(const Expr& y1, const Expr& x1, const Expr& y2, const Expr& x2) {
  return {y1, x1, y2, x2, (y2 - y1) * (x2 - x1)};
}

// Picks, class by class, the best box that is left unless it overlaps one that
// was picked too much. Those left are a heap by score, so that most boxes of
// low scores are never looked at. Those picked are kept in blocks, part by
// part, so that a box is compared with all of a block in vectors.
class BoxSelection {
 public:
  explicit BoxSelection(const ComputeContext& c)
      : boxes_(c.inputs[0]),
        scores_(c.inputs[1]),
        most_asked_(c.inputs[2]),
        overlap_(c.inputs[3]),
        least_score_(c.inputs[4]),
        center_(c.attrs.Get<int64_t>("center") != 0),
        all_scores_(c.attrs.Get<int64_t>("all_scores") != 0),
        room_(c.outputs[0].shape[0]),
        most_(c.attrs.Get<Shape>("most")[0]),
        left_(boxes_.dtype(), count(),
              [](const Ranked& a, const Ranked& b) {
                return a.Before(b, /*largest_first=*/true);
              }),
        picked_(
            tir::MakeBuffer("picked", boxes_.dtype(),
                            {CeilDiv(most_, kBlock), I64(kParts), I64(kBlock)},
                            tir::Scope::kWorkspace)),
        box_(Scratch("box", boxes_.dtype(), kParts)) {}

  // Writes batch, class and place of each box that is picked to the rows of
  // out[0], followed by zeros, and how many there are to out[1].
  Stmt Write(absl::Span<const te::Tensor> out) const {
    const tir::Buffer rows = out[0].buffer;
    const Stmt classes = Loop("b", scores_.shape()[0], [&](const Expr& batch) {
      return Loop("c", scores_.shape()[1], [&](const Expr& kind) {
        return PickFromClass(rows, batch, kind);
      });
    });
    const Stmt rest = Loop("k", room_, [&](const Expr& k) {
      std::vector<Stmt> zeros;
      for (int d = 0; d < 3; ++d) {
        zeros.push_back(MakeStore(rows, {k, I64(d)}, I64(0)));
      }
      return MakeIf(Ge(k, number_.value()), MakeSeq(std::move(zeros)));
    });
    const Stmt all = WithCells(
        {&candidates_, &size_, &best_, &first_, &block_, &number_},
        WithCells({&near_}, MakeSeq({classes, rest,
                                     MakeStore(out[1].buffer, {I64(0)},
                                               number_.value())})));
    return left_.With(MakeAllocate(picked_, MakeAllocate(box_, all)));
  }

 private:
  static constexpr int64_t kBlock = 16;

  Dim count() const { return boxes_.shape()[1]; }
  Box BoxAt(const Expr& batch, const Expr& i) const {
    auto at = [&](int k) { return boxes_({batch, i, I64(k)}); };
    if (center_) {
      const Expr half = MakeConst(boxes_.dtype(), 0.5);
      const Expr w = at(2) * half, h = at(3) * half;
      return BoxOf(at(1) - h, at(0) - w, at(1) + h, at(0) + w);
    }
    return BoxOf(Min(at(0), at(2)), Min(at(1), at(3)), Max(at(0), at(2)),
                 Max(at(1), at(3)));
  }

  // Where a part of a picked box is kept.
  static Indices PickedPart(const Expr& block, int part, const Expr& lane) {
    return {block, I64(part), lane};
  }

  // Whether the overlap of two boxes is more than the limit of their union.
  Expr TooNear(const Box& a, const Box& b) const {
    const Expr zero = MakeConst(boxes_.dtype(), 0);
    const Expr h = Max(Min(a[2], b[2]) - Max(a[0], b[0]), zero);
    const Expr w = Max(Min(a[3], b[3]) - Max(a[1], b[1]), zero);
    const Expr both = h * w;
    const Expr limit = tir::MakeCast(boxes_.dtype(), overlap_({}));
    return And(Gt(both, zero), Gt(both, limit * (a[4] + b[4] - both)));
  }

  Stmt PickFromClass(const tir::Buffer& rows, const Expr& batch,
                     const Expr& kind) const {
    const auto score = [&](const Expr& i) { return scores_({batch, kind, i}); };
    const Stmt add = Loop("i", count(), [&](const Expr& i) {
      const Stmt it = MakeSeq(
          {left_.Put(size_.value(), Rank(score(i), i, /*largest_first=*/true)),
           size_.Increment()});
      const Expr least = tir::MakeCast(boxes_.dtype(), least_score_({}));
      return all_scores_ ? it : MakeIf(Gt(score(i), least), it);
    });
    const Stmt next =
        MakeSeq({left_.Pop(size_.value(), best_.Set(PlaceOf(left_.At(I64(0))))),
                 size_.Set(size_.value() - 1), Look(batch),
                 MakeIf(Eq(near_.value(), MakeInt(0, DataType::Int(32))),
                        Take(rows, batch, kind))});
    const Expr taken = number_.value() - first_.value();
    const Expr most = Min(Min(most_asked_({}), most_), room_ - first_.value());
    const Stmt pick = Loop("r", candidates_.value(), [&](const Expr&) {
      return MakeIf(Lt(taken, most), next);
    });
    return MakeSeq({size_.Set(0), add, candidates_.Set(size_.value()),
                    first_.Set(number_.value()), left_.Order(size_.value()),
                    pick});
  }

  // Looks at the best box that is left, and counts in `near` those of the first
  // block of picked ones with any that are too near to it.
  Stmt Look(const Expr& batch) const {
    const DataType i32 = DataType::Int(32);
    const Box best = BoxAt(batch, best_.value());
    std::vector<Stmt> look;
    Box a, b;
    for (int part = 0; part < kParts; ++part) {
      look.push_back(MakeStore(box_, {I64(part)}, best[part]));
      a[part] = MakeLoad(box_, {I64(part)});
    }
    const Stmt count = Loop("j", I64(kBlock), [&](const Expr& j) {
      for (int part = 0; part < kParts; ++part) {
        b[part] = MakeLoad(picked_, PickedPart(block_.value(), part, j));
      }
      return near_.Set(near_.value() + MakeSelect(TooNear(a, b),
                                                  MakeInt(1, i32),
                                                  MakeInt(0, i32)));
    });
    const Expr blocks = CeilDiv(number_.value() - first_.value(), kBlock);
    look.push_back(block_.Set(0));
    look.push_back(near_.Set(0));
    look.push_back(tir::MakeWhile(
        And(Lt(block_.value(), blocks), Eq(near_.value(), MakeInt(0, i32))),
        MakeSeq({count, block_.Increment()})));
    return MakeSeq(std::move(look));
  }

  // Picks the best box. The rest of the last block are boxes without an area,
  // which are near to none.
  Stmt Take(const tir::Buffer& rows, const Expr& batch,
            const Expr& kind) const {
    const Expr taken = number_.value() - first_.value();
    const Expr block = FloorDiv(taken, kBlock), lane = taken % I64(kBlock);
    const Stmt clear = Loop("j", I64(kBlock), [&](const Expr& j) {
      std::vector<Stmt> zeros;
      for (int part = 0; part < kParts; ++part) {
        zeros.push_back(MakeStore(picked_, PickedPart(block, part, j),
                                  MakeConst(boxes_.dtype(), 0)));
      }
      return MakeSeq(std::move(zeros));
    });
    std::vector<Stmt> take = {
        MakeIf(Eq(lane, I64(0)), clear),
        MakeStore(rows, {number_.value(), I64(0)}, batch),
        MakeStore(rows, {number_.value(), I64(1)}, kind),
        MakeStore(rows, {number_.value(), I64(2)}, best_.value())};
    for (int part = 0; part < kParts; ++part) {
      take.push_back(MakeStore(picked_, PickedPart(block, part, lane),
                               MakeLoad(box_, {I64(part)})));
    }
    take.push_back(number_.Increment());
    return MakeSeq(std::move(take));
  }

  const te::Tensor boxes_, scores_, most_asked_, overlap_, least_score_;
  const bool center_, all_scores_;
  const Dim room_, most_;     // of all classes, of one
  const PlaceHeap left_;      // boxes of the class, by score
  const tir::Buffer picked_;  // boxes of the class, in blocks
  const tir::Buffer box_;     // the best one, by its parts
  const Cell candidates_{"candidates", DataType::Int(64)};
  const Cell size_{"size", DataType::Int(64)};    // of the heap
  const Cell first_{"first", DataType::Int(64)};  // row of the class
  const Cell number_{"number", DataType::Int(64)};
  const Cell best_{"best", DataType::Int(64)};
  const Cell block_{"block", DataType::Int(64)};
  const Cell near_{"near", DataType::Int(32)};
};

OpDef NonMaxSuppression() {
  OpDef def;
  def.name = "non_max_suppression";
  def.doc =
      "boxes by falling score that overlap no better one too much: batch, "
      "class and place of each, and how many there are";
  def.min_inputs = 5;
  def.max_inputs = -1;  // after these: values whose shapes bind symbols
  def.attrs = {
      ShapeAttr("most", "[the most boxes of a class there is room for]",
                kRequired),
      IntAttr("center", "whether boxes are centers and sizes, not corners", 0),
      IntAttr("all_scores", "whether the least score does not count", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &boxes = c.type(0), &scores = c.type(1);
    INGOT_RETURN_IF_ERROR(ExpectRank(boxes, 3, "boxes"));
    INGOT_RETURN_IF_ERROR(ExpectRank(scores, 3, "scores"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(boxes, "boxes"));
    INGOT_RETURN_IF_ERROR(ExpectSameType(boxes, scores));
    if (!MayBeEqual(boxes.shape[2], I64(4), c.assumed) ||
        !MayBeEqual(boxes.shape[0], scores.shape[0], c.assumed) ||
        !MayBeEqual(boxes.shape[1], scores.shape[2], c.assumed)) {
      return Invalid("boxes ", ToString(boxes), " do not fit scores ",
                     ToString(scores));
    }
    for (int i = 2; i < 5; ++i) {
      const DataType wanted = i == 2 ? DataType::Int(64) : DataType::Float(32);
      if (!c.type(i).shape.empty() || c.type(i).dtype != wanted) {
        return Invalid("operand ", i, " must be one ", wanted.ToString());
      }
    }
    const Shape& most = c.attrs.Get<Shape>("most");
    if (most.size() != 1) return Invalid("most must be one number");
    const DataType i64 = DataType::Int(64);
    return Types{{i64, {scores.shape[0] * scores.shape[1] * most[0], I64(3)}},
                 {i64, {I64(1)}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const DataType i64 = DataType::Int(64);
    const BoxSelection selection(c);
    return c.graph.Extern(
        c.name, {c.outputs[0].shape, {I64(1)}}, {i64, i64},
        Tensors(c.inputs.begin(), c.inputs.begin() + 5),
        [&](absl::Span<const te::Tensor> out) { return selection.Write(out); });
  };
  return def;
}

}  // namespace

absl::Status RegisterSelect(OpRegistry* registry) {
  return RegisterAllOf(registry, {UniqueRows(), NonMaxSuppression()});
}

}  // namespace ingot::relay::ops
