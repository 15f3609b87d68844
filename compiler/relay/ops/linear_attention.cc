// Linear attention: a state for each head, which every step updates and reads.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeConst;
using tir::MakeStore;
using tir::Stmt;

enum Operand { kQuery, kKey, kValue, kState, kDecay, kBeta };

// Extents, but for those of batches and steps.
struct Sizes {
  int64_t q_heads = 0, heads = 0;  // heads: those of keys and values
  int64_t key = 0, value = 0;      // of one head
  bool decay_by_key = false;       // or one a head
  bool beta_by_head = false;       // or one a step

  int64_t group() const { return q_heads / heads; }
};

Expr Mul(const Expr& a, int64_t b) { return a * I64(b); }

absl::StatusOr<Sizes> ReadSizes(const Attrs& attrs, const Shape& q,
                                const Shape& v, const Shape* decay,
                                const Shape* beta) {
  Sizes n;
  n.q_heads = attrs.Get<int64_t>("query_heads");
  n.heads = attrs.Get<int64_t>("heads");
  int64_t width;
  if (n.heads < 1 || n.q_heads < 1 || n.q_heads % n.heads != 0) {
    return Invalid(n.q_heads, " heads of queries for ", n.heads, " of keys");
  }
  if (!ConstDim(q[2], &width) || width % n.q_heads != 0) {
    return Invalid("queries are not of ", n.q_heads, " heads");
  }
  n.key = width / n.q_heads;
  if (!ConstDim(v[2], &width) || width % n.heads != 0) {
    return Invalid("values are not of ", n.heads, " heads");
  }
  n.value = width / n.heads;
  if (decay != nullptr) {
    n.decay_by_key = SameDim((*decay)[2], I64(n.heads * n.key));
    if (!n.decay_by_key && !SameDim((*decay)[2], I64(n.heads))) {
      return Invalid("decays are neither one a key's element nor one a head");
    }
  }
  if (beta != nullptr) {
    n.beta_by_head = SameDim((*beta)[2], I64(n.heads));
    if (!n.beta_by_head && !SameDim((*beta)[2], I64(1))) {
      return Invalid("betas are neither one a head nor one a step");
    }
  }
  return n;
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType& q = c.type(kQuery);
  INGOT_RETURN_IF_ERROR(ExpectFloat(q, "the queries"));
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    if (!c.has(i)) continue;
    INGOT_RETURN_IF_ERROR(
        ExpectRank(c.type(i), i == kState ? 4 : 3, "an operand"));
    INGOT_RETURN_IF_ERROR(ExpectSameType(q, c.type(i)));
    for (int d = 0; d < (i == kState ? 1 : 2); ++d) {
      if (!MayBeEqual(c.type(i).shape[d], q.shape[d], c.assumed)) {
        return Invalid("operand ", i, " is ", ToString(c.type(i)),
                       ", and the queries are ", ToString(q));
      }
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      const Sizes n, ReadSizes(c.attrs, q.shape, c.type(kValue).shape,
                               c.has(kDecay) ? &c.type(kDecay).shape : nullptr,
                               c.has(kBeta) ? &c.type(kBeta).shape : nullptr));
  const Shape state = {q.shape[0], I64(n.heads), I64(n.key), I64(n.value)};
  for (int d = 1; d < 4; ++d) {
    if (!MayBeEqual(c.type(kState).shape[d], state[d], c.assumed)) {
      return Invalid("the state is ", ToString(c.type(kState)), ", not ",
                     ToString(TensorType{q.dtype, state}));
    }
  }
  if (!MayBeEqual(c.type(kKey).shape[2], I64(n.heads * n.key), c.assumed)) {
    return Invalid("keys are ", ToString(c.type(kKey)), ", ", n.heads,
                   " heads of queries that are ", ToString(q));
  }
  return Types{{q.dtype, {q.shape[0], q.shape[1], I64(n.q_heads * n.value)}},
               {q.dtype, state}};
}

// One step of one head. The inner loops run along the state's rows, which is
// along memory.
struct Step {
  const ComputeContext& c;
  const Sizes& n;
  te::Tensor y, state, change;  // change: [b, heads, value], scratch
  Expr batch, head, time;

  Stmt Rows(const std::function<Stmt(const Expr&)>& body) const {
    return Loop("i", I64(n.key), body);
  }
  Stmt Columns(const std::function<Stmt(const Expr&)>& body) const {
    return Loop("j", I64(n.value), body);
  }
  Expr At(Operand operand, const Expr& place) const {
    return c.inputs[operand]({batch, time, place});
  }
  Expr Key(const Expr& i) const { return At(kKey, Mul(head, n.key) + i); }
  Expr State(const Expr& i, const Expr& j) const {
    return state({batch, head, i, j});
  }
  Stmt SetState(const Expr& i, const Expr& j, const Expr& value) const {
    return MakeStore(state.buffer, {batch, head, i, j}, value);
  }
  Expr Change(const Expr& j) const { return change({batch, head, j}); }
  Stmt SetChange(const Expr& j, const Expr& value) const {
    return MakeStore(change.buffer, {batch, head, j}, value);
  }
  // The heads of queries that share this head.
  Stmt Members(const std::function<Stmt(const Expr& q_head)>& body) const {
    return Loop("m", I64(n.group()),
                [&](const Expr& m) { return body(Mul(head, n.group()) + m); });
  }
  Indices Result(const Expr& q_head, const Expr& j) const {
    return {batch, time, Mul(q_head, n.value) + j};
  }

