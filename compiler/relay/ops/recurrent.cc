// Recurrent layers, one direction each. The products with the input do not
// depend on earlier steps, so they come as an operand: one large matrix product
// for all steps, before.
#include <functional>
#include <optional>

#include "compiler/relay/ops/activation.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/recurrent_step.h"

namespace ingot::relay::ops {
namespace {

using Strings = std::vector<std::string>;

absl::StatusOr<Types> Infer(const InferContext& c, const RecurrentKind& kind) {
  const TensorType& x = c.type(kGates);
  INGOT_RETURN_IF_ERROR(ExpectRank(x, 3, "the gates' inputs"));
  INGOT_RETURN_IF_ERROR(ExpectFloat(x, "the gates' inputs"));
  INGOT_RETURN_IF_ERROR(ExpectRank(c.type(kInitialH), 2, "the initial state"));
  const std::optional<StepMatrix> matrix = StepMatrixOf(c.type(kWeights).shape);
  const int64_t hidden = matrix ? matrix->hidden : 0;
  int64_t gates;
  if (!matrix || !ConstDim(x.shape[2], &gates) || gates != matrix->columns ||
      gates != hidden * kind.gates ||
      !MayBeEqual(c.type(kInitialH).shape[1], I64(hidden), c.assumed) ||
      !MayBeEqual(c.type(kInitialH).shape[0], x.shape[1], c.assumed)) {
    return Invalid("inputs ", ToString(x), ", weights ",
                   ToString(c.type(kWeights)), " and initial state ",
                   ToString(c.type(kInitialH)), " do not fit: ", kind.gates,
                   " gates a hidden unit");
  }
  // The shapes of what is after the initial state.
  std::vector<Shape> shapes = {{x.shape[1]}};
  if (kind.cell) {
    shapes.push_back({x.shape[1], I64(hidden)});
    shapes.push_back({I64(3 * hidden)});  // peepholes
  } else if (kind.extra_inputs > 0) {
    shapes.push_back({I64(hidden)});  // a bias
  }
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    if (!c.has(k)) continue;
    if (k == kLengths) {
      INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(k), "lengths"));
    } else {
      INGOT_RETURN_IF_ERROR(ExpectSameType(x, c.type(k)));
    }
    if (k < kLengths) continue;
    const Shape& expected = shapes[k - kLengths];
    const Shape& shape = c.type(k).shape;
    bool fits = shape.size() == expected.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = MayBeEqual(shape[d], expected[d], c.assumed);
    }
    if (!fits) {
      return Invalid("operand ", k, " is ", ToString(c.type(k)), ", not ",
                     ToString(TensorType{c.type(k).dtype, expected}));
    }
  }
  const Strings names = c.attrs.Get<Strings>("activations");
  if (names.size() != kind.activations.size()) {
    return Invalid("activations must be ", kind.activations.size(), " names");
  }
  for (const std::string& name : names) {
    if (!IsActivation(name)) return Invalid("there is no activation ", name);
  }
  const TensorType state{x.dtype, {x.shape[1], I64(hidden)}};
  Types types = {{x.dtype, {x.shape[0], x.shape[1], I64(hidden)}}, state};
  if (kind.cell) types.push_back(state);
  return types;
}

using StepFn = std::function<Stmt(const RecurrentStep&)>;

absl::StatusOr<Tensors> Compute(const ComputeContext& c,
                                const RecurrentKind& kind,
                                const StepFn& step_fn) {
  const te::Tensor x = c.inputs[kGates];
  const DataType t = x.dtype();
  const StepMatrix matrix = *StepMatrixOf(c.inputs[kWeights].shape());
  const int64_t hidden = matrix.hidden;
  const Shape state = c.outputs[1].shape;
  std::vector<std::vector<Expr>> shapes = {c.outputs[0].shape, state};
  if (kind.cell) shapes.push_back(state);
  // Scratch, as a result that nobody reads.
  shapes.push_back({state[0], I64(kind.gates * hidden)});
  std::vector<te::Tensor> inputs;
  for (const te::Tensor& in : c.inputs) {
    if (in.buffer != nullptr) inputs.push_back(in);
  }
  const int initial_c = kLengths + 1;
  Tensors out = c.graph.Extern(
      c.name, shapes, std::vector<DataType>(shapes.size(), t), inputs,
      [&](absl::Span<const te::Tensor> results) {
        RecurrentStep step{c,          kind,         matrix,        hidden,
                           nullptr,    x.shape()[0], state[0],      results[0],
                           results[1], {},           results.back()};
        if (kind.cell) step.cell = results[2];
        const Stmt start = LoopNest(state, "s", [&](const Indices& i) {
          const Stmt h = MakeStore(step.h.buffer, i, c.inputs[kInitialH](i));
          if (!kind.cell) return h;
          return tir::MakeSeq(
              {h, MakeStore(step.cell.buffer, i, c.inputs[initial_c](i))});
        });
        const Stmt run = Loop("t", step.steps, [&](const Expr& t_loop) {
          step.number = t_loop;
          return step_fn(step);
        });
        return tir::MakeSeq({start, run});
      });
  out.pop_back();
  return out;
}

