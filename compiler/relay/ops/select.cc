// Operators that select some of what they are given. How many is one of their
// results; the others have room for all.
#include <algorithm>
#include <utility>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using tir::MakeAllocate;
using tir::MakeConst;
using tir::MakeIf;
using tir::MakeLoad;
using tir::MakeSelect;
using tir::MakeSeq;
using tir::MakeStore;
using tir::Stmt;

// order[0, number) the rows that differ, as the first place of each; inverse:
// which of these each row is; counts: how often each occurs.
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
    const Dim rows = x.shape()[0], columns = x.shape()[1];
    auto body = [&](absl::Span<const te::Tensor> out) -> Stmt {
      const tir::Buffer &order = out[0].buffer, &inverse = out[1].buffer,
                        &counts = out[2].buffer;
      // order of row a to row b: -1, 0 or 1.
      const Cell sign("sign", i64), place("place", i64), number("number", i64);
      auto compare = [&](const Expr& a, const Expr& b) {
        return MakeSeq(
            {sign.Set(I64(0)), Loop("e", columns, [&](const Expr& e) {
               const Expr p = x({a, e}), q = x({b, e});
               const Expr way = MakeSelect(
                   Eq(p, q), I64(0), MakeSelect(Lt(p, q), I64(-1), I64(1)));
               return MakeIf(Eq(sign.value(), I64(0)), sign.Set(way));
             })});
      };
      // First each row's first equal one, kept in `inverse`; `counts` says
      // whether a row is a first one.
      const Stmt firsts = Loop("i", rows, [&](const Expr& i) {
        return MakeSeq(
            {place.Set(i),
             Loop("j", i,
                  [&](const Expr& j) {
                    return MakeIf(
                        Eq(place.value(), i),
                        MakeSeq({compare(j, i), MakeIf(Eq(sign.value(), I64(0)),
                                                       place.Set(j))}));
                  }),
             MakeStore(inverse, {i}, place.value()),
             MakeStore(counts, {i},
                       MakeSelect(Eq(place.value(), i), I64(1), I64(0)))});
      });
      // The place of a first row among them: how many come before it.
      const Stmt places = Loop("i", rows, [&](const Expr& i) {
        const Stmt search = MakeSeq(
            {place.Set(I64(0)),
             Loop("j", rows,
                  [&](const Expr& j) {
                    const Expr other = And(Ne(i, j), Eq(out[2]({j}), I64(1)));
                    const Stmt more = place.Set(place.value() + 1);
                    if (!sorted) return MakeIf(And(other, Lt(j, i)), more);
                    return MakeIf(
                        other,
                        MakeSeq({compare(j, i),
                                 MakeIf(Lt(sign.value(), I64(0)), more)}));
                  }),
             MakeStore(order, {place.value()}, i),
             number.Set(number.value() + 1)});
        return MakeIf(Eq(out[2]({i}), I64(1)), search);
      });
      // Rows lead to their first row, then to its place, and are counted.
      const Stmt clear = Loop("i", rows, [&](const Expr& i) {
        return MakeStore(counts, {i}, I64(0));
      });
      const Stmt count = Loop("i", rows, [&](const Expr& i) {
        return MakeSeq(
            {place.Set(I64(0)),
             Loop("k", number.value(),
                  [&](const Expr& k) {
                    return MakeIf(Eq(out[0]({k}), out[1]({i})), place.Set(k));
                  }),
             MakeStore(inverse, {i}, place.value()),
             MakeStore(counts, {place.value()}, out[2]({place.value()}) + 1)});
      });
      // What is behind the last one is defined, too.
      const Stmt rest = Loop("i", rows, [&](const Expr& i) {
        return MakeIf(Ge(i, number.value()), MakeStore(order, {i}, I64(0)));
      });
      return WithCells(
          {&place, &sign, &number},
          MakeSeq({firsts, places, clear, count, rest,
                   MakeStore(out[3].buffer, {I64(0)}, number.value())}));
    };
    return c.graph.Extern(c.name, {{rows}, {rows}, {rows}, {I64(1)}},
                          {i64, i64, i64, i64}, {x}, body);
  };
  return def;
}

struct Box {
  Expr y1, x1, y2, x2;
};