  // state *= exp(decay)
  Stmt Decay() const {
    return Rows([&](const Expr& i) {
      const Expr place = n.decay_by_key ? Mul(head, n.key) + i : head;
      const tir::VarPtr factor = tir::MakeVar("factor", state.dtype());
      return tir::MakeLet(factor,
                          MakeCall(Intrinsic::kExp, {At(kDecay, place)}),
                          Columns([&](const Expr& j) {
                            return SetState(i, j, State(i, j) * Expr(factor));
                          }));
    });
  }
  // change = value, or with betas: beta * (value - state^T key)
  Stmt FindChange() const {
    auto value = [&](const Expr& j) {
      return At(kValue, Mul(head, n.value) + j);
    };
    if (!c.has(kBeta)) {
      return Columns([&](const Expr& j) { return SetChange(j, value(j)); });
    }
    const Expr beta = At(kBeta, n.beta_by_head ? head : I64(0));
    return tir::MakeSeq({Columns([&](const Expr& j) {
                           return SetChange(j, MakeConst(state.dtype(), 0));
                         }),
                         Rows([&](const Expr& i) {
                           return Columns([&](const Expr& j) {
                             return SetChange(
                                 j, MakeCall(Intrinsic::kMulAdd,
                                             {Key(i), State(i, j), Change(j)}));
                           });
                         }),
                         Columns([&](const Expr& j) {
                           return SetChange(j, beta * (value(j) - Change(j)));
                         })});
  }
  // state += key * change; y = scale * query state
  Stmt UpdateAndRead() const {
    const Expr scale = MakeConst(y.dtype(), c.attrs.Get<double>("scale"));
    const Stmt clear = Members([&](const Expr& q_head) {
      return Columns([&](const Expr& j) {
        return MakeStore(y.buffer, Result(q_head, j), MakeConst(y.dtype(), 0));
      });
    });
    return tir::MakeSeq(
        {clear, Rows([&](const Expr& i) {
           const Stmt update = Columns([&](const Expr& j) {
             return SetState(i, j,
                             MakeCall(Intrinsic::kMulAdd,
                                      {Key(i), Change(j), State(i, j)}));
           });
           const Stmt read = Members([&](const Expr& q_head) {
             const Expr q = At(kQuery, Mul(q_head, n.key) + i) * scale;
             return Columns([&](const Expr& j) {
               const Indices at = Result(q_head, j);
               return MakeStore(
                   y.buffer, at,
                   MakeCall(Intrinsic::kMulAdd, {q, State(i, j), y(at)}));
             });
           });
           return tir::MakeSeq({update, read});
         })});
  }
};

// Each head of each batch has a state of its own, so that none waits for
// another.
Stmt InParallel(
    const Expr& batches, int64_t heads,
    const std::function<Stmt(const Expr& batch, const Expr& head)>& body) {
  return Loop(
      "h", Mul(batches, heads),
      [&](const Expr& place) {
        return body(place / I64(heads), place % I64(heads));
      },
      tir::ForKind::kParallel);
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  INGOT_ASSIGN_OR_RETURN(
      const Sizes n,
      ReadSizes(c.attrs, c.inputs[kQuery].shape(), c.inputs[kValue].shape(),
                c.has(kDecay) ? &c.inputs[kDecay].shape() : nullptr,
                c.has(kBeta) ? &c.inputs[kBeta].shape() : nullptr));
  const DataType t = c.inputs[kQuery].dtype();
  const Shape state = c.outputs[1].shape;
  std::vector<te::Tensor> inputs;
  for (const te::Tensor& in : c.inputs) {
    if (in.buffer != nullptr) inputs.push_back(in);
  }
  // The last result is scratch that nobody reads.
  Tensors out = c.graph.Extern(
      c.name, {c.outputs[0].shape, state, {state[0], state[1], I64(n.value)}},
      {t, t, t}, inputs, [&](absl::Span<const te::Tensor> results) {
        return InParallel(state[0], n.heads, [&](const Expr& b, const Expr& h) {
          Step step{c, n, results[0], results[1], results[2], b, h, {}};
          const Shape own = {state[2], state[3]};
          const Stmt start = LoopNest(own, "s", [&](const Indices& i) {
            return step.SetState(i[0], i[1],
                                 c.inputs[kState]({b, h, i[0], i[1]}));
          });
          const Stmt run =
              Loop("t", c.outputs[0].shape[1], [&](const Expr& time) {
                step.time = time;
                std::vector<Stmt> stmts;
                if (c.has(kDecay)) stmts.push_back(step.Decay());
                stmts.push_back(step.FindChange());
                stmts.push_back(step.UpdateAndRead());
                return tir::MakeSeq(stmts);
              });
          return tir::MakeSeq({start, run});
        });
      });
  out.pop_back();
  return out;
}

}  // namespace

absl::Status RegisterLinearAttention(OpRegistry* registry) {
  OpDef def;
  def.name = "linear_attention";
  def.doc =
      "for each step s = exp(decay) s + key change, y = scale query s, where "
      "change is the value or, with betas, beta (value - exp(decay) s key); "
      "operands queries[b, t, q * k], keys[b, t, h * k], values[b, t, h * v], "
      "s[b, h, k, v], decays[b, t, h * k or h]?, betas[b, t, h or 1]?; results "
      "y[b, t, q * v], s";
  def.min_inputs = 4;
  def.max_inputs = 6;
  def.attrs = {IntAttr("query_heads", "q, a multiple of h", kRequired),
               IntAttr("heads", "h, those of keys and values", kRequired),
               FloatAttr("scale", "of the results", 1)};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