Stmt CopyGates(const StepRow& row) {
  const RecurrentStep& s = row.step;
  return Loop("g", I64(s.kind.gates * s.hidden), [&](const Expr& g) {
    return MakeStore(s.gates.buffer, {row.batch, g},
                     s.c.inputs[kGates](row.At(g)));
  });
}

// Gates i, o, f, c. Peepholes p: [3 * hidden] for i, o, f.
Stmt LstmStep(const RecurrentStep& s) {
  constexpr int kPeepholes = kLengths + 2;
  const bool coupled = s.c.attrs.Get<int64_t>("input_forget") != 0;
  auto peephole = [&](const StepRow& row, int g, const Expr& j,
                      const Expr& cell) {
    const Expr gate = row.Gate(g, j);
    if (!s.c.has(kPeepholes)) return gate;
    return gate + s.c.inputs[kPeepholes]({I64(g * s.hidden) + j}) * cell;
  };
  const auto update = [&](const StepRow& row, const Expr& j) {
    const Indices at = {row.batch, j};
    const Expr old = s.cell(at);
    const tir::VarPtr in = tir::MakeVar("in", old->dtype);
    const tir::VarPtr cell = tir::MakeVar("cell", old->dtype);
    const Expr in_value = s.Activate(0, peephole(row, 0, j, old));
    const Expr forget = coupled ? MakeConst(old->dtype, 1) - Expr(in)
                                : s.Activate(0, peephole(row, 2, j, old));
    const Expr cell_value =
        forget * old + Expr(in) * s.Activate(1, row.Gate(3, j));
    const Expr out = s.Activate(0, peephole(row, 1, j, cell));
    const Expr h = out * s.Activate(2, cell);
    return tir::MakeLet(
        in, in_value,
        tir::MakeLet(
            cell, cell_value,
            tir::MakeSeq({MakeStore(s.h.buffer, at, h),
                          MakeStore(s.cell.buffer, at, cell),
                          MakeStore(s.y.buffer, row.At(j), s.h(at))})));
  };
  return tir::MakeSeq({s.EachRow(CopyGates), s.AddRecurrent(s.State(), 0, 4),
                       s.EachActiveRow([&](const StepRow& row) {
                         return s.EachUnit(
                             [&](const Expr& j) { return update(row, j); });
                       })});
}

// The products of the three gates of a GRU, up to what the last is applied to.
// rb: the recurrent bias of gate h alone, used where the reset gate applies
// after the product (linear_before_reset).
Stmt GruGates(const RecurrentStep& s) {
  constexpr int kRecurrentBias = kLengths + 1;
  auto bias = [&](const Expr& j) {
    return s.c.has(kRecurrentBias) ? s.c.inputs[kRecurrentBias]({j})
                                   : MakeConst(s.gates.dtype(), 0);
  };
  auto reset = [&](const StepRow& row, const Expr& j) {
    return s.Activate(0, row.Gate(1, j));
  };
  // For each row, for each unit.
  auto units =
      [&](const std::function<Stmt(const StepRow&, const Expr&)>& body) {
        return s.EachRow([&](const StepRow& row) {
          return s.EachUnit([&](const Expr& j) { return body(row, j); });
        });
      };
  if (s.c.attrs.Get<int64_t>("linear_before_reset") != 0) {
    // Gate h collects only the recurrent part here; its input joins below.
    return tir::MakeSeq(
        {s.EachRow(CopyGates), units([&](const StepRow& row, const Expr& j) {
           return row.SetGate(2, j, bias(j));
         }),
         s.AddRecurrent(s.State(), 0, 3),
         units([&](const StepRow& row, const Expr& j) {
           const Expr input = s.c.inputs[kGates](row.At(I64(2 * s.hidden) + j));
           return row.SetGate(2, j, input + reset(row, j) * row.Gate(2, j));
         })});
  }
  // y holds r * h until the step's result takes its place.
  return tir::MakeSeq(
      {s.EachRow(CopyGates), s.AddRecurrent(s.State(), 0, 2),
       units([&](const StepRow& row, const Expr& j) {
         return MakeStore(s.y.buffer, row.At(j),
                          reset(row, j) * s.h({row.batch, j}));
       }),
       units([&](const StepRow& row, const Expr& j) {
         return row.SetGate(2, j, row.Gate(2, j) + bias(j));
       }),
       s.AddRecurrent(
           [&](const StepRow& row, const Expr& k) { return s.y(row.At(k)); }, 2,
           3)});
}

