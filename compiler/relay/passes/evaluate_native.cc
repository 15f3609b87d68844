// Short cuts for constants: what moves elements is a strided copy; arithmetic
// on f32 and i64 is a loop over a broadcast.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/evaluate.h"
#include "compiler/relay/passes/strided.h"
#include "compiler/status_macros.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Tensor> Zeros(DataType dtype, absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  std::memset(tensor.mutable_raw_data(), 0, tensor.bytes());
  return tensor;
}

// Strides with which `from` is read for each point of the broadcast to `to`.
Ints BroadcastStrides(absl::Span<const int64_t> from,
                      absl::Span<const int64_t> to) {
  const Ints dense = DenseStrides(from);
  Ints strides(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[missing + d] = dense[d];
  }
  return strides;
}

absl::StatusOr<Tensor> Gather(const Tensor& x, int64_t offset,
                              const Ints& strides,
                              absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(x.dtype(), shape));
  const size_t element = x.dtype().bytes();
  CopyStrided(static_cast<const char*>(x.raw_data()) + offset * element,
              strides, y.mutable_raw_data(), DenseStrides(shape), shape,
              element);
  return y;
}

// ------------------------------------------------------------- moving elements

absl::StatusOr<std::optional<Tensor>> Transpose(
    const Node& node, const Tensor& x, absl::Span<const int64_t> shape) {
  const Ints& axes = node.attrs.Get<Ints>("axes");
  const Ints dense = DenseStrides(x.shape());
  Ints strides;
  for (int64_t axis : axes) strides.push_back(dense[axis]);
  return Gather(x, 0, strides, shape);
}

absl::StatusOr<std::optional<Tensor>> Slice(const Node& node, const Tensor& x,
                                            absl::Span<const int64_t> shape) {
  const auto starts = ConstShape(node.attrs.Get<Shape>("starts"));
  if (!starts) return std::nullopt;
  const Ints& axes = node.attrs.Get<Ints>("axes");
  const Ints steps = node.attrs.GetOr<Ints>("steps", Ints(axes.size(), 1));
  Ints strides = DenseStrides(x.shape());
  int64_t offset = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    // An empty result may start outside; nothing is read then.
    if (shape[axes[k]] == 0) continue;
    offset += (*starts)[k] * strides[axes[k]];
    strides[axes[k]] *= steps[k];
  }
  return Gather(x, offset, strides, shape);
}

absl::StatusOr<std::optional<Tensor>> Concat(absl::Span<const Tensor> operands,
                                             int64_t axis,
                                             absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(operands[0].dtype(), shape));
  const size_t element = y.dtype().bytes();
  const Ints strides = DenseStrides(shape);
  auto* to = static_cast<char*>(y.mutable_raw_data());
  for (const Tensor& x : operands) {
    CopyStrided(x.raw_data(), DenseStrides(x.shape()), to, strides, x.shape(),
                element);
    to += x.shape()[axis] * strides[axis] * element;
  }
  return y;
}

absl::StatusOr<std::optional<Tensor>> Pad(const Node& node, const Tensor& x,
                                          absl::Span<const int64_t> shape) {
  const Ints& pads = node.attrs.Get<Ints>("pads");
  if (node.attrs.GetOr<std::string>("mode", "constant") != "constant" ||
      node.attrs.GetOr<double>("value", 0) != 0 ||
      std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; })) {
    return std::nullopt;
  }
  INGOT_ASSIGN_OR_RETURN(Tensor y, Zeros(x.dtype(), shape));
  const Ints strides = DenseStrides(shape);
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) offset += pads[d] * strides[d];
  CopyStrided(
      x.raw_data(), DenseStrides(x.shape()),
      static_cast<char*>(y.mutable_raw_data()) + offset * x.dtype().bytes(),
      strides, x.shape(), x.dtype().bytes());
  return y;
}

struct LayoutDim {
  char axis;
  int64_t block;  // 0: the whole axis
};

// The text has been checked by type inference.
std::vector<LayoutDim> ParseLayout(absl::string_view text) {
  std::vector<LayoutDim> dims;
  int64_t number = 0;
  for (char c : text) {
    if (absl::ascii_isdigit(c)) {
      number = number * 10 + (c - '0');
    } else {
      dims.push_back({static_cast<char>(absl::ascii_toupper(c)), number});
      number = 0;
    }
  }
  return dims;
}

