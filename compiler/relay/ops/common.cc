#include "compiler/relay/ops/common.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/relay/dim.h"

namespace ingot::relay::ops {
namespace {

AttrSpec Spec(absl::string_view name, absl::string_view doc, AttrKind kind,
              Presence presence) {
  return AttrSpec(std::string(name), kind, std::string(doc),
                  presence == kRequired);
}

AttrSpec Spec(absl::string_view name, absl::string_view doc, AttrKind kind,
              AttrValue value) {
  return AttrSpec(std::string(name), kind, std::string(doc),
                  /*required=*/false, std::move(value));
}

}  // namespace

AttrSpec IntAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kInt, p);
}
AttrSpec IntAttr(absl::string_view name, absl::string_view doc, int64_t value) {
  return Spec(name, doc, AttrKind::kInt, AttrValue(value));
}
AttrSpec FloatAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kFloat, p);
}
AttrSpec FloatAttr(absl::string_view name, absl::string_view doc,
                   double value) {
  return Spec(name, doc, AttrKind::kFloat, AttrValue(value));
}
AttrSpec StringAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kString, p);
}
AttrSpec StringAttr(absl::string_view name, absl::string_view doc,
                    absl::string_view value) {
  return Spec(name, doc, AttrKind::kString, AttrValue(std::string(value)));
}
AttrSpec IntsAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kInts, p);
}
AttrSpec IntsAttr(absl::string_view name, absl::string_view doc,
                  std::vector<int64_t> value) {
  return Spec(name, doc, AttrKind::kInts, AttrValue(std::move(value)));
}
AttrSpec EachAttr(absl::string_view name, absl::string_view doc, int64_t each) {
  AttrSpec spec = IntsAttr(name, doc, std::vector<int64_t>{each});
  spec.repeats = true;
  return spec;
}
AttrSpec FloatsAttr(absl::string_view name, absl::string_view doc,
                    std::vector<double> value) {
  return Spec(name, doc, AttrKind::kFloats, AttrValue(std::move(value)));
}
AttrSpec StringsAttr(absl::string_view name, absl::string_view doc,
                     std::vector<std::string> value) {
  return Spec(name, doc, AttrKind::kStrings, AttrValue(std::move(value)));
}
AttrSpec TypeAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kDataType, p);
}
AttrSpec TypeAttr(absl::string_view name, absl::string_view doc,
                  DataType value) {
  return Spec(name, doc, AttrKind::kDataType, AttrValue(value));
}
AttrSpec ShapeAttr(absl::string_view name, absl::string_view doc, Presence p) {
  return Spec(name, doc, AttrKind::kShape, p);
}

bool SameDim(const Dim& a, const Dim& b) { return SameShape({a}, {b}); }

Dim HasElements(const Dim& dim) { return SimplifyDim(Min(dim, I64(1))); }

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return Invalid("axis ", axis, " is outside of rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int>> NormalizeAxes(absl::Span<const int64_t> axes,
                                               int rank) {
  std::vector<int> result;
  for (int64_t axis : axes) {
    INGOT_ASSIGN_OR_RETURN(int a, NormalizeAxis(axis, rank));
    result.push_back(a);
  }
  std::sort(result.begin(), result.end());
  for (size_t i = 1; i < result.size(); ++i) {
    if (result[i] == result[i - 1]) {
      return Invalid("axis ", result[i], " is given twice");
    }
  }
  return result;
}

