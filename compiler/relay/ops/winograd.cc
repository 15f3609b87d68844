// Winograd's algorithm for convolutions in blocks of channels. See
// compiler/relay/winograd.h.
#include "compiler/relay/winograd.h"

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/window.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

// More would be nothing but zeros.
constexpr int64_t kMostPadding = int64_t{1} << 20;

// The input channels that are multiplied at once: those of a word.
int64_t ElementsOfStep(const TensorType& x) {
  return x.dtype.is_float() ? 1 : ElementsOfWord(x.dtype);
}

// The call's operands and attributes, decoded.
struct Problem {
  const Winograd* winograd;
  std::vector<int64_t> pads_begin, pads_end;  // so that tiles are whole
  int64_t extent[2];                          // of the result, height and width
  int64_t tiles[2];                           // that cover it
};

// Sets what depends on one dimension of the data, of `extent` elements.
absl::Status ReadDimension(int d, const Dim& extent,
                           const std::vector<int64_t>& pads, Problem* p) {
  int64_t in;
  if (!ConstDim(extent, &in)) {
    return Invalid("the data's height and width must be static");
  }
  const int64_t begin = pads[d], end = pads[2 + d], tile = p->winograd->tile;
  p->extent[d] = in + begin + end - 2;
  if (p->extent[d] < 1) {
    return Invalid("a window of 3 does not fit into dimension ", d, " of ", in,
                   " with padding");
  }
  p->tiles[d] = (p->extent[d] + tile - 1) / tile;
  p->pads_begin.push_back(begin);
  p->pads_end.push_back(p->tiles[d] * tile + 2 - in - begin);
  return absl::OkStatus();
}

// Kernels are [o / b, m + 2, m + 2, i / b, block of i, block of o], or words of
// that block.
absl::StatusOr<Problem> Read(const TensorType& x, const TensorType& w,
                             const Attrs& attrs) {
  Problem problem;
  const int64_t tile = attrs.Get<int64_t>("tile");
  problem.winograd = FindWinograd(tile);
  if (problem.winograd == nullptr) {
    return Invalid("tile=", tile, " is neither 2 nor 4");
  }
  if (x.shape.size() != 5 || w.shape.size() != 6) {
    return Invalid("the data ", ToString(x), " and the kernel ", ToString(w),
                   " must have 5 and 6 dimensions");
  }
  const int64_t reach = problem.winograd->reach();
  if (!tir::IsConstInt(w.shape[1], reach) ||
      !tir::IsConstInt(w.shape[2], reach)) {
    return Invalid("the kernel ", ToString(w),
                   " is not transformed for tile=", tile);
  }
  const Dim in_block = SimplifyDim(w.shape[4] * ElementsOfStep(x));
  if (!SameDim(x.shape[1], w.shape[3]) || !SameDim(x.shape[4], in_block)) {
    return Invalid("the data ", ToString(x), " and the kernel ", ToString(w),
                   " differ in channels");
  }
  constexpr size_t kSides = 4;
  const std::vector<int64_t> pads = attrs.GetEach("pads", kSides);
  for (int64_t pad : pads) {
    if (pads.size() != kSides || pad < 0 || pad > kMostPadding) {
      return Invalid("pads must be four numbers from 0 to ", kMostPadding);
    }
  }
  for (int d = 0; d < 2; ++d) {
    INGOT_RETURN_IF_ERROR(ReadDimension(d, x.shape[2 + d], pads, &problem));
  }
  return problem;
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType& x = c.type(0);
  const TensorType& w = c.type(1);
  const bool floats =
      x.dtype == DataType::Float(32) && w.dtype == DataType::Float(32);
  const bool words = x.dtype == DataType::Int(16) &&
                     w.dtype == DataType::Int(32) &&
                     c.attrs.Get<int64_t>("tile") == 2;
  if (!floats && !words) {
    return Invalid(
        "the data and the kernel must be f32, or for tile=2 i16 and words");
  }
  INGOT_ASSIGN_OR_RETURN(const Problem problem, Read(x, w, c.attrs));
  return Types{{w.dtype,
                {x.shape[0], w.shape[0], I64(problem.extent[0]),
                 I64(problem.extent[1]), w.shape[5]}}};
}

// The sum of `factors` times what `element` gives, zeros left out.
Expr Combine(const std::vector<double>& factors,
             const std::function<Expr(int64_t)>& element) {
  Expr sum;
  for (size_t k = 0; k < factors.size(); ++k) {
    if (factors[k] == 0) continue;
    Expr term = element(static_cast<int64_t>(k));
    if (factors[k] == -1 && sum != nullptr) {
      sum = sum - term;
      continue;
    }
    if (factors[k] != 1) {
      term = term * MakeConst(term->dtype, factors[k]);
    }
    sum = sum == nullptr ? term : sum + term;
  }
  return sum;
}

