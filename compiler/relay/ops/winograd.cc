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

// Whole numbers are transformed to ones of 16 bits, two to a word.
const DataType kHalf = DataType::Int(16);

// The input channels that are multiplied at once: those of a word.
int64_t ElementsOfStep(const TensorType& x) {
  return x.dtype.is_float() ? 1 : ElementsOfWord(kHalf);
}

// The call's operands and attributes, decoded.
struct Problem {
  const Winograd* winograd;
  int64_t in_block = 0;  // channels of the data that a kernel's block reads
  int64_t parts = 1;     // of a block of the data, each read by one
  std::vector<int64_t> pads_begin;
  std::vector<Dim> pads_end;  // so that tiles are whole
  Dim extent[2];              // of the result, height and width
  Dim tiles[2];               // that cover it
};

// Sets what depends on one dimension of the data, of `in` elements.
absl::Status ReadDimension(int d, const Dim& in,
                           const std::vector<int64_t>& pads, Problem* p) {
  const int64_t begin = pads[d], end = pads[2 + d], tile = p->winograd->tile;
  p->extent[d] = SimplifyDim(in + (begin + end - 2));
  int64_t known;
  if (ConstDim(p->extent[d], &known) && known < 1) {
    return Invalid("a window of 3 does not fit into dimension ", d, " of ",
                   known + 2 - begin - end, " with padding");
  }
  p->tiles[d] = SimplifyDim(CeilDiv(p->extent[d], tile));
  p->pads_begin.push_back(begin);
  p->pads_end.push_back(SimplifyDim(p->tiles[d] * tile - in + (2 - begin)));
  return absl::OkStatus();
}

// Sets what depends on the blocks of channels of the data and of the kernel.
absl::Status ReadBlocks(const TensorType& x, const TensorType& w, Problem* p) {
  const auto data = ConstShape({x.shape[1], x.shape[4]});
  const auto kernel = ConstShape({w.shape[3], w.shape[4]});
  if (data && kernel && (*kernel)[1] > 0 && (*data)[1] > 0) {
    p->in_block = (*kernel)[1] * ElementsOfStep(x);
    p->parts = (*data)[1] / p->in_block;
    if ((*data)[1] == p->parts * p->in_block &&
        (*data)[0] == tir::CeilDivInt((*kernel)[0], p->parts)) {
      return absl::OkStatus();
    }
  }
  return Invalid("the data ", ToString(x), " and the kernel ", ToString(w),
                 " differ in channels");
}