namespace {

// The operands of nested minima, or maxima.
void AddOperands(tir::BinaryOp op, const Dim& dim, std::vector<Dim>* operands) {
  const auto* binary = tir::As<tir::Binary>(dim);
  if (binary == nullptr || binary->op != op) {
    operands->push_back(dim);
    return;
  }
  AddOperands(op, binary->a, operands);
  AddOperands(op, binary->b, operands);
}

bool Contains(const std::vector<Dim>& dims, const Dim& dim) {
  return std::any_of(dims.begin(), dims.end(),
                     [&dim](const Dim& other) { return SameDim(other, dim); });
}

bool ContainsAll(const std::vector<Dim>& dims, const std::vector<Dim>& others) {
  return std::all_of(others.begin(), others.end(), [&dims](const Dim& other) {
    return Contains(dims, other);
  });
}

// The dimensions that were broadcast to one, as JoinDims writes it; the
// dimension alone where it is no such one.
std::vector<Dim> JoinedDims(const Dim& dim) {
  const auto* product = tir::As<tir::Binary>(dim);
  if (product == nullptr || product->op != tir::BinaryOp::kMul) return {dim};
  for (const bool swap : {false, true}) {
    std::vector<Dim> largest, smallest;
    AddOperands(tir::BinaryOp::kMax, swap ? product->b : product->a, &largest);
    AddOperands(tir::BinaryOp::kMin, swap ? product->a : product->b, &smallest);
    if (smallest.size() == largest.size() + 1 && Contains(smallest, I64(1)) &&
        ContainsAll(smallest, largest)) {
      return largest;
    }
  }
  return {dim};
}

// Broadcasts two symbolic dimensions: gives their maximum, unless one of them
// is empty and the other is 1. One that was broadcast to the other before
// changes nothing, so that layer after layer has the same dimensions.
Dim JoinDims(const Dim& a, const Dim& b) {
  std::vector<Dim> dims = JoinedDims(a);
  const std::vector<Dim> others = JoinedDims(b);
  if (ContainsAll(dims, others)) return a;
  if (ContainsAll(others, dims)) return b;
  for (const Dim& dim : others) {
    if (!Contains(dims, dim)) dims.push_back(dim);
  }
  Dim most = dims[0], least = dims[0];
  for (size_t i = 1; i < dims.size(); ++i) {
    most = Max(most, dims[i]);
    least = Min(least, dims[i]);
  }
  return SimplifyDim(most * Min(least, I64(1)));
}

}  // namespace

absl::StatusOr<Shape> BroadcastShapes(absl::Span<const Shape> shapes,
                                      std::vector<DimAssumption>* assumed) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank);
  for (size_t d = 0; d < rank; ++d) {
    Dim joined = I64(1);
    for (const Shape& shape : shapes) {
      const size_t missing = rank - shape.size();
      if (d < missing) continue;
      const Dim& dim = shape[d - missing];
      if (tir::IsConstInt(dim, 1)) continue;
      if (tir::IsConstInt(joined, 1)) {
        joined = dim;
        continue;
      }
      int64_t x, y;
      const bool const_x = ConstDim(joined, &x);
      const bool const_y = ConstDim(dim, &y);
      if (const_x && const_y) {
        if (x != y) {
          return Invalid("dimensions ", x, " and ", y,
                         " do not broadcast (dimension ", d, " of ", rank, ")");
        }
        continue;
      }
      if (SameDim(joined, dim)) continue;
      if (assumed != nullptr) assumed->push_back({joined, dim, true});
      if (const_y) {
        joined = dim;
      } else if (!const_x) {
        joined = JoinDims(joined, dim);
      }
    }
    result[d] = joined;
  }
  return result;
}

Indices BroadcastIndices(const Shape& from, const Indices& i,
                         const Shape& shape) {
  const size_t missing = i.size() - from.size();
  Indices index;
  index.reserve(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    const Expr& at = i[d + missing];
    if (tir::IsConstInt(from[d], 1)) {
      index.push_back(I64(0));
    } else if (shape.empty() || SameDim(from[d], shape[d + missing])) {
      index.push_back(at);
    } else {
      // Either 1 or as large as the result, which only the run time knows.
      index.push_back(Min(at, from[d] - 1));
    }
  }
  return index;
}

Expr BroadcastLoad(const te::Tensor& t, const Indices& i, const Shape& shape) {
  return t(BroadcastIndices(t.shape(), i, shape));
}

Expr BroadcastLoad(const te::Tensor& t, const Indices& i) {
  return BroadcastLoad(t, i, {});
}

Dim Product(const Shape& dims, int begin, int end) {
  Dim product = I64(1);
  for (int i = begin; i < end; ++i) product = product * dims[i];
  return product;
}

