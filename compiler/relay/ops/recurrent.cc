// Recurrent layers, one direction each. The products with the input do not
// depend on earlier steps, so they come as an operand: one large matrix product
// for all steps, before.
#include <algorithm>
#include <functional>
#include <optional>

#include "compiler/relay/ops/activation.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using Strings = std::vector<std::string>;

// Operand positions that all kinds share.
enum Operand { kGates = 0, kWeights = 1, kInitialH = 2, kLengths = 3 };

struct Kind {
  const char* name;
  int gates;
  int extra_inputs;  // after the lengths
  bool cell;         // LSTM's second state
  Strings activations;
};

// The extents of the weights, as a matrix [hidden, columns] or in panels
// [panels, hidden, vectors, lanes].
struct Matrix {
  int64_t hidden = 0;
  int64_t columns = 0;
  int64_t vectors = 0, lanes = 0;  // 0 where it is not in panels

  bool in_panels() const { return lanes > 0; }
  int64_t width() const { return vectors * lanes; }
};

std::optional<Matrix> MatrixOf(const Shape& weights) {
  const auto shape = ConstShape(weights);
  if (!shape) return std::nullopt;
  const std::vector<int64_t>& d = *shape;
  if (d.size() == 2) return Matrix{d[0], d[1]};
  // Products of three such extents fit in 64 bits.
  constexpr int64_t kMost = 1 << 20;
  if (d.size() != 4 || *std::max_element(d.begin(), d.end()) > kMost) {
    return std::nullopt;
  }
  const Matrix m = {d[1], d[0] * d[2] * d[3], d[2], d[3]};
  // A gate begins with a panel.
  if (m.width() < 1 || m.hidden % m.width() != 0) return std::nullopt;
  return m;
}