OpDef NonMaxSuppression() {
  OpDef def;
  def.name = "non_max_suppression";
  def.doc =
      "boxes by falling score that overlap no better one too much: batch, "
      "class and place of each, and how many there are";
  def.min_inputs = 5;
  def.max_inputs = -1;  // behind these: values whose shapes bind symbols
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
    const te::Tensor boxes = c.inputs[0], scores = c.inputs[1];
    const bool center = c.attrs.Get<int64_t>("center") != 0;
    const bool all = c.attrs.Get<int64_t>("all_scores") != 0;
    const DataType t = boxes.dtype(), i64 = DataType::Int(64);
    const Dim room = c.outputs[0].shape[0];
    const Dim count = boxes.shape()[1];
    const Dim most = c.attrs.Get<Shape>("most")[0];
    auto box_at = [&](const Expr& batch, const Expr& i) {
      auto at = [&](int k) { return boxes({batch, i, I64(k)}); };
      if (center) {
        const Expr half = MakeConst(t, 0.5);
        const Expr w = at(2) * half, h = at(3) * half;
        return Box{at(1) - h, at(0) - w, at(1) + h, at(0) + w};
      }
      return Box{Min(at(0), at(2)), Min(at(1), at(3)), Max(at(0), at(2)),
                 Max(at(1), at(3))};
    };
    auto area = [](const Box& b) { return (b.y2 - b.y1) * (b.x2 - b.x1); };
    // Whether the overlap of two boxes is more than the limit of their union.
    auto too_near = [&](const Box& a, const Box& b) {
      const Expr zero = MakeConst(t, 0);
      const Expr h = Max(Min(a.y2, b.y2) - Max(a.y1, b.y1), zero);
      const Expr w = Max(Min(a.x2, b.x2) - Max(a.x1, b.x1), zero);
      const Expr both = h * w;
      const Expr limit = tir::MakeCast(t, c.inputs[3]({}));
      return And(Gt(both, zero), Gt(both, limit * (area(a) + area(b) - both)));
    };
    auto body = [&](absl::Span<const te::Tensor> out) -> Stmt {
      const tir::Buffer alive = tir::MakeBuffer(
          "alive", DataType::Bool(), {count}, tir::Scope::kWorkspace);
      const Cell number("number", i64), best("best", i64), taken("taken", i64);
      auto is_alive = [&](const Expr& i) { return MakeLoad(alive, {i}); };
      auto one_class = [&](const Expr& batch, const Expr& kind) {
        auto score = [&](const Expr& i) { return scores({batch, kind, i}); };
        const Stmt start = Loop("i", count, [&](const Expr& i) {
          const Expr enough =
              all ? tir::MakeBool(true)
                  : Gt(score(i), tir::MakeCast(t, c.inputs[4]({})));
          return MakeStore(alive, {i}, enough);
        });
        const Stmt find = Loop("i", count, [&](const Expr& i) {
          const Expr so_far = Max(best.value(), I64(0));
          const Expr better =
              Or(Lt(best.value(), I64(0)), Gt(score(i), score(so_far)));
          return MakeIf(And(is_alive(i), better), best.Set(i));
        });
        const Stmt take = MakeSeq(
            {MakeStore(out[0].buffer, {number.value(), I64(0)}, batch),
             MakeStore(out[0].buffer, {number.value(), I64(1)}, kind),
             MakeStore(out[0].buffer, {number.value(), I64(2)}, best.value()),
             number.Set(number.value() + 1), taken.Set(taken.value() + 1),
             MakeStore(alive, {best.value()}, tir::MakeBool(false)),
             Loop("i", count, [&](const Expr& i) {
               return MakeIf(
                   is_alive(i),
                   MakeIf(
                       too_near(box_at(batch, best.value()), box_at(batch, i)),
                       MakeStore(alive, {i}, tir::MakeBool(false))));
             })});
        const Expr more =
            And(Lt(taken.value(), c.inputs[2]({})), Lt(number.value(), room));
        return MakeSeq(
            {start, taken.Set(I64(0)), Loop("r", most, [&](const Expr&) {
               return MakeIf(more,
                             MakeSeq({best.Set(I64(-1)), find,
                                      MakeIf(Ge(best.value(), I64(0)), take)}));
             })});
      };
      const Stmt classes = Loop("b", scores.shape()[0], [&](const Expr& batch) {
        return Loop("c", scores.shape()[1],
                    [&](const Expr& kind) { return one_class(batch, kind); });
      });
      const Stmt rest = Loop("k", room, [&](const Expr& k) {
        std::vector<Stmt> zeros;
        for (int d = 0; d < 3; ++d) {
          zeros.push_back(MakeStore(out[0].buffer, {k, I64(d)}, I64(0)));
        }
        return MakeIf(Ge(k, number.value()), MakeSeq(std::move(zeros)));
      });
      return MakeAllocate(
          alive,
          WithCells(
              {&taken, &best, &number},
              MakeSeq({best.Set(-1), classes, rest,
                       MakeStore(out[1].buffer, {I64(0)}, number.value())})));
    };
    Tensors inputs(c.inputs.begin(), c.inputs.begin() + 5);
    return c.graph.Extern(c.name, {c.outputs[0].shape, {I64(1)}}, {i64, i64},
                          inputs, body);
  };
  return def;
}

}  // namespace

absl::Status RegisterSelect(OpRegistry* registry) {
  return RegisterAllOf(registry, {UniqueRows(), NonMaxSuppression()});
}

}  // namespace ingot::relay::ops
