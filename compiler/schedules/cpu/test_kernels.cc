#include "compiler/schedules/cpu/test_kernels.h"

#include <map>
#include <string>
#include <utility>

#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

using Tags = std::map<std::string, std::string>;

}  // namespace

Tensor Relu(Graph* g, const Tensor& x) {
  return g->Compute("relu", x.shape(),
                    [&](auto& i) { return tir::Max(x(i), F(0)); });
}

Tensor Pad(Graph* g, const Tensor& x, int64_t pad, int64_t more) {
  std::vector<Expr> shape = x.shape();
  shape[2] = shape[2] + (2 * pad + more);
  shape[3] = shape[3] + (2 * pad + more);
  return g->Compute(
      "pad", shape,
      [&](auto& i) {
        Expr inside = tir::And(
            tir::And(tir::Ge(i[2], I(pad)), tir::Lt(i[2], x.shape()[2] + pad)),
            tir::And(tir::Ge(i[3], I(pad)), tir::Lt(i[3], x.shape()[3] + pad)));
        Indices at = i;
        at[2] = at[2] - pad;
        at[3] = at[3] - pad;
        return tir::MakeSelect(inside, x(at), F(0));
      },
      Tags{{kPad, "1"}});
}

Kernel Product(const MatmulSize& s, bool transposed) {
  Kernel k;
  Graph& g = k.graph;
  Tensor a = g.Placeholder("a", kF32, ConstShape({s.batch, s.m, s.k}));
  Tensor b = g.Placeholder(
      "b", kF32, transposed ? ConstShape({s.n, s.k}) : ConstShape({s.k, s.n}));
  auto shape = ConstShape({s.batch, s.m, s.n});
  Tensor c = g.Reduce(
      "c", shape, {I(s.k)}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        return a({i[0], i[1], r[0]}) *
               (transposed ? b({i[2], r[0]}) : b({r[0], i[2]}));
      },
      Tags{{kAnchor, kMatmul}});
  Tensor bias = g.Placeholder("bias", kF32, ConstShape({s.n}));
  Tensor d =
      g.Compute("d", shape, [&](auto& i) { return c(i) + bias({i[2]}); });
  k.inputs = {a, b, bias};
  k.outputs = {Relu(&g, d)};
  return k;
}

Kernel PackedProduct(const MatmulSize& s, int64_t nr) {
  Kernel k;
  Graph& g = k.graph;
  Tensor a = g.Placeholder("a", kF32, ConstShape({s.batch, s.m, s.k}));
  Tensor w =
      g.Placeholder("w", kF32, ConstShape({(s.n + nr - 1) / nr, s.k, nr}));
  Tensor c = g.Reduce(
      "c", ConstShape({s.batch, s.m, s.n}), {I(s.k)}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        return a({i[0], i[1], r[0]}) * w({i[2] / I(nr), r[0], i[2] % I(nr)});
      },
      Tags{{kAnchor, kDensePacked}});
  k.inputs = {a, w};
  k.outputs = {Relu(&g, c)};
  return k;
}

Kernel BlockedConv(const ConvSize& s, int64_t b, Expr batch, Expr height,
                   Expr width) {
  Kernel k;
  Graph& g = k.graph;
  const int64_t icb = s.ic / b / s.groups, ocb = s.oc / b;
  Tensor x =
      g.Placeholder("x", kF32, {batch, I(s.ic / b), height, width, I(b)});
  Tensor w = g.Placeholder("w", kF32,
                           ConstShape({ocb, icb, s.kernel, s.kernel, b, b}));
  Tensor bias = g.Placeholder("bias", kF32, ConstShape({ocb, b}));
  Tensor y = s.pad > 0 ? Pad(&g, x, s.pad, s.more_pad) : x;
  std::vector<Expr> shape = {batch, I(ocb), s.Places(height), s.Places(width),
                             I(b)};
  Tags tags = {{kAnchor, kConv2dNchwc}};
  if (s.groups > 1) tags[kGroupChannels] = std::to_string(s.oc / s.groups);
  Tensor c = g.Reduce(
      "c", shape, ConstShape({icb, s.kernel, s.kernel, b}), Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        Expr channel = i[1] / I(ocb / s.groups) * icb + r[0];
        return y({i[0], channel, i[2] * s.stride + r[1] * s.dilation,
                  i[3] * s.stride + r[2] * s.dilation, r[3]}) *
               w({i[1], r[0], r[1], r[2], r[3], i[4]});
      },
      tags);
  Tensor residual = g.Placeholder("residual", kF32, shape);
  Tensor d = g.Compute("d", shape, [&](auto& i) {
    return c(i) + bias({i[1], i[4]}) + residual(i);
  });
  k.inputs = {x, w, bias, residual};
  k.outputs = {Relu(&g, d)};
  return k;
}

