// The elements along an axis that come first.
#include <functional>

#include "compiler/relay/dim.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/place_heap.h"

namespace ingot::relay::ops {
namespace {

// The k elements that come first, of all that were seen, are a heap whose first
// slot has the last of them; most others are compared with that one alone. At
// the end the heap is taken apart from its first slot on.
class TopOfAxis {
 public:
  TopOfAxis(const te::Tensor& x, int axis, const Dim& k, bool largest,
            absl::Span<const te::Tensor> out)
      : x_(x),
        axis_(axis),
        k_(k),
        largest_(largest),
        values_(out[0]),
        places_(out[1]),
        heap_(x.dtype(), k,
              [largest](const Ranked& a, const Ranked& b) {
                return b.Before(a, largest);
              }),
        bar_("bar", x.dtype()) {}

  // `outer` are the dimensions without the axis.
  Stmt Write(const Shape& outer) const {
    const Stmt each =
        LoopNest(outer, "o", [&](const Indices& i) { return WriteOne(i); });
    return MakeIf(Gt(k_, I64(0)),
                  heap_.With(WithCells({&bar_, &bar_is_nan_, &hits_}, each)));
  }

 private:
  Indices At(const Indices& outer, const Expr& i) const {
    Indices all = outer;
    all.insert(all.begin() + axis_, i);
    return all;
  }

  Ranked RankOf(const Indices& outer, const Expr& i) const {
    return Rank(x_(At(outer, i)), i, largest_);
  }

  Stmt WriteOne(const Indices& outer) const {
    const Stmt fill = Loop(
        "i", k_, [&](const Expr& i) { return heap_.Put(i, RankOf(outer, i)); });
    const Expr place = PlaceOf(heap_.At(I64(0)));
    const Stmt take = Loop("s", k_, [&](const Expr& s) {
      const Indices to = At(outer, k_ - 1 - s);
      return heap_.Pop(
          k_ - s,
          MakeSeq({MakeStore(places_.buffer, to, place),
                   MakeStore(values_.buffer, to, x_(At(outer, place)))}));
    });
    return MakeSeq({fill, heap_.Order(k_), Raise(), Scan(outer), take});
  }

  // Sets the value that those which follow must beat, and whether it is a NaN.
  Stmt Raise() const {
    const Ranked last = heap_.At(I64(0));
    return MakeSeq({bar_.Set(last.value),
                    bar_is_nan_.Set(MakeSelect(IsNan(last), I64(1), I64(0)))});
  }

  // Those that follow have later places: equal ones do not come before.
  Stmt Scan(const Indices& outer) const {
    const auto beats = [&](const Expr& place) {
      return ComesBefore(x_(At(outer, place)), bar_.value(),
                         Ne(bar_is_nan_.value(), I64(0)), largest_);
    };
    const auto look = [&](const Expr& place) {
      return MakeIf(beats(place),
                    MakeSeq({heap_.Put(I64(0), RankOf(outer, place)),
                             heap_.Restore(k_), Raise()}));
    };
    const Expr rest = x_.shape()[axis_] - k_;
    if (axis_ + 1 != x_.rank()) {
      return Loop("e", rest, [&](const Expr& e) { return look(k_ + e); });
    }
    // Neighbours are compared in vectors, and looked at only where one counts.
    constexpr int64_t kAtOnce = 16;
    const auto all = [&](const Expr& from,
                         const std::function<Stmt(const Expr&)>& body) {
      return Loop("j", I64(kAtOnce),
                  [&](const Expr& j) { return body(from + j); });
    };
    const Stmt blocks = Loop("b", FloorDiv(rest, kAtOnce), [&](const Expr& b) {
      const Expr from = k_ + b * I64(kAtOnce);
      const Stmt count = all(from, [&](const Expr& place) {
        const DataType i32 = DataType::Int(32);
        return hits_.Set(hits_.value() + MakeSelect(beats(place),
                                                    tir::MakeInt(1, i32),
                                                    tir::MakeInt(0, i32)));
      });
      return MakeSeq(
          {hits_.Set(0), count,
           MakeIf(Gt(hits_.value(), tir::MakeInt(0, DataType::Int(32))),
                  all(from, look))});
    });
    const Expr left = rest % I64(kAtOnce);
    const Stmt others = Loop("e", left, [&](const Expr& e) {
      return look(x_.shape()[axis_] - left + e);
    });
    return MakeSeq({blocks, others});
  }

  const te::Tensor x_;
  const int axis_;
  const Dim k_;
  const bool largest_;
  const te::Tensor values_, places_;
  const PlaceHeap heap_;
  const Cell bar_;  // the value of the last of the heap
  const Cell bar_is_nan_{"bar_is_nan", DataType::Int(64)};
  const Cell hits_{"hits", DataType::Int(32)};
};

OpDef TopK() {
  OpDef def;
  def.name = "top_k";
  def.doc = "the k largest (or smallest) along an axis, and their positions";
  def.max_inputs = -1;  // after x: values whose shapes bind symbols
  def.attrs = {
      ShapeAttr("k", "[how many]", kRequired),
      IntAttr("axis", "dimension that is searched", -1),
      IntAttr("largest", "whether the largest count, not the smallest", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "the operand"));
    INGOT_ASSIGN_OR_RETURN(
        const int axis,
        NormalizeAxis(c.attrs.Get<int64_t>("axis"),
                      static_cast<int>(c.type(0).shape.size())));
    TensorType out = c.type(0);
    const Shape& count = c.attrs.Get<Shape>("k");
    if (count.size() != 1) return Invalid("k must be one number");
    int64_t k;
    const bool is_negative = ConstDim(count[0], &k) && k < 0;
    const Dim taken = SimplifyDim(Min(count[0], out.shape[axis]));
    if (is_negative || !MayBeEqual(taken, count[0], c.assumed)) {
      return Invalid("cannot take ", DimToString(count[0]), " of ",
                     ToString(out), " along axis ", axis);
    }
    out.shape[axis] = count[0];
    return Types{out, {DataType::Int(64), out.shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(
        const int axis, NormalizeAxis(c.attrs.Get<int64_t>("axis"), x.rank()));
    const bool largest = c.attrs.Get<int64_t>("largest") != 0;
    const Shape& shape = c.outputs[0].shape;
    Shape outer = shape;
    outer.erase(outer.begin() + axis);
    return c.graph.Extern(
        c.name, {shape, shape}, {x.dtype(), DataType::Int(64)}, {x},
        [&](absl::Span<const te::Tensor> out) {
          return TopOfAxis(x, axis, shape[axis], largest, out).Write(outer);
        });
  };
  return def;
}

}  // namespace

absl::Status RegisterTopK(OpRegistry* registry) {
  return RegisterAllOf(registry, {TopK()});
}

}  // namespace ingot::relay::ops
