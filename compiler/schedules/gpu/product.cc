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
  Product found{rank - 2, rank - 1, 0};
  bool has_terms = false;
  for (size_t i = 0; i < op.reduce_extent.size(); ++i) {
    if (GuessExtent(op.reduce_extent[i]) == 1) continue;
    if (has_terms) return std::nullopt;
    found.terms = i;
    has_terms = true;
  }
  const auto is_one = [&shape = stage.output().shape()](size_t axis) {
    return GuessExtent(shape[axis]) == 1;
  };
  while (found.columns > 1 && is_one(found.columns)) --found.columns;
  for (found.rows = found.columns; found.rows-- > 0;) {
    if (!is_one(found.rows) && AreOperands(op, found.rows, found.columns)) {
      return found;
    }
  }
  found.rows = rank - 2;
  found.columns = rank - 1;
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
  sizes.columns = GuessExtent(shape[product.columns]);
  const int64_t all = sizes.rows * sizes.columns;
  sizes.batch = all == 0 ? 0 : OutputElements(&stage) / all;
  sizes.terms = TermsOf(&stage);
  return sizes;
}

}  // namespace ingot::te::gpu