Kernel BlockedConv(const ConvSize& s, int64_t b, Expr batch, Expr height) {
  return BlockedConv(s, b, std::move(batch), std::move(height), I(s.size));
}

Kernel PlainDataConv(const ConvSize& s, bool blocked) {
  Kernel k;
  Graph& g = k.graph;
  const int64_t b = 8, out = (s.size + 2 - 3) / s.stride + 1;
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups;
  Tensor x = g.Placeholder("x", kF32, ConstShape({s.n, s.ic, s.size, s.size}));
  Tensor y = Pad(&g, x, 1);
  Tensor w = g.Placeholder("w", kF32,
                           blocked ? ConstShape({s.oc / b, s.ic, 3, 3, b})
                                   : ConstShape({s.oc, ic, 3, 3}));
  Tags tags = {{kAnchor, blocked ? kConv2dNchwc : kConv2dNchw}};
  if (s.groups > 1) tags[kGroupChannels] = std::to_string(oc);
  auto shape = blocked ? ConstShape({s.n, s.oc / b, out, out, b})
                       : ConstShape({s.n, s.oc, out, out});
  Tensor c = g.Reduce(
      "c", shape, ConstShape({ic, 3, 3}), Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        const Expr channel =
            s.groups > 1 ? i[1] / I(oc) * ic + r[0] : Expr(r[0]);
        Expr weight = blocked ? w({i[1], r[0], r[1], r[2], i[4]})
                              : w({i[1], r[0], r[1], r[2]});
        return y({i[0], channel, i[2] * s.stride + r[1],
                  i[3] * s.stride + r[2]}) *
               weight;
      },
      tags);
  k.inputs = {x, w};
  k.outputs = {Relu(&g, c)};
  return k;
}

Kernel BlockedWindow(const ConvSize& s, bool pool, Expr height, Expr width) {
  Kernel k;
  Graph& g = k.graph;
  const int64_t b = 8;
  Tensor x =
      g.Placeholder("x", kF32, {I(s.n), I(s.ic / b), height, width, I(b)});
  Tensor w =
      g.Placeholder("w", kF32, ConstShape({s.ic / b, s.kernel, s.kernel, b}));
  Tensor y = s.pad > 0 ? Pad(&g, x, s.pad, s.more_pad) : x;
  Tensor c = g.Reduce(
      "c", {I(s.n), I(s.ic / b), s.Places(height), s.Places(width), I(b)},
      ConstShape({s.kernel, s.kernel}),
      pool ? Reducer::Max(kF32) : Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        Expr v = y({i[0], i[1], i[2] * s.stride + r[0] * s.dilation,
                    i[3] * s.stride + r[1] * s.dilation, i[4]});
        return pool ? v : v * w({i[1], r[0], r[1], i[4]});
      },
      Tags{{kAnchor, pool ? kPool2d : kDepthwiseNchwc}});
  k.inputs = {x, w};
  k.outputs = {pool ? c : Relu(&g, c)};
  return k;
}

Kernel BlockedWindow(const ConvSize& s, bool pool) {
  return BlockedWindow(s, pool, I(s.size), I(s.size));
}

Kernel Softmax(const std::vector<Expr>& shape, int axis) {
  Kernel k;
  Graph& g = k.graph;
  Tensor x = g.Placeholder("x", kF32, shape);
  std::vector<Expr> kept = shape;
  kept[axis] = I(1);
  Tags tags{{kAnchor, kSoftmax}};
  auto at = [&](const Indices& i, Expr r) {
    Indices result = i;
    result[axis] = r;
    return result;
  };
  Tensor m = g.Reduce(
      "max", kept, {shape[axis]}, Reducer::Max(kF32),
      [&](auto& i, auto& r) { return x(at(i, r[0])); }, tags);
  Tensor e = g.Compute(
      "exp", shape,
      [&](auto& i) {
        return tir::MakeCall(tir::Intrinsic::kExp, {x(i) - m(at(i, I(0)))});
      },
      tags);
  Tensor s = g.Reduce(
      "sum", kept, {shape[axis]}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) { return e(at(i, r[0])); }, tags);
  k.inputs = {x};
  k.outputs = {g.Compute(
      "out", shape, [&](auto& i) { return e(i) / s(at(i, I(0))); }, tags)};
  return k;
}

}  // namespace ingot::te::cpu