Dim FloorDiv(const Dim& a, int64_t b) { return a / I64(b); }
Dim CeilDiv(const Dim& a, int64_t b) { return (a + (b - 1)) / I64(b); }

Expr Flatten(const Indices& i, const Shape& shape) {
  Expr linear = I64(0);
  for (size_t d = 0; d < i.size(); ++d) linear = linear * shape[d] + i[d];
  return linear;
}

Indices Unflatten(const Expr& linear, const Shape& shape) {
  Indices index(shape.size());
  Expr rest = linear;
  for (size_t d = shape.size(); d-- > 0;) {
    if (d == 0) {
      index[d] = rest;
    } else {
      index[d] = rest % shape[d];
      rest = rest / shape[d];
    }
  }
  return index;
}

Expr I64(int64_t value) { return tir::MakeInt(value); }

DataType ComputeType(DataType t) {
  return t.is_float() && t.bits == 16 ? DataType::Float(32) : t;
}

Expr Widen(const Expr& x) { return tir::MakeCast(ComputeType(x->dtype), x); }

Expr LowestOf(DataType t) {
  if (t.is_float()) {
    return tir::MakeFloat(-std::numeric_limits<double>::infinity(), t);
  }
  if (t.is_bool() || t.is_uint()) return tir::MakeInt(0, t);
  return tir::MakeInt(std::numeric_limits<int64_t>::min() >> (64 - t.bits), t);
}

Expr HighestOf(DataType t) {
  if (t.is_float()) {
    return tir::MakeFloat(std::numeric_limits<double>::infinity(), t);
  }
  if (t.is_bool()) return tir::MakeInt(1, t);
  // u64's largest travels as -1, which is also right for the narrower ones.
  if (t.is_uint()) return tir::MakeInt(-1, t);
  return tir::MakeInt(std::numeric_limits<int64_t>::max() >> (64 - t.bits), t);
}

AttrSpec WordsAttr() {
  return IntAttr(
      "words",
      "1: w holds i32 words along the dimension summed over, of four "
      "signed bytes where x is u8, of two numbers of 16 bits where "
      "it is i16. Of a depthwise conv2d in blocks: how many taps a row of its "
      "kernel has, which are in words of four signed bytes",
      0);
}

absl::Status CheckWords(const TensorType& x, const TensorType& w,
                        DataType out) {
  const DataType i32 = DataType::Int(32);
  if ((x.dtype == DataType::UInt(8) || x.dtype == DataType::Int(16)) &&
      w.dtype == i32 && out == i32) {
    return absl::OkStatus();
  }
  return Invalid("words are for x of u8 or i16, w and result of i32, not ",
                 ToString(x), ", ", ToString(w), " and ", out.ToString());
}

int64_t ElementsOfWord(DataType x) { return kBytesOfWord / x.bytes(); }

namespace {

// So many elements after `at` along the last dimension.
Indices Neighbour(Indices at, int64_t after) {
  at.back() = at.back() + after;
  return at;
}

}  // namespace

Expr LoadWord(const te::Tensor& x,
              absl::FunctionRef<Indices(int64_t)> part_at) {
  const DataType i32 = DataType::Int(32);
  Expr word;
  for (int64_t j = 0; j < ElementsOfWord(x.dtype()); ++j) {
    Expr part =
        MakeCast(i32, MakeCast(DataType::UInt(x.dtype().bits), x(part_at(j))));
    if (j > 0) {
      part = tir::MakeBinary(tir::BinaryOp::kShl, part,
                             tir::MakeInt(j * x.dtype().bits, i32));
    }
    word = j == 0 ? part : tir::MakeBinary(tir::BinaryOp::kBitOr, word, part);
  }
  return word;
}

Expr LoadWord(const te::Tensor& x, const Indices& at) {
  return LoadWord(x, [&](int64_t part) { return Neighbour(at, part); });
}

