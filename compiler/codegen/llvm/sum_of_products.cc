#include "compiler/codegen/llvm/sum_of_products.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

const tir::Binary* AsBinary(const Expr& e, tir::BinaryOp op) {
  const auto* binary = As<tir::Binary>(e);
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

// A load of f32, or of 16-bit floats that was made f32; null for anything else.
const tir::Load* AsFactor(const Expr& e) {
  if (e->dtype != DataType::Float(32)) return nullptr;
  const auto* cast = As<tir::Cast>(e);
  if (cast == nullptr) return As<tir::Load>(e);
  if (!cast->value->dtype.is_float() || cast->value->dtype.bits != 16) {
    return nullptr;
  }
  return As<tir::Load>(cast->value);
}

bool ReadProduct(const Expr& a, const Expr& b,
                 std::vector<LoadProduct>* products) {
  const LoadProduct factors = {AsFactor(a), AsFactor(b)};
  if (factors.a == nullptr || factors.b == nullptr) return false;
  products->push_back(factors);
  return true;
}

bool ReadProducts(const Expr& e, std::vector<LoadProduct>* products) {
  if (const auto* sum = AsBinary(e, tir::BinaryOp::kAdd)) {
    return ReadProducts(sum->a, products) && ReadProducts(sum->b, products);
  }
  const auto* product = AsBinary(e, tir::BinaryOp::kMul);
  return product != nullptr && ReadProduct(product->a, product->b, products);
}

}  // namespace

const tir::Load* ReadSumOfProducts(const Expr& e,
                                   std::vector<LoadProduct>* products) {
  if (const auto* sum = AsBinary(e, tir::BinaryOp::kAdd)) {
    return ReadProducts(sum->b, products) ? As<tir::Load>(sum->a) : nullptr;
  }
  const auto* call = As<tir::Call>(e);
  if (call == nullptr || call->intrinsic != tir::Intrinsic::kMulAdd ||
      !ReadProduct(call->args[0], call->args[1], products)) {
    return nullptr;
  }
  return As<tir::Load>(call->args[2]);
}

}  // namespace ingot::codegen
