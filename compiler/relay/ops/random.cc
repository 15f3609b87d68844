// Random numbers: a function of a seed and of where a number is needed, so that
// every target gives the same ones in any order.
//
// The bits are Philox4x32-10's: Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", 2011. The key is the seed; the counter holds
// the element's index (64 bits), the number of the run and the stream (32
// each).
#include <cmath>
#include <cstdint>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using tir::MakeBinary;

const DataType kU64 = DataType::UInt(64);

OpDef RandomState() {
  OpDef def;
  def.name = "random_state";
  def.doc =
      "i64[2]: the seed of whoever runs the model, and how often these steps "
      "ran before";
  def.min_inputs = def.max_inputs = 0;
  def.step = ExecutorStep::kRandomState;
  def.infer = [](const InferContext&) -> absl::StatusOr<Types> {
    return Types{{DataType::Int(64), {I64(2)}}};
  };
  return def;
}

// ---------------------------------------------------------------------- philox

Expr U64(int64_t value) { return tir::MakeInt(value, kU64); }
Expr Xor(const Expr& a, const Expr& b) {
  return MakeBinary(tir::BinaryOp::kBitXor, a, b);
}
// The halves of 64 bits.
Expr Low(const Expr& x) {
  return MakeBinary(tir::BinaryOp::kBitAnd, x, U64(0xFFFFFFFF));
}
Expr High(const Expr& x) { return MakeBinary(tir::BinaryOp::kShr, x, U64(32)); }

// Four words of 32 bits, each in a cell of 64.
class Philox {
 public:
  Philox()
      : words_{{"w0", kU64}, {"w1", kU64}, {"w2", kU64}, {"w3", kU64}},
        first_("first", kU64),
        second_("second", kU64) {}

  const Cell& word(int i) const { return words_[i]; }

  // Makes the words those of `counter` (four words) and `key`.
  Stmt Draw(const std::vector<Expr>& counter, const Expr& key) const {
    std::vector<Stmt> steps;
    for (int i = 0; i < 4; ++i) steps.push_back(words_[i].Set(counter[i]));
    steps.push_back(Loop("round", I64(10), [&](const Expr& round) {
      const Expr r = MakeCast(kU64, round);
      // The key's halves, moved on by a constant each round.
      const Expr low = Low(Low(key) + r * U64(0x9E3779B9));
      const Expr high = Low(High(key) + r * U64(0xBB67AE85));
      return MakeSeq({first_.Set(words_[0].value() * U64(0xD2511F53)),
                      second_.Set(words_[2].value() * U64(0xCD9E8D57)),
                      words_[0].Set(Xor(
                          Xor(High(second_.value()), words_[1].value()), low)),
                      words_[1].Set(Low(second_.value())),
                      words_[2].Set(Xor(
                          Xor(High(first_.value()), words_[3].value()), high)),
                      words_[3].Set(Low(first_.value()))});
    }));
    return MakeSeq(std::move(steps));
  }

  Stmt With(Stmt body) const {
    return WithCells(
        {&words_[0], &words_[1], &words_[2], &words_[3], &first_, &second_},
        std::move(body));
  }

 private:
  const Cell words_[4];
  const Cell first_, second_;  // products
};

// ---------------------------------------------------------------------- random

// A number in [0, 1): 24 bits of one word for f32, 53 of two for f64.
Expr Unit(DataType t, const Expr& high, const Expr& low) {
  auto top = [](const Expr& word, int bits) {
    return MakeBinary(tir::BinaryOp::kShr, word, U64(32 - bits));
  };
  if (t.bits == 32) {
    return MakeCast(t, top(high, 24)) * MakeConst(t, std::ldexp(1.0, -24));
  }
  const Expr bits = top(high, 27) * U64(int64_t{1} << 26) + top(low, 26);
  return MakeCast(t, bits) * MakeConst(t, std::ldexp(1.0, -53));
}

// Normally distributed with mean 0 and deviation 1, from two numbers in [0, 1):
// Box and Muller's way.
Expr Normal(const Expr& a, const Expr& b) {
  auto constant = [&](double value) { return MakeConst(a->dtype, value); };
  const Expr radius =
      MakeCall(Intrinsic::kSqrt,
               {constant(-2) * MakeCall(Intrinsic::kLog, {constant(1) - a})});
  return radius * MakeCall(Intrinsic::kCos, {constant(2 * M_PI) * b});
}

OpDef Random() {
  OpDef def;
  def.name = "random";
  def.doc =
      "random numbers: uniform in [0, 1), or normal with mean 0 and deviation "
      "1";
  def.max_inputs = -1;  // after the state: values whose shapes bind symbols
  def.attrs = {
      ShapeAttr("shape", "of the result", kRequired),
      TypeAttr("dtype", "of the result: f32 or f64", kRequired),
      StringAttr("distribution", "uniform or normal", kRequired),
      IntAttr("stream", "calls with another one are independent", 0),
      IntAttr("seed", "in place of the state's; the state's when left out",
              kOptional)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    int64_t extent;
    const TensorType& state = c.type(0);
    if (state.dtype != DataType::Int(64) || state.shape.size() != 1 ||
        !ConstDim(state.shape[0], &extent) || extent != 2) {
      return Invalid("the state must be i64[2], not ", ToString(state));
    }
    const DataType t = c.attrs.Get<DataType>("dtype");
    if (t != DataType::Float(32) && t != DataType::Float(64)) {
      return Invalid("gives f32 or f64, not ", t.ToString());
    }
    const std::string distribution = c.attrs.Get<std::string>("distribution");
    if (distribution != "uniform" && distribution != "normal") {
      return Invalid("there is no distribution '", distribution, "'");
    }
    return Types{{t, c.attrs.Get<Shape>("shape")}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor state = c.inputs[0];
    const TensorType& type = c.outputs[0];
    return c.graph.Extern(
        c.name, {type.shape}, {type.dtype}, {state},
        [&](absl::Span<const te::Tensor> out) {
          const Expr seed = c.attrs.Has("seed")
                                ? U64(c.attrs.Get<int64_t>("seed"))
                                : MakeCast(kU64, state({I64(0)}));
          const Expr run = Low(MakeCast(kU64, state({I64(1)})));
          const Expr stream = Low(U64(c.attrs.Get<int64_t>("stream")));
          const Philox philox;
          return philox.With(LoopNest(type.shape, "i", [&](const Indices& i) {
            const Expr at = MakeCast(kU64, Flatten(i, type.shape));
            auto unit = [&](int high) {
              const bool one = type.dtype.bits == 32;
              return Unit(type.dtype,
                          philox.word(one ? high : 2 * high).value(),
                          philox.word(one ? high : 2 * high + 1).value());
            };
            const Expr value =
                c.attrs.Get<std::string>("distribution") == "uniform"
                    ? unit(0)
                    : Normal(unit(0), unit(1));
            return MakeSeq({philox.Draw({Low(at), High(at), run, stream}, seed),
                            MakeStore(out[0].buffer, i, value)});
          }));
        });
  };
  return def;
}

}  // namespace

absl::Status RegisterRandom(OpRegistry* registry) {
  return RegisterAllOf(registry, {RandomState(), Random()});
}

}  // namespace ingot::relay::ops