absl::StatusOr<Types> Infer(const InferContext& c, const Kind& kind) {
  const TensorType& x = c.type(kGates);
  INGOT_RETURN_IF_ERROR(ExpectRank(x, 3, "the gates' inputs"));
  INGOT_RETURN_IF_ERROR(ExpectFloat(x, "the gates' inputs"));
  INGOT_RETURN_IF_ERROR(ExpectRank(c.type(kInitialH), 2, "the initial state"));
  const std::optional<Matrix> matrix = MatrixOf(c.type(kWeights).shape);
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

// Element k of a row.
using Element = std::function<Expr(const Expr& k)>;

// Operands and gates of one step.
struct Step {
  const ComputeContext& c;
  const Kind& kind;
  Matrix matrix;
  int64_t hidden;
  Expr time, batch;
  te::Tensor y, h, cell, gates;  // gates: [batch, gates * hidden], scratch

  Expr Activate(int which, const Expr& x) const {
    const Strings names = c.attrs.Get<Strings>("activations");
    auto param = [&](absl::string_view name) -> std::optional<double> {
      const auto values = c.attrs.Get<std::vector<double>>(name);
      if (static_cast<size_t>(which) >= values.size()) return std::nullopt;
      return values[which];
    };
    return Activation(names[which], Clip(x), param("activation_alpha"),
                      param("activation_beta"));
  }
  Expr Clip(const Expr& x) const {
    const double limit = c.attrs.Get<double>("clip");
    if (limit <= 0) return x;
    return Max(Min(x, MakeConst(x->dtype, limit)), MakeConst(x->dtype, -limit));
  }
  Expr Gate(int g, const Expr& j) const {
    return gates({batch, I64(g * hidden) + j});
  }
  Stmt SetGate(int g, const Expr& j, const Expr& value) const {
    return MakeStore(gates.buffer, {batch, I64(g * hidden) + j}, value);
  }
  // The state before the step.
  Element State() const {
    return [this](const Expr& k) { return h({batch, k}); };
  }
  // gates[first, last) += from * weights, for all units, where `from` gives the
  // operand's elements.
  Stmt AddRecurrent(const Element& from, int first, int last) const {
    return matrix.in_panels() ? AddPanels(from, first, last)
                              : AddColumns(from, first, last);
  }

 private:
  // A panel's sums stay in registers, and its weights are read as they lie.
  Stmt AddPanels(const Element& from, int first, int last) const {
    const int64_t panels = hidden / matrix.width();
    const te::Tensor weights = c.inputs[kWeights];
    return Loop("p", I64((last - first) * panels), [&](const Expr& p) {
      const Expr panel = p + first * panels;
      const tir::Buffer sums = Scratch("sums", gates.dtype(), matrix.width());
      // For each column of the panel: set(its gate, its sum, its lane).
      using Set =
          std::function<Stmt(const Indices&, const Indices&, const Indices&)>;
      auto columns = [&](const Set& set) {
        const tir::VarPtr v = tir::MakeVar("v"), l = tir::MakeVar("l");
        const Expr i = Expr(v) * matrix.lanes + Expr(l);
        const Stmt one = set({batch, panel * matrix.width() + i}, {i}, {v, l});
        return tir::MakeFor(v, I64(0), I64(matrix.vectors),
                            tir::ForKind::kUnrolled,
                            tir::MakeFor(l, I64(0), I64(matrix.lanes),
                                         tir::ForKind::kVectorized, one));
      };
      const Stmt start =
          columns([&](const Indices& gate, const Indices& i, const Indices&) {
            return MakeStore(sums, i, gates(gate));
          });
      const Stmt sum = Loop("k", I64(hidden), [&](const Expr& k) {
        return columns(
            [&](const Indices&, const Indices& i, const Indices& lane) {
              const Expr w = weights({panel, k, lane[0], lane[1]});
              return MakeStore(sums, i,
                               tir::MakeCall(tir::Intrinsic::kMulAdd,
                                             {from(k), w, MakeLoad(sums, i)}));
            });
      });
      const Stmt finish =
          columns([&](const Indices& gate, const Indices& i, const Indices&) {
            return MakeStore(gates.buffer, gate, MakeLoad(sums, i));
          });
      return tir::MakeAllocate(sums, tir::MakeSeq({start, sum, finish}));
    });
  }
  // The inner loop runs along memory and has no carried sum. It adds several
  // terms, so that the gates are read and written less often than the weights.
  Stmt AddColumns(const Element& from, int first, int last) const {
    constexpr int64_t kTerms = 8;
    const int64_t whole = hidden / kTerms;
    return tir::MakeSeq(
        {Loop("k", I64(whole),
              [&](const Expr& k) {
                return AddTerms(from, k * kTerms, kTerms, first, last);
              }),
         Loop("k", I64(hidden - whole * kTerms), [&](const Expr& k) {
           return AddTerms(from, k + whole * kTerms, 1, first, last);
         })});
  }
  // The terms of so many units from k on.
  Stmt AddTerms(const Element& from, const Expr& k, int64_t terms, int first,
                int last) const {
    const te::Tensor w = c.inputs[kWeights];
    return Loop("g", I64((last - first) * hidden), [&](const Expr& g) {
      const Expr at = g + first * hidden;
      Expr sum = gates({batch, at});
      for (int64_t j = 0; j < terms; ++j) {
        sum = tir::MakeCall(tir::Intrinsic::kMulAdd,
                            {from(k + j), w({k + j, at}), sum});
      }
      return MakeStore(gates.buffer, {batch, at}, sum);
    });
  }
};

using StepFn = std::function<Stmt(const Step&)>;

absl::StatusOr<Tensors> Compute(const ComputeContext& c, const Kind& kind,
                                const StepFn& step_fn) {
  const te::Tensor x = c.inputs[kGates];
  const DataType t = x.dtype();
  const Matrix matrix = *MatrixOf(c.inputs[kWeights].shape());
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
        Step step{c,       kind,       matrix,     hidden, nullptr,
                  nullptr, results[0], results[1], {},     results.back()};
        if (kind.cell) step.cell = results[2];
        const Expr steps = x.shape()[0];
        const Stmt start = LoopNest(state, "s", [&](const Indices& i) {
          const Stmt h = MakeStore(step.h.buffer, i, c.inputs[kInitialH](i));
          if (!kind.cell) return h;
          return tir::MakeSeq(
              {h, MakeStore(step.cell.buffer, i, c.inputs[initial_c](i))});
        });
        const bool reverse = c.attrs.Get<int64_t>("reverse") != 0;
        const Stmt run = Loop("t", steps, [&](const Expr& t_loop) {
          return Loop("b", state[0], [&](const Expr& b) {
            const Expr length =
                c.has(kLengths)
                    ? Min(MakeCast(DataType::Int(64), c.inputs[kLengths]({b})),
                          steps)
                    : steps;
            const Expr active = Lt(t_loop, length);
            step.batch = b;
            // Past its end a sequence gives zeros, wherever the loop runs.
            step.time =
                reverse ? tir::MakeSelect(active, length - 1 - t_loop, t_loop)
                        : t_loop;
            const Stmt body = step_fn(step);
            if (!c.has(kLengths)) return body;
            const Stmt rest = Loop("j", I64(hidden), [&](const Expr& j) {
              return MakeStore(step.y.buffer, {step.time, b, j},
                               MakeConst(t, 0));
            });
            return tir::MakeIf(active, body, rest);
          });
        });
        return tir::MakeSeq({start, run});
      });
  out.pop_back();
  return out;
}

Stmt CopyGates(const Step& s) {
  return Loop("g", I64(s.kind.gates * s.hidden), [&](const Expr& g) {
    return MakeStore(s.gates.buffer, {s.batch, g},
                     s.c.inputs[kGates]({s.time, s.batch, g}));
  });
}