// Row `row` of the matrix by a column, where the row is known once the loop
// over rows is unrolled.
Expr RowTimes(const Matrix& matrix, const Expr& row,
              const std::function<Expr(int64_t)>& element) {
  Expr value = Combine(matrix.back(), element);
  for (size_t i = matrix.size() - 1; i-- > 0;) {
    value = MakeSelect(Eq(row, I64(static_cast<int64_t>(i))),
                       Combine(matrix[i], element), value);
  }
  return value;
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  const te::Tensor& w = c.inputs[1];
  INGOT_ASSIGN_OR_RETURN(const Problem p,
                         Read({c.inputs[0].dtype(), c.inputs[0].shape()},
                              {w.dtype(), w.shape()}, c.attrs));
  const Winograd& g = *p.winograd;
  const Expr m = I64(g.tile), reach = I64(g.reach());
  const Shape& data = c.inputs[0].shape();
  const DataType data_type = c.inputs[0].dtype();
  const Dim rows = I64(p.tiles[0]), columns = I64(p.tiles[1]);
  const Tags step = {{te::kWinograd, "1"}};

  // Whole tiles: zeros beyond the window's last position, too.
  const te::Tensor x = PadSpatial(c, c.inputs[0], 2, p.pads_begin, p.pads_end,
                                  MakeConst(c.inputs[0].dtype(), 0));
  // B^T d, then (B^T d) B.
  const te::Tensor half = c.graph.Compute(
      SubName(c, "rows"),
      {data[0], data[1], rows, reach, x.shape()[3], data[4]},
      [&](const Indices& i) {
        return RowTimes(g.data, i[3], [&](int64_t k) {
          return x({i[0], i[1], i[2] * m + k, i[4], i[5]});
        });
      },
      step);
  const te::Tensor tiles = c.graph.Compute(
      SubName(c, "tiles"),
      {data[0], reach, reach, data[1], rows, columns, data[4]},
      [&](const Indices& i) {
        return RowTimes(g.data, i[2], [&](int64_t k) {
          return half({i[0], i[3], i[4], i[1], i[5] * m + k, i[6]});
        });
      },
      step);
  const bool words = !data_type.is_float();
  const te::Tensor products = c.graph.Reduce(
      SubName(c, "products"),
      {data[0], reach, reach, w.shape()[0], rows, columns, w.shape()[5]},
      {data[1], w.shape()[4]}, te::Reducer::Sum(c.outputs[0].dtype),
      [&](const Indices& i, const Indices& r) {
        const Expr weight = w({i[3], i[1], i[2], r[0], r[1], i[6]});
        Indices at = {i[0], i[1], i[2], r[0], i[4], i[5], r[1]};
        if (!words) return tiles(at) * weight;
        at.back() = at.back() * ElementsOfWord(data_type);
        return Dot(tiles, at, weight);
      },
      {{te::kAnchor, te::kWinograd}});
  // A^T y, then (A^T y) A.
  const te::Tensor back = c.graph.Compute(
      SubName(c, "back"),
      {data[0], w.shape()[0], rows, columns, m, reach, w.shape()[5]},
      [&](const Indices& i) {
        return RowTimes(g.result, i[4], [&](int64_t k) {
          return products({i[0], I64(k), i[5], i[1], i[2], i[3], i[6]});
        });
      },
      step);
  return Tensors{
      c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
        const Expr result = RowTimes(g.result, i[3] % m, [&](int64_t k) {
          return back({i[0], i[1], i[2] / m, i[3] / m, i[2] % m, I64(k), i[4]});
        });
        // Kernels of whole numbers make four times as much.
        return words ? tir::MakeBinary(tir::BinaryOp::kShr, result,
                                       tir::MakeInt(2, result->dtype))
                     : result;
      })};
}

OpDef WinogradConv2d() {
  OpDef def;
  def.name = "winograd_conv2d";
  def.doc =
      "3x3 convolution of x NCHW16c or the like by tiles; kernels are "
      "transformed, [o / b, tile + 2, tile + 2, i / b, b, b]. Of i16, by tiles "
      "of 2, they are four times as large, in words of two input channels: i32 "
      "[o / b, 4, 4, i / b, b / 2, b]";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("tile", "of m x m results, 2 or 4", kRequired),
               PadsAttr()};
  def.infer = Infer;
  def.compute = Compute;
  return def;
}

}  // namespace

absl::Status RegisterWinograd(OpRegistry* registry) {
  return RegisterAllOf(registry, {WinogradConv2d()});
}

}  // namespace ingot::relay::ops
