// Optimizers: one update of trained tensors (ai.onnx.preview.training).
#include <string>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

constexpr char kDomain[] = "ai.onnx.preview.training";

// The operands: a rate, an update count, then for each of `kinds` kinds of
// tensors (values, gradients, histories) as many as there are trained tensors.
struct Operands {
  Value rate, count;
  std::vector<std::vector<Value>> kinds;
  size_t trained() const { return kinds[0].size(); }
};

absl::StatusOr<Operands> ReadOperands(NodeContext& c, int kinds) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  if (in.size() < 3 || (in.size() - 2) % kinds != 0) {
    return c.Error("has ", in.size(), " inputs: not a rate, a count and ",
                   kinds, " for each tensor");
  }
  Operands operands{in[0], in[1], {}};
  const size_t n = (in.size() - 2) / kinds;
  for (int k = 0; k < kinds; ++k) {
    const auto first = in.begin() + 2 + static_cast<std::ptrdiff_t>(k * n);
    operands.kinds.emplace_back(first, first + static_cast<std::ptrdiff_t>(n));
  }
  return operands;
}

// g + norm * x: the gradient with that of norm / 2 * |x|^2.
Value Regularized(Compose& k, NodeContext& c, Value x, Value g) {
  const double norm = c.Float("norm_coefficient", 0);
  return norm == 0 ? g : k.Add(k.Mul(x, norm), g);
}

// count > 0 ? a : b, of scalars.
Value IfCounted(Compose& k, Value count, Value a, Value b) {
  const Value counted = k.Call("greater", {count, k.Like(count, 0)});
  return k.Call("where", {counted, a, b});
}

// r = R / (1 + T * decay); h' = h + g²; x' = x - r g / (sqrt(h') + epsilon).
absl::Status Adagrad(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Operands in, ReadOperands(c, 3));
  Compose k(c);
  const Value count = k.Cast(in.count, in.rate.type().dtype);
  const Value rate =
      k.Div(in.rate, k.Add(k.Mul(count, c.Float("decay_factor", 0)), 1));
  for (size_t i = 0; i < in.trained(); ++i) {
    const Value x = in.kinds[0][i];
    const Value g = Regularized(k, c, x, in.kinds[1][i]);
    const Value h = k.Add(in.kinds[2][i], k.Mul(g, g));
    const Value root = k.Add(k.Call("sqrt", {h}), c.Float("epsilon", 0));
    c.SetOutput(i, k.Sub(x, k.Div(k.Mul(rate, g), root)));
    c.SetOutput(in.trained() + i, h);
  }
  return k.status();
}

// v' = a v + (1 - a) g; h' = b h + (1 - b) g²; x' = x - r v' / (sqrt(h') +
// epsilon), where r corrects for the first updates.
absl::Status Adam(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Operands in, ReadOperands(c, 4));
  Compose k(c);
  const double alpha = c.Float("alpha", 0.9), beta = c.Float("beta", 0.999);
  const Value count = k.Cast(in.count, in.rate.type().dtype);
  // 1 - base^T
  auto rest = [&](double base) {
    const Value power = k.Call("pow", {k.Like(count, base), count});
    return k.Sub(k.Like(count, 1), power);
  };
  const Value corrected =
      k.Div(k.Mul(in.rate, k.Call("sqrt", {rest(beta)})), rest(alpha));
  const Value rate = IfCounted(k, in.count, corrected, in.rate);
  const size_t n = in.trained();
  for (size_t i = 0; i < n; ++i) {
    const Value x = in.kinds[0][i];
    const Value g = Regularized(k, c, x, in.kinds[1][i]);
    const Value v = k.Add(k.Mul(in.kinds[2][i], alpha), k.Mul(g, 1 - alpha));
    const Value h =
        k.Add(k.Mul(in.kinds[3][i], beta), k.Mul(k.Mul(g, g), 1 - beta));
    const Value root = k.Add(k.Call("sqrt", {h}), c.Float("epsilon", 0));
    const Value next = k.Sub(x, k.Div(k.Mul(rate, v), root));
    c.SetOutput(i, k.Mul(next, 1 - c.Float("norm_coefficient_post", 0)));
    c.SetOutput(n + i, v);
    c.SetOutput(2 * n + i, h);
  }
  return k.status();
}

// v' = a v + b g, b being 1 at the first update; x' = x - R v', or with
// Nesterov's momentum x - R (g + a v').
absl::Status Momentum(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Operands in, ReadOperands(c, 3));
  const std::string mode = c.String("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    return c.Error("there is no mode '", mode, "'");
  }
  Compose k(c);
  const double alpha = c.Float("alpha", 0);
  const Value beta = IfCounted(k, in.count, k.Like(in.rate, c.Float("beta", 0)),
                               k.Like(in.rate, 1));
  for (size_t i = 0; i < in.trained(); ++i) {
    const Value x = in.kinds[0][i];
    const Value g = Regularized(k, c, x, in.kinds[1][i]);
    const Value v = k.Add(k.Mul(in.kinds[2][i], alpha), k.Mul(beta, g));
    const Value step = mode == "standard" ? v : k.Add(g, k.Mul(v, alpha));
    c.SetOutput(i, k.Sub(x, k.Mul(in.rate, step)));
    c.SetOutput(in.trained() + i, v);
  }
  return k.status();
}

}  // namespace

void AddTrainingConverters(ConverterTable* t) {
  t->Add("Adagrad", 1, &Adagrad, kDomain);
  t->Add("Adam", 1, &Adam, kDomain);
  t->Add("Momentum", 1, &Momentum, kDomain);
}

}  // namespace ingot::onnx_frontend