// Gates i, o, f, c. Peepholes p: [3 * hidden] for i, o, f.
Stmt LstmStep(const Step& s) {
  constexpr int kPeepholes = kLengths + 2;
  const bool coupled = s.c.attrs.Get<int64_t>("input_forget") != 0;
  auto peephole = [&](int g, const Expr& j, const Expr& cell) {
    const Expr gate = s.Gate(g, j);
    if (!s.c.has(kPeepholes)) return gate;
    return gate + s.c.inputs[kPeepholes]({I64(g * s.hidden) + j}) * cell;
  };
  const Stmt update = Loop("j", I64(s.hidden), [&](const Expr& j) {
    const Indices at = {s.batch, j};
    const Expr old = s.cell(at);
    const tir::VarPtr in = tir::MakeVar("in", old->dtype);
    const tir::VarPtr cell = tir::MakeVar("cell", old->dtype);
    const Expr in_value = s.Activate(0, peephole(0, j, old));
    const Expr forget = coupled ? MakeConst(old->dtype, 1) - Expr(in)
                                : s.Activate(0, peephole(2, j, old));
    const Expr cell_value =
        forget * old + Expr(in) * s.Activate(1, s.Gate(3, j));
    const Expr out = s.Activate(0, peephole(1, j, cell));
    const Expr h = out * s.Activate(2, cell);
    return tir::MakeLet(
        in, in_value,
        tir::MakeLet(cell, cell_value,
                     tir::MakeSeq({MakeStore(s.h.buffer, at, h),
                                   MakeStore(s.cell.buffer, at, cell),
                                   MakeStore(s.y.buffer, {s.time, s.batch, j},
                                             s.h(at))})));
  });
  return tir::MakeSeq({CopyGates(s), s.AddRecurrent(s.State(), 0, 4), update});
}

// Gates z, r, h. rb: the recurrent bias of gate h alone, used where the reset
// gate applies after the product (linear_before_reset).
Stmt GruStep(const Step& s) {
  constexpr int kRecurrentBias = kLengths + 1;
  const bool after = s.c.attrs.Get<int64_t>("linear_before_reset") != 0;
  auto units = [&](const std::function<Stmt(const Expr&)>& body) {
    return Loop("j", I64(s.hidden), body);
  };
  auto bias = [&](const Expr& j) {
    return s.c.has(kRecurrentBias) ? s.c.inputs[kRecurrentBias]({j})
                                   : MakeConst(s.gates.dtype(), 0);
  };
  std::vector<Stmt> stmts = {CopyGates(s)};
  if (after) {
    // Gate h collects only the recurrent part here; its input joins below.
    stmts.push_back(
        units([&](const Expr& j) { return s.SetGate(2, j, bias(j)); }));
    stmts.push_back(s.AddRecurrent(s.State(), 0, 3));
    stmts.push_back(units([&](const Expr& j) {
      const Expr input =
          s.c.inputs[kGates]({s.time, s.batch, I64(2 * s.hidden) + j});
      return s.SetGate(2, j,
                       input + s.Activate(0, s.Gate(1, j)) * s.Gate(2, j));
    }));
  } else {
    stmts.push_back(s.AddRecurrent(s.State(), 0, 2));
    // y holds r * h until the step's result takes its place.
    stmts.push_back(units([&](const Expr& j) {
      return MakeStore(s.y.buffer, {s.time, s.batch, j},
                       s.Activate(0, s.Gate(1, j)) * s.h({s.batch, j}));
    }));
    stmts.push_back(units([&](const Expr& j) {
      return s.SetGate(2, j, s.Gate(2, j) + bias(j));
    }));
    const Element reset = [&](const Expr& k) {
      return s.y({s.time, s.batch, k});
    };
    stmts.push_back(s.AddRecurrent(reset, 2, 3));
  }
  stmts.push_back(units([&](const Expr& j) {
    const Indices at = {s.batch, j};
    const tir::VarPtr z = tir::MakeVar("z", s.gates.dtype());
    const Expr h =
        (MakeConst(z->dtype, 1) - Expr(z)) * s.Activate(1, s.Gate(2, j)) +
        Expr(z) * s.h(at);
    return tir::MakeLet(
        z, s.Activate(0, s.Gate(0, j)),
        tir::MakeSeq({MakeStore(s.h.buffer, at, h),
                      MakeStore(s.y.buffer, {s.time, s.batch, j}, s.h(at))}));
  }));
  return tir::MakeSeq(stmts);
}

Stmt RnnStep(const Step& s) {
  return tir::MakeSeq(
      {CopyGates(s), s.AddRecurrent(s.State(), 0, 1),
       Loop("j", I64(s.hidden), [&](const Expr& j) {
         const Indices at = {s.batch, j};
         return tir::MakeSeq(
             {MakeStore(s.h.buffer, at, s.Activate(0, s.Gate(0, j))),
              MakeStore(s.y.buffer, {s.time, s.batch, j}, s.h(at))});
       })});
}

OpDef Recurrent(const Kind& kind, absl::string_view doc, StepFn step) {
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
