// Products of two matrices of bytes which are both known at run time alone, as
// those of attention are.
//
//   sum of (x - zx) * (w - zw)  ->  sum of x * w, less zx times the sums of
//   w's columns and zw times the sums of x's rows, and the number of terms
//   times both zero points
//
// Here, too, data becomes u8 and weights i8, and sums of integers are the same
// to the last bit.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/byte_operands.h"
#include "compiler/relay/passes/panels.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/rules.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

const DataType kI8 = DataType::Int(8), kU8 = DataType::UInt(8),
               kI32 = DataType::Int(32), kF32 = DataType::Float(32);

class ProductOfTwo {
 public:
  ProductOfTwo(RuleContext& c, const Node& node, ByteData x, ByteData w)
      : c_(c), node_(node), x_(std::move(x)), w_(std::move(w)) {}

  absl::StatusOr<Value> Run() {
    INGOT_RETURN_IF_ERROR(GiveByteType(c_, kU8, &x_));
    INGOT_RETURN_IF_ERROR(GiveByteType(c_, kI8, &w_));
    Attrs attrs = node_.attrs;
    attrs.Set("out_dtype", kI32);
    INGOT_ASSIGN_OR_RETURN(
        Value sum, c_.Add(node_.op->name, {x_.values, w_.values}, attrs));
    INGOT_ASSIGN_OR_RETURN(sum, Less(sum, x_, w_, -2));
    INGOT_ASSIGN_OR_RETURN(sum, Less(sum, w_, x_, -1));
    INGOT_ASSIGN_OR_RETURN(sum, AddBothZeros(sum));
    return x_.scale ? Scale(sum) : sum;
  }

 private:
  // Less the zero point of `of` times the sums of `other` along an axis.
  absl::StatusOr<Value> Less(const Value& sum, const ByteData& of,
                             const ByteData& other, int64_t axis) {
    if (SplatOf(*of.zero) == 0.0) return sum;
    INGOT_ASSIGN_OR_RETURN(Value sums,
                           c_.Add("cast", {other.values}, {{"dtype", kI32}}));
    INGOT_ASSIGN_OR_RETURN(sums, c_.Add("reduce_sum", {sums},
                                        {{"axes", std::vector<int64_t>{axis}},
                                         {"keepdims", int64_t{1}}}));
    INGOT_ASSIGN_OR_RETURN(sums, c_.Add("mul", {sums, *of.zero}));
    return c_.Add("sub", {sum, sums});
  }

  absl::StatusOr<Value> AddBothZeros(const Value& sum) {
    if (SplatOf(*x_.zero) == 0.0 || SplatOf(*w_.zero) == 0.0) return sum;
    int64_t terms = 0;
    tir::AsConstInt(x_.values.type().shape.back(), &terms);
    INGOT_ASSIGN_OR_RETURN(Value all,
                           c_.Splat(kI32, {}, static_cast<double>(terms)));
    INGOT_ASSIGN_OR_RETURN(all, c_.Add("mul", {all, *x_.zero}));
    INGOT_ASSIGN_OR_RETURN(all, c_.Add("mul", {all, *w_.zero}));
    return c_.Add("add", {sum, all});
  }

  absl::StatusOr<Value> Scale(const Value& sum) {
    std::vector<Value> scales;
    for (const ByteData* data : {&x_, &w_}) {
      INGOT_ASSIGN_OR_RETURN(
          scales.emplace_back(),
          c_.Add("reshape", {*data->scale}, {{"shape", Shape()}}));
    }
    INGOT_ASSIGN_OR_RETURN(const Value scale, c_.Add("mul", scales));
    INGOT_ASSIGN_OR_RETURN(const Value real,
                           c_.Add("cast", {sum}, {{"dtype", kF32}}));
    return c_.Add("mul", {real, scale});
  }

  RuleContext& c_;
  const Node& node_;
  ByteData x_, w_;
};

absl::StatusOr<Value> OnTwo(RuleContext& c, const Node& node) {
  if (IsByteProduct(node) || !PaysToPack(node)) return Value{};
  const auto* out = node.attrs.Find<DataType>("out_dtype");
  const bool integers = out != nullptr && *out == kI32;
  if (!integers && node.outputs[0].dtype != kF32) return Value{};
  std::vector<ByteData> data;
  for (const Value& operand : node.inputs) {
    const std::optional<ByteData> read =
        integers ? ReadByteIntegers(operand) : ReadDequantizedBytes(operand);
    if (!read || ConstantOf(read->values) != nullptr) return Value{};
    data.push_back(*read);
  }
  int64_t terms = 0;
  if (!tir::AsConstInt(data[0].values.type().shape.back(), &terms) ||
      terms > kMaxByteTerms) {
    return Value{};
  }
  return ProductOfTwo(c, node, data[0], data[1]).Run();
}

constexpr Rule kRules[] = {
    {"product of two operands of bytes", "matmul", 2, OnTwo},
};

}  // namespace

absl::Span<const Rule> ByteProductOfTwoRules() { return kRules; }

}  // namespace ingot::relay
