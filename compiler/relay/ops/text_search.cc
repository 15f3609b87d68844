// Operators that look for something in text: where to cut it, and whether it
// fits a pattern.
#include <cstdint>
#include <functional>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/text.h"

namespace ingot::relay::ops {
namespace {

const DataType kI64 = DataType::Int(64);

Shape WithoutLast(const Shape& shape) {
  return Shape(shape.begin(), shape.end() - 1);
}

Indices With(Indices i, const Expr& last) {
  i.push_back(last);
  return i;
}

// ---------------------------------------------------------------- cutting text

// The loops over one string that say which piece each of its bytes is in.
class PieceFinder {
 public:
  PieceFinder(const te::Tensor& x, int64_t most, const te::Tensor& pieces,
              const te::Tensor& count)
      : x_(x), most_(most), pieces_(pieces), count_(count) {}

  // Pieces stand between `delimiter`s, and may be empty.
  Stmt Between(const te::Tensor& delimiter, const Indices& string) const {
    const Expr size = delimiter.shape()[0];
    auto step = [&](const Expr& at) {
      const Stmt compare = Loop("d", size, [&](const Expr& d) {
        return MakeIf(tir::Ne(ByteAt(x_, string, at + d), delimiter({d})),
                      same_.Set(0));
      });
      const Stmt look = MakeIf(
          And(Eq(skip_.value(), I64(0)),
              And(Lt(found_.value(), I64(most_)), Le(at + size, Length()))),
          MakeSeq({same_.Set(1), compare,
                   MakeIf(Eq(same_.value(), I64(1)),
                          MakeSeq({found_.Set(found_.value() + 1),
                                   skip_.Set(size)}))}));
      return MakeSeq({look, MakeIf(Gt(skip_.value(), I64(0)),
                                   MakeSeq({skip_.Set(skip_.value() - 1),
                                            Put(string, at, I64(-1))}),
                                   PutIfInside(string, at, found_.value()))});
    };
    return Find(string, step, found_.value() + 1);
  }

  // Pieces stand between runs of white space, and are not empty. What is left
  // for the last one keeps the white space in it and after it.
  Stmt Words(const Indices& string) const {
    auto step = [&](const Expr& at) {
      const Expr byte = ByteAt(x_, string, at);
      const Expr space =
          Or(Eq(byte, U8(' ')), And(Ge(byte, U8('\t')), Le(byte, U8('\r'))));
      const Expr last = Gt(found_.value(), I64(most_));
      const Stmt word = MakeSeq(
          {MakeIf(Eq(same_.value(), I64(0)),
                  MakeSeq({found_.Set(found_.value() + 1), same_.Set(I64(1))})),
           PutIfInside(string, at, found_.value() - 1)});
      return MakeIf(
          last, PutIfInside(string, at, found_.value() - 1),
          MakeIf(Or(space, Ge(at, Length())),
                 MakeSeq({same_.Set(0), Put(string, at, I64(-1))}), word));
    };
    return Find(string, step, found_.value());
  }

 private:
  Expr Length() const { return length_.value(); }

  Stmt Put(const Indices& string, const Expr& at, const Expr& piece) const {
    return MakeStore(pieces_.buffer, With(string, at), piece);
  }
  Stmt PutIfInside(const Indices& string, const Expr& at,
                   const Expr& piece) const {
    return Put(string, at, MakeSelect(Lt(at, Length()), piece, I64(-1)));
  }

  Stmt Find(const Indices& string, const std::function<Stmt(const Expr&)>& step,
            const Expr& count) const {
    const Expr width = x_.shape().back();
    const Stmt measure = Loop("l", width, [&](const Expr& at) {
      return MakeIf(tir::Ne(x_(With(string, at)), U8(0)), length_.Set(at + 1));
    });
    return WithCells({&length_, &found_, &skip_, &same_},
                     MakeSeq({measure, Loop("w", width, step),
                              MakeStore(count_.buffer, string, count)}));
  }

  const te::Tensor x_;
  const int64_t most_;
  const te::Tensor pieces_, count_;
  // For words, `same_` says whether the previous byte is in one.
  const Cell length_{"length", kI64}, found_{"found", kI64},
      skip_{"skip", kI64}, same_{"same", kI64};
};

OpDef FindPieces() {
  OpDef def;
  def.name = "find_pieces";
  def.doc =
      "the piece that each byte of x is in, -1 for none, and how many pieces "
      "each string has: between delimiters u8[n], or runs of white space";
  def.max_inputs = 2;
  def.attrs = {IntAttr(
      "most",
      "how many times a string is cut; as often as it can be when left out",
      kOptional)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "x"));
    if (c.has(1)) {
      INGOT_RETURN_IF_ERROR(ExpectText(c.type(1), "the delimiter"));
      INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 1, "the delimiter"));
      if (tir::IsConstInt(c.type(1).shape[0], 0)) {
        return Invalid("the delimiter is empty");
      }
    }
    const int64_t* const most = c.attrs.Find<int64_t>("most");
    if (most != nullptr && *most < 0) return Invalid("most is negative");
    const Shape& x = c.type(0).shape;
    return Types{{kI64, x}, {kI64, WithoutLast(x)}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    Tensors inputs = {x};
    if (c.has(1)) inputs.push_back(c.inputs[1]);
    return c.graph.Extern(
        c.name, {c.outputs[0].shape, c.outputs[1].shape}, {kI64, kI64}, inputs,
        [&](absl::Span<const te::Tensor> out) {
          const int64_t* const most = c.attrs.Find<int64_t>("most");
          const PieceFinder finder(x, most == nullptr ? INT64_MAX : *most,
                                   out[0], out[1]);
          return LoopNest(c.outputs[1].shape, "s", [&](const Indices& string) {
            return c.has(1) ? finder.Between(c.inputs[1], string)
                            : finder.Words(string);
          });
        });
  };
  return def;
}

