#include "compiler/schedules/gpu/product.h"

#include <algorithm>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/ir.h"

namespace ingot::te::gpu {
namespace {

bool AreOperands(const Operation& op, size_t rows, size_t columns) {
  return OperandOf(op, rows, columns) != nullptr &&
         OperandOf(op, columns, rows) != nullptr;
}

// The reduce axis of which steps waste least; of equals the last, whose
// elements may be neighbours.
size_t AxisOfTerms(const Operation& op) {
  constexpr int64_t kStep = 16;
  size_t best = 0;
  double most = 0;
  for (size_t i = 0; i < op.reduce_extent.size(); ++i) {
    const int64_t extent = GuessExtent(op.reduce_extent[i]);
    const double used = static_cast<double>(extent) /
                        static_cast<double>(CeilDiv(extent, kStep) * kStep);
    if (extent == 1 || used < most) continue;
    best = i;
    most = used;
  }
  return best;
}

// An element as it is, or of 16 bits and made wider; otherwise null.
const tir::Load* FactorOf(const Expr& e) {
  const auto* cast = tir::As<tir::Cast>(e);
  const bool is_wider = cast != nullptr && cast->dtype.is_float() &&
                        cast->value->dtype.is_float() &&
                        cast->value->dtype.bits == 16;
  return tir::As<tir::Load>(is_wider ? cast->value : e);
}

// Zeros as terms change nothing where values are products.
bool IsSumOfProducts(const Operation& op) {
  const auto* product = tir::As<tir::Binary>(op.value);
  if (!op.reducer.is_sum || product == nullptr ||
      product->op != tir::BinaryOp::kMul) {
    return false;
  }
  const tir::Load* const a = FactorOf(product->a);
  const tir::Load* const b = FactorOf(product->b);
  return a != nullptr && b != nullptr && a->buffer != b->buffer &&
         a->dtype == b->dtype;
}

}  // namespace

std::optional<Product> FindProduct(const Stage& stage) {
  const Operation& op = stage.op();
  const size_t rank = op.axis.size();
  if (!stage.IsReduce() || rank < 2 || !HasConstantExtents(stage) ||
      !IsSumOfProducts(op)) {
    return std::nullopt;
  }
  Product found{rank - 2, rank - 1, rank - 1, AxisOfTerms(op)};
  const auto is_one = [&shape = stage.output().shape()](size_t axis) {
    return GuessExtent(shape[axis]) == 1;
  };
  while (found.columns > 1 && is_one(found.columns)) --found.columns;
  for (found.rows = found.columns; found.rows-- > 0;) {
    if (is_one(found.rows) || !AreOperands(op, found.rows, found.columns)) {
      continue;
    }
    found.first_column = found.columns;
    while (found.first_column - 1 > found.rows &&
           !is_one(found.first_column - 1) &&
           AreOperands(op, found.rows, found.first_column - 1)) {
      --found.first_column;
    }
    return found;
  }
  found.rows = rank - 2;
  found.columns = found.first_column = rank - 1;
  if (!AreOperands(op, found.rows, found.columns)) return std::nullopt;
  return found;
}

const tir::Load* OperandOf(const Operation& op, size_t axis, size_t other) {
  const tir::Load* found = nullptr;
  for (const tir::Load* load : LoadsOf(op.value)) {
    if (!DependsOn(*load, op.axis[axis].get())) continue;
    if (found != nullptr || DependsOn(*load, op.axis[other].get())) {
      return nullptr;
    }
    found = load;
  }
  return found;
}

DataType OperandType(const Stage& product) {
  return LoadsOf(product.op().value)[0]->dtype;
}

ProductSizes SizesOf(const Stage& stage, const Product& product) {
  const auto& shape = stage.output().shape();
  ProductSizes sizes;
  sizes.rows = GuessExtent(shape[product.rows]);
  sizes.columns = 1;
  for (size_t i = product.first_column; i <= product.columns; ++i) {
    sizes.columns *= GuessExtent(shape[i]);
  }
  const int64_t all = sizes.rows * sizes.columns;
  sizes.batch = all == 0 ? 0 : OutputElements(&stage) / all;
  sizes.terms = GuessExtent(stage.op().reduce_extent[product.terms]);
  sizes.taps = sizes.terms == 0 ? 0 : TermsOf(&stage) / sizes.terms;
  return sizes;
}

}  // namespace ingot::te::gpu
