// Operators of the domain com.microsoft that exporters and optimizers write:
// products, convolutions and activations joined with their neighbours.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/layers/matmul.h"

namespace ingot::onnx_frontend {
namespace {

// Converts the node as ONNX's own `op`, and gives what that computes.
absl::StatusOr<Value> ConvertAs(NodeContext& c, absl::string_view op) {
  INGOT_RETURN_IF_ERROR((*c.importer()->converters().Find("", op))(c));
  return c.outputs()[0].value;
}

// The activation that a fused node names. `params`: what it takes, in order.
Value Activate(Compose& k, const std::string& name,
               const std::vector<double>& params, Value x) {
  auto param = [&](size_t i, double otherwise) {
    return i < params.size() ? params[i] : otherwise;
  };
  Attrs attrs;
  if (name.empty()) return x;
  if (name == "Relu") return k.Call("relu", {x});
  if (name == "Tanh") return k.Call("tanh", {x});
  if (name == "Sigmoid") return k.Call("sigmoid", {x});
  if (name == "LeakyRelu") {
    attrs.Set("alpha", param(0, 0.01));
    return k.Call("leaky_relu", {x}, std::move(attrs));
  }
  if (name == "Clip") {
    if (!params.empty()) attrs.Set("min", params[0]);
    if (params.size() > 1) attrs.Set("max", params[1]);
    return k.Call("clip", {x}, std::move(attrs));
  }
  if (name == "HardSigmoid") {
    attrs.Set("alpha", param(0, 0.2));
    attrs.Set("beta", param(1, 0.5));
    return k.Call("hard_sigmoid", {x}, std::move(attrs));
  }
  k.Check(absl::UnimplementedError(absl::StrCat("activation '", name, "'")));
  return Value{};
}

// activation(conv(x, w) + b + z)
absl::Status FusedConv(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value y, ConvertAs(c, "Conv"));
  Compose k(c);
  if (c.has_input(3)) y = k.Add(y, k.Input(3));
  c.SetOutput(0, Activate(k, c.String("activation", ""),
                          c.Floats("activation_params"), y));
  return k.status();
}

absl::Status FusedGemm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value y, ConvertAs(c, "Gemm"));
  std::vector<double> params;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (c.has_attr(name)) params.push_back(c.Float(name, 0));
  }
  Compose k(c);
  c.SetOutput(0, Activate(k, c.String("activation", ""), params, y));
  return k.status();
}

// An operand of a FusedMatMul as matmul wants it. `trans` swaps the last two
// dimensions; `trans_batch` says that the rows come before the batch.
Value MatrixOperand(Compose& k, Value x, bool trans, bool trans_batch) {
  const int rank = RankOf(x);
  if (rank < 2) return x;
  std::vector<int64_t> axes;
  for (int d = 0; d < rank; ++d) axes.push_back(d);
  if (trans_batch) {
    axes.erase(axes.begin());
    axes.insert(axes.end() - 1, 0);
  }
  if (trans) std::swap(axes[rank - 1], axes[rank - 2]);
  return k.Transpose(x, axes);
}

absl::Status FusedMatMul(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  Compose k(c);
  a = MatrixOperand(k, a, c.Int("transA", 0) != 0,
                    c.Int("transBatchA", 0) != 0);
  b = MatrixOperand(k, b, c.Int("transB", 0) != 0,
                    c.Int("transBatchB", 0) != 0);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(Value y, MatmulAnyRank(c, a, b, {}));
  c.SetOutput(0, k.Mul(y, c.Float("alpha", 1)));
  return k.status();
}

// gelu(x + bias), by the error function or by tanh.
Converter Gelu(bool tanh) {
  return [tanh](NodeContext& c) -> absl::Status {
    Compose k(c);
    Value x = k.Input(0);
    if (c.has_input(1)) x = k.Add(x, k.Input(1));
    Attrs attrs;
    if (tanh) attrs.Set("approximate", std::string("tanh"));
    c.SetOutput(0, k.Call("gelu", {x}, std::move(attrs)));
    return k.status();
  };
}

absl::Status QuickGelu(NodeContext& c) {
  Compose k(c);
  Attrs attrs;
  attrs.Set("alpha", c.Float("alpha", 1.702));
  c.SetOutput(0, k.Call("swish", {k.Input(0)}, std::move(attrs)));
  return k.status();
}

// softmax(x + bias) over the dimensions from `axis` on, taken as one.
absl::Status BiasSoftmax(NodeContext& c) {
  Compose k(c);
  const Value x = k.Input(0);
  Value bias = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", c.Int("axis", 1));
  if (c.Int("is_inner_broadcast", 1) == 0 && RankOf(bias) != rank) {
    // Without it the bias runs along the first dimensions.
    Shape shape = ShapeOf(bias);
    shape.resize(rank, tir::MakeInt(1));
    bias = k.Reshape(bias, shape);
  }
  const Value sum = k.Add(x, bias);
  INGOT_RETURN_IF_ERROR(k.status());
  Shape flat = {tir::MakeInt(1), tir::MakeInt(1)};
  for (int d = 0; d < rank; ++d) {
    tir::Expr& e = flat[d < axis ? 0 : 1];
    e = SimplifyDim(e * ShapeOf(x)[d]);
  }
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  const Value y = k.Call("softmax", {k.Reshape(sum, flat)}, std::move(attrs));
  c.SetOutput(0, k.Reshape(y, ShapeOf(x)));
  return k.status();
}