std::map<char, int64_t> Blocks(const std::vector<LayoutDim>& dims) {
  std::map<char, int64_t> blocks;
  for (const LayoutDim& d : dims) {
    blocks[d.axis] = std::max<int64_t>(blocks[d.axis], 1);
    if (d.block > 0) blocks[d.axis] = d.block;
  }
  return blocks;
}

// By way of the plain axes in alphabetical order, zero-padded to whole blocks
// of both sides where that is needed.
absl::StatusOr<std::optional<Tensor>> LayoutTransform(
    const Node& node, const Tensor& x, absl::Span<const int64_t> shape) {
  const auto from = ParseLayout(node.attrs.Get<std::string>("src"));
  const auto to = ParseLayout(node.attrs.Get<std::string>("dst"));
  std::map<char, int64_t> from_block = Blocks(from), to_block = Blocks(to);
  std::map<char, int64_t> from_extent, to_extent;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d].block == 0) {
      from_extent[from[d].axis] = x.shape()[d] * from_block[from[d].axis];
    }
  }
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d].block == 0) {
      to_extent[to[d].axis] = shape[d] * to_block[to[d].axis];
    }
  }

  const Ints from_strides = DenseStrides(x.shape());
  const Ints to_strides = DenseStrides(shape);
  auto stride = [](const std::vector<LayoutDim>& dims, const Ints& strides,
                   char axis, bool block) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].axis == axis && (dims[d].block > 0) == block) {
        return strides[d];
      }
    }
    return int64_t{0};
  };
  INGOT_ASSIGN_OR_RETURN(Tensor y, Zeros(x.dtype(), shape));
  struct Piece {
    Ints dims, from, to;
    int64_t from_at = 0, to_at = 0;
  };
  std::vector<Piece> pieces(1);
  auto each = [&](int64_t extent, int64_t f, int64_t t) {
    for (Piece& p : pieces) {
      p.dims.push_back(extent);
      p.from.push_back(f);
      p.to.push_back(t);
    }
  };
  // In the order of the result, so that it is written in order.
  for (const LayoutDim& dim : to) {
    if (dim.block > 0) continue;
    const char a = dim.axis;
    const int64_t n = std::min(from_extent[a], to_extent[a]);
    const int64_t fb = from_block[a], tb = to_block[a];
    const int64_t f_outer = stride(from, from_strides, a, false);
    const int64_t t_outer = stride(to, to_strides, a, false);
    const int64_t f_inner = fb > 1 ? stride(from, from_strides, a, true) : 0;
    const int64_t t_inner = tb > 1 ? stride(to, to_strides, a, true) : 0;
    if (fb > 1 && tb > 1 && fb != tb) return std::nullopt;
    const int64_t b = std::max(fb, tb);
    if (b == 1) {
      each(n, f_outer, t_outer);
      continue;
    }
    const int64_t fi = fb > 1 ? f_inner : f_outer;
    const int64_t fo = fb > 1 ? f_outer : f_outer * b;
    const int64_t ti = tb > 1 ? t_inner : t_outer;
    const int64_t to_step = tb > 1 ? t_outer : t_outer * b;
    std::vector<Piece> rest;
    if (n % b != 0) {
      rest = pieces;
      for (Piece& p : rest) {
        p.from_at += n / b * fo;
        p.to_at += n / b * to_step;
        p.dims.push_back(1);
        p.from.push_back(0);
        p.to.push_back(0);
        p.dims.push_back(n % b);
        p.from.push_back(fi);
        p.to.push_back(ti);
      }
    }
    each(n / b, fo, to_step);
    each(b, fi, ti);
    pieces.insert(pieces.end(), rest.begin(), rest.end());
  }
  const size_t element = x.dtype().bytes();
  for (const Piece& p : pieces) {
    CopyStrided(static_cast<const char*>(x.raw_data()) + p.from_at * element,
                p.from,
                static_cast<char*>(y.mutable_raw_data()) + p.to_at * element,
                p.to, p.dims, element);
  }
  return y;
}

// ------------------------------------------------------------------ arithmetic

// y[i] = fn(a[i * a_stride], b[i * b_stride]) over the innermost dimension,
// for every point of the others.
template <typename T, typename F>
void Zip(const T* a, absl::Span<const int64_t> a_strides, const T* b,
         absl::Span<const int64_t> b_strides, absl::Span<const int64_t> dims,
         T** y, const F& fn) {
  if (dims.empty()) {
    *(*y)++ = fn(*a, *b);
    return;
  }
  if (dims.size() == 1) {
    for (int64_t i = 0; i < dims[0]; ++i) {
      *(*y)++ = fn(a[i * a_strides[0]], b[i * b_strides[0]]);
    }
    return;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    Zip(a + i * a_strides[0], a_strides.subspan(1), b + i * b_strides[0],
        b_strides.subspan(1), dims.subspan(1), y, fn);
  }
}