// Gates z, r, h.
Stmt GruStep(const RecurrentStep& s) {
  const auto update = [&](const StepRow& row, const Expr& j) {
    const Indices at = {row.batch, j};
    const tir::VarPtr z = tir::MakeVar("z", s.gates.dtype());
    const Expr h =
        (MakeConst(z->dtype, 1) - Expr(z)) * s.Activate(1, row.Gate(2, j)) +
        Expr(z) * s.h(at);
    return tir::MakeLet(
        z, s.Activate(0, row.Gate(0, j)),
        tir::MakeSeq({MakeStore(s.h.buffer, at, h),
                      MakeStore(s.y.buffer, row.At(j), s.h(at))}));
  };
  return tir::MakeSeq({GruGates(s), s.EachActiveRow([&](const StepRow& row) {
                         return s.EachUnit(
                             [&](const Expr& j) { return update(row, j); });
                       })});
}

Stmt RnnStep(const RecurrentStep& s) {
  const auto update = [&](const StepRow& row, const Expr& j) {
    const Indices at = {row.batch, j};
    return tir::MakeSeq(
        {MakeStore(s.h.buffer, at, s.Activate(0, row.Gate(0, j))),
         MakeStore(s.y.buffer, row.At(j), s.h(at))});
  };
  return tir::MakeSeq({s.EachRow(CopyGates), s.AddRecurrent(s.State(), 0, 1),
                       s.EachActiveRow([&](const StepRow& row) {
                         return s.EachUnit(
                             [&](const Expr& j) { return update(row, j); });
                       })});
}

OpDef Recurrent(const RecurrentKind& kind, absl::string_view doc, StepFn step) {
  OpDef def;
  def.name = kind.name;
  def.doc = absl::StrCat(
      doc, "; weights may lie in panels [panels, h, vectors, lanes]");
  def.min_inputs = 3;
  def.max_inputs = 4 + kind.extra_inputs;
  def.traits = kStepsOverMatrix;
  def.attrs = {
      IntAttr("reverse", "from the last step to the first", 0),
      FloatAttr("clip",
                "limit of what every activation is applied to; none when 0", 0),
      StringsAttr("activations", "ONNX's names", kind.activations),
      FloatsAttr("activation_alpha", "of each activation; ONNX's when left out",
                 {}),
      FloatsAttr("activation_beta", "of each activation; ONNX's when left out",
                 {})};
  def.infer = [kind](const InferContext& c) -> absl::StatusOr<Types> {
    if (kind.cell && !c.has(kLengths + 1)) {
      return Invalid("the initial cell state is missing");
    }
    return Infer(c, kind);
  };
  def.compute = [kind, step](const ComputeContext& c) {
    return Compute(c, kind, step);
  };
  return def;
}

}  // namespace

absl::Status RegisterRecurrent(OpRegistry* registry) {
  OpDef lstm =
      Recurrent({"lstm", 4, 2, true, {"Sigmoid", "Tanh", "Tanh"}},
                "operands gates[t, b, 4h] (i, o, f, c), weights[h, 4h], h0, "
                "lengths?, c0, peepholes[3h]?; results y[t, b, h], h, c",
                &LstmStep);
  lstm.attrs.push_back(IntAttr("input_forget", "whether f is 1 - i", 0));
  OpDef gru = Recurrent(
      {"gru", 3, 1, false, {"Sigmoid", "Tanh"}},
      "operands gates[t, b, 3h] (z, r, h), weights[h, 3h], h0, lengths?, "
      "bias[h]? of the recurrent part of gate h; results y[t, b, h], h",
      &GruStep);
  gru.attrs.push_back(IntAttr("linear_before_reset",
                              "whether reset comes after the product", 0));
  OpDef rnn = Recurrent({"rnn", 1, 0, false, {"Tanh"}},
                        "operands gates[t, b, h], weights[h, h], h0, lengths?; "
                        "results y[t, b, h], h",
                        &RnnStep);
  return RegisterAllOf(registry,
                       {std::move(lstm), std::move(gru), std::move(rnn)});
}

}  // namespace ingot::relay::ops