absl::Status ExpandDims(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axis, c.ConstantInts(1, "axis"));
  if (axis.size() != 1) return c.Error("axis must be one number");
  Attrs attrs;
  attrs.Set("axes", axis);
  return c.Return("unsqueeze", {x}, std::move(attrs));
}

// Weights of 2, 4 or 8 bits, in blocks along k that have a scale and a zero
// point each: the matrix [n, k] that they stand for, in the scales' type.
absl::StatusOr<Value> UnpackWeights(NodeContext& c, int64_t n, int64_t depth) {
  const int64_t bits = c.Int("bits", 4), block = c.Int("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8) {
    return c.NotSupported("bits=", bits);
  }
  if (block < 16 || block > (1 << 20) || (block & (block - 1)) != 0 || n < 1 ||
      depth < 1 || n > (1 << 24) || depth > (1 << 24)) {
    return c.Error("N=", n, ", K=", depth, ", block_size=", block);
  }
  const int64_t blocks = (depth + block - 1) / block;
  const int64_t padded = blocks * block;
  Compose k(c);
  const DataType u8 = DataType::UInt(8);
  // [rows, columns * 8 / bits] of numbers from bytes that hold the first one
  // in their low bits.
  auto unpack = [&](Value bytes, int64_t rows, int64_t columns) {
    if (bits == 8) return k.Reshape(bytes, relay::MakeShape({rows, columns}));
    const int64_t numbers = 8 / bits, most = (1 << bits) - 1;
    const int64_t packed = (columns + numbers - 1) / numbers;
    bytes = k.Reshape(bytes, relay::MakeShape({rows, packed, 1}));
    Attrs right;
    right.Set("direction", std::string("RIGHT"));
    std::vector<Value> parts;
    for (int64_t shift = 0; shift < 8; shift += bits) {
      const Value part =
          shift == 0
              ? bytes
              : k.Call("bit_shift",
                       {bytes, k.Like(bytes, static_cast<double>(shift))},
                       right);
      parts.push_back(k.Call("bitwise_and",
                             {part, k.Like(part, static_cast<double>(most))}));
    }
    const Value all = k.Reshape(k.Concat(std::move(parts), 2),
                                relay::MakeShape({rows, packed * numbers}));
    return k.Slice(all, 1, tir::MakeInt(0), tir::MakeInt(columns));
  };
  const Shape by_block = relay::MakeShape({n, blocks, block});
  const Shape one_a_block = relay::MakeShape({n, blocks, 1});
  const Value bytes = k.Input(1);
  Value scales = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  const DataType type = scales.type().dtype;
  if (bytes.type().dtype != u8) {
    return c.Error("the weights are ", relay::ToString(bytes.type()));
  }
  scales = k.Reshape(scales, one_a_block);
  Value zero = k.Like(scales, static_cast<double>(1 << (bits - 1)));
  if (c.has_input(3)) {
    const Value points = k.Input(3);
    INGOT_RETURN_IF_ERROR(k.status());
    const bool packed = points.type().dtype == u8;
    zero = packed ? k.Cast(unpack(points, n, blocks), type) : points;
    zero = k.Reshape(zero, one_a_block);
  }
  Value w = k.Cast(unpack(bytes, n, padded), type);
  w = k.Mul(k.Sub(k.Reshape(w, by_block), zero), scales);
  w = k.Reshape(w, relay::MakeShape({n, padded}));
  if (padded != depth) {
    w = k.Slice(w, 1, tir::MakeInt(0), tir::MakeInt(depth));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return w;
}

absl::Status MatMulNBits(NodeContext& c) {
  if (c.has_input(4)) return c.NotSupported("g_idx");
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int64_t n = c.Int("N", 0), depth = c.Int("K", 0);
  const int rank = RankOf(x);
  if (rank < 1 ||
      !relay::SameShape({ShapeOf(x)[rank - 1]}, {tir::MakeInt(depth)})) {
    return c.Error("K=", depth, " for the operand ", relay::ToString(x.type()));
  }
  INGOT_ASSIGN_OR_RETURN(Value w, UnpackWeights(c, n, depth));
  Compose k(c);
  w = k.Transpose(k.Cast(w, x.type().dtype), {1, 0});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(Value y, MatmulAnyRank(c, x, w, {}));
  if (c.has_input(5)) y = k.Add(y, k.Input(5));
  c.SetOutput(0, y);
  return k.status();
}

// An operator that ONNX has too, of the same meaning.
Converter Same(const char* op) {
  return [op](NodeContext& c) {
    return (*c.importer()->converters().Find("", op))(c);
  };
}

}  // namespace

void AddMicrosoftConverters(ConverterTable* t) {
  const auto add = [t](absl::string_view op, Converter converter) {
    t->Add(op, 1, std::move(converter), kMicrosoftDomain);
  };
  add("FusedConv", &FusedConv);
  add("FusedGemm", &FusedGemm);
  add("FusedMatMul", &FusedMatMul);
  add("TransposeMatMul", &FusedMatMul);
  add("Gelu", Gelu(/*tanh=*/false));
  add("BiasGelu", Gelu(/*tanh=*/false));
  add("FastGelu", Gelu(/*tanh=*/true));
  add("QuickGelu", &QuickGelu);
  add("BiasSoftmax", &BiasSoftmax);
  add("ExpandDims", &ExpandDims);
  add("MatMulNBits", &MatMulNBits);
  add("Trilu", Same("Trilu"));
  add("GridSample", Same("GridSample"));
}

}  // namespace ingot::onnx_frontend