Expr Dot(const te::Tensor& x, absl::FunctionRef<Indices(int64_t)> part_at,
         const Expr& word) {
  return tir::MakeCall(
      x.dtype().bits == 8 ? Intrinsic::kDot4 : Intrinsic::kDot2,
      {LoadWord(x, part_at), word, tir::MakeInt(0, DataType::Int(32))});
}

Expr Dot(const te::Tensor& x, const Indices& at, const Expr& word) {
  return Dot(
      x, [&](int64_t part) { return Neighbour(at, part); }, word);
}

Expr All(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& c : conditions) all = all == nullptr ? c : And(all, c);
  return all == nullptr ? tir::MakeBool(true) : all;
}

Expr SafeIndex(const Expr& index, const Dim& extent) {
  const DataType i64 = DataType::Int(64), t = index->dtype;
  // Indices of 32 bits are compared as such where the extent is one of them,
  // too: a vector holds twice as many.
  int64_t n;
  const bool is_narrow = t.bits == 32 && tir::AsConstInt(extent, &n) &&
                         n >= 1 && n <= std::numeric_limits<int32_t>::max();
  const DataType compared = is_narrow ? t : i64;
  const Expr zero = tir::MakeInt(0, compared);
  const Expr size = is_narrow ? tir::MakeInt(n, compared) : extent;
  const Expr last = is_narrow ? tir::MakeInt(n - 1, compared) : extent - 1;
  const Expr i = tir::MakeCast(compared, index);
  if (is_narrow && t.is_uint()) return tir::MakeCast(i64, Min(i, last));
  const Expr wrapped = tir::MakeSelect(Lt(i, zero), i + size, i);
  return tir::MakeCast(i64, Max(Min(wrapped, last), zero));
}

absl::Status ExpectRank(const TensorType& type, int rank,
                        absl::string_view what) {
  if (static_cast<int>(type.shape.size()) != rank) {
    return Invalid(what, " must have rank ", rank, ", not ", ToString(type));
  }
  return absl::OkStatus();
}

absl::Status ExpectFloat(const TensorType& type, absl::string_view what) {
  if (!type.dtype.is_float()) {
    return Invalid(what, " must be of a float type, not ", ToString(type));
  }
  return absl::OkStatus();
}

absl::Status ExpectNumber(const TensorType& type, absl::string_view what) {
  if (type.dtype.is_bool()) {
    return Invalid(what, " must be of a number type, not ", ToString(type));
  }
  return absl::OkStatus();
}

absl::Status ExpectInteger(const TensorType& type, absl::string_view what) {
  if (!type.dtype.is_integer()) {
    return Invalid(what, " must be of an integer type, not ", ToString(type));
  }
  return absl::OkStatus();
}

absl::Status ExpectSameType(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) {
    return Invalid("operands of different types: ", ToString(a), " and ",
                   ToString(b));
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> SameAsFirst(const InferContext& c) {
  return Types{c.type(0)};
}

std::string SubName(const ComputeContext& c, absl::string_view suffix) {
  return absl::StrCat(c.name, "_", suffix);
}

OpDef With(Trait more, OpDef def) {
  def.traits = def.traits | more;
  return def;
}

OpDef With(absl::StatusOr<std::optional<Tensor>> (*known)(const KnownCall&),
           OpDef def) {
  def.compute_known = known;
  return def;
}

absl::Status RegisterAllOf(OpRegistry* registry, std::vector<OpDef> defs) {
  for (OpDef& def : defs) {
    def.infer = [infer = std::move(def.infer)](
                    const InferContext& c) -> absl::StatusOr<Types> {
      INGOT_ASSIGN_OR_RETURN(Types types, infer(c));
      for (TensorType& type : types) {
        for (Dim& dim : type.shape) {
          // Before anything walks what many operands may have added up to.
          INGOT_RETURN_IF_ERROR(CheckDimSize(dim));
          dim = SimplifyDim(dim);
        }
      }
      return types;
    };
    INGOT_RETURN_IF_ERROR(registry->Register(std::move(def)));
  }
  return absl::OkStatus();
}

}  // namespace ingot::relay::ops
