#include "compiler/relay/ops/activation.h"

#include <string>

#include "absl/strings/ascii.h"

namespace ingot::relay::ops {

using tir::Expr;
using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeConst;
using tir::MakeSelect;

bool IsActivation(absl::string_view name) {
  static constexpr absl::string_view kKnown[] = {
      "relu",     "tanh",        "sigmoid",         "affine",
      "elu",      "leakyrelu",   "thresholdedrelu", "scaledtanh",
      "softsign", "hardsigmoid", "softplus"};
  const std::string lower = absl::AsciiStrToLower(name);
  for (absl::string_view known : kKnown) {
    if (lower == known) return true;
  }
  return false;
}

Expr Activation(absl::string_view name, const Expr& x,
                std::optional<double> alpha, std::optional<double> beta) {
  const std::string f = absl::AsciiStrToLower(name);
  auto c = [&](double v) { return MakeConst(x->dtype, v); };
  auto exp = [&](const Expr& e) { return MakeCall(Intrinsic::kExp, {e}); };
  auto tanh = [&](const Expr& e) { return MakeCall(Intrinsic::kTanh, {e}); };
  const Expr zero = c(0), one = c(1);
  if (f == "relu") return Max(zero, x);
  if (f == "tanh") return tanh(x);
  if (f == "sigmoid") return one / (one + exp(-x));
  if (f == "affine") return c(alpha.value_or(1)) * x + c(beta.value_or(0));
  if (f == "elu") {
    return MakeSelect(Lt(x, zero), c(alpha.value_or(1)) * (exp(x) - one), x);
  }
  if (f == "leakyrelu") {
    return MakeSelect(Lt(x, zero), c(alpha.value_or(0.01)) * x, x);
  }
  if (f == "thresholdedrelu") {
    return MakeSelect(Ge(x, c(alpha.value_or(1))), x, zero);
  }
  if (f == "scaledtanh") {
    return c(alpha.value_or(1)) * tanh(c(beta.value_or(1)) * x);
  }
  const Expr magnitude = MakeCall(Intrinsic::kAbs, {x});
  if (f == "softsign") return x / (one + magnitude);
  if (f == "hardsigmoid") {
    return Min(one,
               Max(zero, c(alpha.value_or(0.2)) * x + c(beta.value_or(0.5))));
  }
  return Max(x, zero) +
         MakeCall(Intrinsic::kLog, {one + exp(-magnitude)});  // softplus
}

}  // namespace ingot::relay::ops