// Kernels are [o / b, m + 2, m + 2, i / k, block of i, block of o], or words of
// that block: its k channels divide a block of the data, the last of which may
// hold more than the kernels read.
absl::StatusOr<Problem> Read(const TensorType& x, const TensorType& w,
                             const Attrs& attrs) {
  Problem problem;
  const int64_t tile = attrs.Get<int64_t>("tile");
  problem.winograd =
      x.dtype.is_float() ? FindWinograd(tile) : FindWholeWinograd(tile);
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
  INGOT_RETURN_IF_ERROR(ReadBlocks(x, w, &problem));
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
  const bool words = (x.dtype == DataType::UInt(8) || x.dtype == kHalf) &&
                     w.dtype == DataType::Int(32);
  if (!floats && !words) {
    return Invalid(
        "the data and the kernel must be f32, or u8 or i16 and words");
  }
  INGOT_ASSIGN_OR_RETURN(const Problem problem, Read(x, w, c.attrs));
  return Types{{w.dtype,
                {x.shape[0], w.shape[0], problem.extent[0], problem.extent[1],
                 w.shape[5]}}};
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

// Where a convolution's tiles are: at a row and a column, or, where only a run
// knows how many there are, one after the other, so that loops over them have
// one end.
class Places {
 public:
  explicit Places(const Problem& p)
      : m_(I64(p.winograd->tile)), columns_(p.tiles[1]) {
    if (IsConst(p.tiles[0]) && IsConst(p.tiles[1])) {
      dims_ = {p.tiles[0], p.tiles[1]};
    } else {
      dims_ = {SimplifyDim(p.tiles[0] * p.tiles[1])};
    }
  }

  bool are_known() const { return dims_.size() == 2; }
  size_t rank() const { return dims_.size(); }
  // The dimensions of a tensor of tiles.
  Shape Dims(Shape before, const Shape& after) const {
    return Between(std::move(before), dims_, after);
  }
  // The indices of the tile that `of` has from `first` on, between others.
  Indices At(Indices before, const Indices& of, size_t first,
             const Indices& after) const {
    const auto from = of.begin() + static_cast<std::ptrdiff_t>(first);
    return Between(std::move(before),
                   {from, from + static_cast<std::ptrdiff_t>(rank())}, after);
  }
  // The tile of the result at [y, x].
  Indices Of(const Expr& y, const Expr& x) const {
    const Expr row = y / m_, column = x / m_;
    if (are_known()) return {row, column};
    return {row * columns_ + column};
  }

 private:
  static bool IsConst(const Dim& dim) {
    int64_t value;
    return ConstDim(dim, &value);
  }
  static std::vector<Expr> Between(std::vector<Expr> before,
                                   const std::vector<Expr>& own,
                                   const std::vector<Expr>& after) {
    before.insert(before.end(), own.begin(), own.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
  }

  Expr m_;
  Dim columns_;
  Shape dims_;
};

// An element of the data as the transforms read it.
Expr DataAt(const te::Tensor& x, const Indices& at) {
  return x.dtype().is_float() ? x(at) : MakeCast(kHalf, x(at));
}

// Makes an element of the convolution of the transforms' result.
Expr Restored(const Winograd& winograd, Expr result) {
  if (winograd.times == 1) return result;
  const int32_t inverse = InverseOfOdd(winograd.times);
  if (inverse != 1) result = result * tir::MakeInt(inverse, result->dtype);
  return tir::MakeBinary(tir::BinaryOp::kShr, result,
                         tir::MakeInt(ShiftOf(winograd.times), result->dtype));
}

// B^T d of the padded data `x`: [n, c, row, i, x, b], which neighbouring tiles
// share, or [n, c, tile, i, x of the tile, b].
te::Tensor HalfTransformed(const ComputeContext& c, const Problem& p,
                           const Places& places, const te::Tensor& x,
                           const Tags& tags) {
  const Winograd& g = *p.winograd;
  const Expr m = I64(g.tile), reach = I64(g.reach());
  const Shape& data = x.shape();
  const bool known = places.are_known();
  const Dim count = known ? p.tiles[0] : places.Dims({}, {})[0];
  return c.graph.Compute(
      SubName(c, "rows"),
      {data[0], data[1], count, reach, known ? data[3] : reach, data[4]},
      [&](const Indices& i) {
        const Expr row = known ? i[2] : i[2] / p.tiles[1];
        const Expr at = known ? i[4] : i[2] % p.tiles[1] * m + i[4];
        return RowTimes(g.data, i[3], [&](int64_t k) {
          return DataAt(x, {i[0], i[1], row * m + k, at, i[5]});
        });
      },
      tags);
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  const te::Tensor& w = c.inputs[1];
  INGOT_ASSIGN_OR_RETURN(const Problem p,
                         Read({c.inputs[0].dtype(), c.inputs[0].shape()},
                              {w.dtype(), w.shape()}, c.attrs));
  const Winograd& g = *p.winograd;
  const Expr m = I64(g.tile), reach = I64(g.reach());
  const Shape& data = c.inputs[0].shape();
  const bool words = !c.inputs[0].dtype().is_float();
  const Places places(p);
  const Tags step = {{te::kWinograd, "1"}};

  // Whole tiles: padding beyond the window's last position, too.
  const te::Tensor x = PadSpatial(
      c, c.inputs[0], 2, p.pads_begin, p.pads_end,
      MakeConst(c.inputs[0].dtype(), c.attrs.Get<int64_t>("pad_value")));
  // B^T d, then (B^T d) B.
  const te::Tensor half = HalfTransformed(c, p, places, x, step);
  const te::Tensor tiles = c.graph.Compute(
      SubName(c, "tiles"),
      places.Dims({data[0], reach, reach, data[1]}, {data[4]}),
      [&](const Indices& i) {
        return RowTimes(g.data, i[2], [&](int64_t k) {
          const Expr at = places.are_known() ? i[5] * m + k : I64(k);
          return half({i[0], i[3], i[4], i[1], at, i.back()});
        });
      },
      step);
  const te::Tensor products = c.graph.Reduce(
      SubName(c, "products"),
      places.Dims({data[0], reach, reach, w.shape()[0]}, {w.shape()[5]}),
      {w.shape()[3], w.shape()[4]}, te::Reducer::Sum(c.outputs[0].dtype),
      [&](const Indices& i, const Indices& r) {
        const Expr weight = w({i[3], i[1], i[2], r[0], r[1], i.back()});
        Expr block = r[0],
             channel = words ? r[1] * ElementsOfWord(kHalf) : r[1];
        if (p.parts > 1) {
          block = r[0] / I64(p.parts);
          channel = r[0] % I64(p.parts) * p.in_block + channel;
        }
        const Indices at =
            places.At({i[0], i[1], i[2], block}, i, 4, {channel});
        return words ? Dot(tiles, at, weight) : tiles(at) * weight;
      },
      {{te::kAnchor, te::kWinograd}});
  // A^T y, then (A^T y) A.
  const te::Tensor back = c.graph.Compute(
      SubName(c, "back"),
      places.Dims({data[0], w.shape()[0]}, {m, reach, w.shape()[5]}),
      [&](const Indices& i) {
        const size_t y = 2 + places.rank();
        return RowTimes(g.result, i[y], [&](int64_t k) {
          return products(
              places.At({i[0], I64(k), i[y + 1], i[1]}, i, 2, {i.back()}));
        });
      },
      step);
  return Tensors{
      c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
        return Restored(
            g, RowTimes(g.result, i[3] % m, [&](int64_t k) {
              return back(places.At({i[0], i[1]}, places.Of(i[2], i[3]), 0,
                                    {i[2] % m, I64(k), i[4]}));
            }));
      })};
}

OpDef WinogradConv2d() {
  OpDef def;
  def.name = "winograd_conv2d";
  def.doc =
      "3x3 convolution of x NCHW16c or the like by tiles; kernels are "
      "transformed, [o / b, tile + 2, tile + 2, i / b, b, b]. Those for u8 or "
      "i16 are whole numbers, in words of two input channels: i32 [o / b, tile "
      "+ 2, tile + 2, i / b, b / 2, b]";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("tile", "of m x m results, 2 or 4", kRequired),
               PadsAttr(), IntAttr("pad_value", "of the elements around x", 0)};
  def.infer = Infer;
  def.compute = Compute;
  return def;
}

}  // namespace

absl::Status RegisterWinograd(OpRegistry* registry) {
  return RegisterAllOf(registry, {WinogradConv2d()});
}

}  // namespace ingot::relay::ops