OpDef TakePieces() {
  OpDef def;
  def.name = "take_pieces";
  def.doc =
      "the pieces of each string, where find_pieces says of each byte which "
      "one it is in; empty ones after them";
  def.min_inputs = 2;
  def.max_inputs = -1;  // after these: values whose shapes bind symbols
  def.attrs = {ShapeAttr("count", "[pieces of each string]", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "x"));
    const TensorType& x = c.type(0);
    const TensorType& pieces = c.type(1);
    const Shape& count = c.attrs.Get<Shape>("count");
    if (pieces.dtype != kI64 || !SameShape(pieces.shape, x.shape)) {
      return Invalid("pieces must be i64 of x's shape, not ", ToString(pieces));
    }
    if (count.size() != 1) return Invalid("count must be one number");
    Shape shape = WithoutLast(x.shape);
    shape.push_back(count[0]);
    shape.push_back(x.shape.back());
    return Types{{x.dtype, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], pieces = c.inputs[1];
    const Expr width = x.shape().back();
    const Expr count = c.attrs.Get<Shape>("count")[0];
    return c.graph.Extern(
        c.name, {c.outputs[0].shape}, {x.dtype()}, {x, pieces},
        [&](absl::Span<const te::Tensor> out) {
          // `piece`: the one that bytes are being written to.
          const Cell piece("piece", kI64), length("length", kI64);
          return LoopNest(
              WithoutLast(x.shape()), "s", [&](const Indices& string) {
                const Stmt clear =
                    LoopNest({count, width}, "c", [&](const Indices& i) {
                      return MakeStore(out[0].buffer,
                                       With(With(string, i[0]), i[1]), U8(0));
                    });
                const Stmt fill = Loop("w", width, [&](const Expr& w) {
                  const Expr p = pieces(With(string, w));
                  const Stmt begin =
                      MakeIf(tir::Ne(p, piece.value()),
                             MakeSeq({piece.Set(p), length.Set(0)}));
                  const Stmt take =
                      MakeSeq({begin,
                               MakeStore(out[0].buffer,
                                         With(With(string, p), length.value()),
                                         x(With(string, w))),
                               length.Set(length.value() + 1)});
                  return MakeIf(And(Ge(p, I64(0)), Lt(p, count)), take);
                });
                return WithCells({&piece, &length},
                                 MakeSeq({piece.Set(I64(-1)), clear, fill}));
              });
        });
  };
  return def;
}

// ----------------------------------------------------------- matching patterns

OpDef DfaMatch() {
  OpDef def;
  def.name = "dfa_match";
  def.doc =
      "whether an automaton accepts each string of x: from state 0 on, byte b "
      "leads to next[state, class[b]]; class u8[256], next u16[states, "
      "classes], accepting bool[states]";
  def.min_inputs = def.max_inputs = 4;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "x"));
    const TensorType &classes = c.type(1), &next = c.type(2),
                     &accepting = c.type(3);
    if (classes.dtype != DataType::UInt(8) || classes.shape.size() != 1 ||
        !tir::IsConstInt(classes.shape[0], 256)) {
      return Invalid("class must be u8[256], not ", ToString(classes));
    }
    int64_t states, width;
    if (next.dtype != DataType::UInt(16) || next.shape.size() != 2 ||
        !ConstDim(next.shape[0], &states) || !ConstDim(next.shape[1], &width) ||
        states < 1 || width < 1) {
      return Invalid("next must be u16[states, classes], not ", ToString(next));
    }
    if (!accepting.dtype.is_bool() || accepting.shape.size() != 1 ||
        !tir::IsConstInt(accepting.shape[0], states)) {
      return Invalid("accepting must be bool[", states, "], not ",
                     ToString(accepting));
    }
    return Types{{DataType::Bool(), WithoutLast(c.type(0).shape)}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], classes = c.inputs[1], next = c.inputs[2],
                     accepting = c.inputs[3];
    const Shape& shape = c.outputs[0].shape;
    return c.graph.Extern(
        c.name, {shape}, {DataType::Bool()}, {x, classes, next, accepting},
        [&](absl::Span<const te::Tensor> out) {
          const Cell length("length", kI64), state("state", kI64);
          const Expr width = x.shape().back();
          return LoopNest(shape, "s", [&](const Indices& string) {
            const Stmt measure = Loop("l", width, [&](const Expr& at) {
              return MakeIf(tir::Ne(x(With(string, at)), U8(0)),
                            length.Set(at + 1));
            });
            // The tables are data and must not lead outside of the buffers.
            const Stmt read = Loop("w", width, [&](const Expr& at) {
              const Expr byte = tir::MakeCast(kI64, x(With(string, at)));
              const Expr column = Min(tir::MakeCast(kI64, classes({byte})),
                                      next.shape()[1] - 1);
              const Expr to =
                  tir::MakeCast(kI64, next({state.value(), column}));
              return MakeIf(Lt(at, length.value()),
                            state.Set(Min(to, next.shape()[0] - 1)));
            });
            return WithCells({&length, &state},
                             MakeSeq({measure, read,
                                      MakeStore(out[0].buffer, string,
                                                accepting({state.value()}))}));
          });
        });
  };
  return def;
}

}  // namespace

absl::Status RegisterTextSearch(OpRegistry* registry) {
  return RegisterAllOf(registry, {FindPieces(), TakePieces(), DfaMatch()});
}

}  // namespace ingot::relay::ops