template <typename T, typename F>
absl::StatusOr<std::optional<Tensor>> ZipTensors(
    absl::Span<const Tensor> operands, absl::Span<const int64_t> shape,
    const F& fn) {
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(operands[0].dtype(), shape));
  T* to = y.mutable_data<T>();
  if (y.NumElements() > 0) {
    Zip(operands[0].data<T>(), BroadcastStrides(operands[0].shape(), shape),
        operands[1].data<T>(), BroadcastStrides(operands[1].shape(), shape),
        shape, &to, fn);
  }
  return y;
}

// What the tir interpreter gives bit by bit: float arithmetic in its own type,
// integers that wrap.
absl::StatusOr<std::optional<Tensor>> Binary(absl::string_view op,
                                             absl::Span<const Tensor> operands,
                                             absl::Span<const int64_t> shape) {
  const DataType t = operands[0].dtype();
  if (operands[1].dtype() != t) return std::nullopt;
  if (t == DataType::Float(32)) {
    using F = float;
    auto run = [&](auto fn) { return ZipTensors<F>(operands, shape, fn); };
    if (op == "add") return run([](F a, F b) { return a + b; });
    if (op == "sub") return run([](F a, F b) { return a - b; });
    if (op == "mul") return run([](F a, F b) { return a * b; });
    if (op == "div") return run([](F a, F b) { return a / b; });
  } else if (t == DataType::Int(64)) {
    using U = uint64_t;
    auto run = [&](auto fn) {
      return ZipTensors<int64_t>(operands, shape, [&](int64_t a, int64_t b) {
        return static_cast<int64_t>(fn(static_cast<U>(a), static_cast<U>(b)));
      });
    };
    if (op == "add") return run([](U a, U b) { return a + b; });
    if (op == "sub") return run([](U a, U b) { return a - b; });
    if (op == "mul") return run([](U a, U b) { return a * b; });
  }
  return std::nullopt;
}

template <typename From, typename To>
absl::StatusOr<std::optional<Tensor>> Map(const Tensor& x, DataType dtype,
                                          const std::function<To(From)>& fn) {
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(dtype, x.shape()));
  const From* from = x.data<From>();
  To* to = y.mutable_data<To>();
  for (int64_t i = 0; i < x.NumElements(); ++i) to[i] = fn(from[i]);
  return y;
}

absl::StatusOr<std::optional<Tensor>> Unary(absl::string_view op,
                                            const Tensor& x) {
  const DataType t = x.dtype();
  if (t != DataType::Float(32)) return std::nullopt;
  auto run = [&](float (*fn)(float)) { return Map<float, float>(x, t, fn); };
  if (op == "neg") return run([](float v) { return -v; });
  if (op == "sqrt") return run([](float v) { return std::sqrt(v); });
  if (op == "reciprocal") return run([](float v) { return 1 / v; });
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<Tensor>> EvaluateNatively(
    const Node& node, absl::Span<const Tensor> operands,
    absl::Span<const int64_t> shape) {
  const std::string& op = node.op->name;
  for (const Tensor& x : operands) {
    if (!x.defined()) return std::nullopt;
  }
  if (operands.empty()) return std::nullopt;
  if (node.op->fusion == FusionKind::kView) {
    INGOT_ASSIGN_OR_RETURN(Tensor y, operands[0].Reshape(shape));
    return y;
  }
  if (op == "transpose") return Transpose(node, operands[0], shape);
  if (op == "slice") return Slice(node, operands[0], shape);
  if (op == "pad") return Pad(node, operands[0], shape);
  if (op == "layout_transform") {
    return LayoutTransform(node, operands[0], shape);
  }
  if (op == "concat") {
    int64_t axis = node.attrs.Get<int64_t>("axis");
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    return Concat(operands, axis, shape);
  }
  if (op == "expand") {
    return Gather(operands[0], 0, BroadcastStrides(operands[0].shape(), shape),
                  shape);
  }
  if (op == "cast" && operands[0].dtype() == node.outputs[0].dtype) {
    return operands[0];
  }
  if (operands.size() == 2 && node.op->fusion == FusionKind::kBroadcast) {
    return Binary(op, operands, shape);
  }
  if (operands.size() == 1) return Unary(op, operands[0]);
  return std::nullopt;
}

}  // namespace ingot::relay
