// The body of a tensorized loop whose operands are floats.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_SUM_OF_PRODUCTS_H_
#define INGOT_COMPILER_CODEGEN_LLVM_SUM_OF_PRODUCTS_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// The product of two elements.
struct LoadProduct {
  const tir::Load* a;
  const tir::Load* b;
  bool is_a_signed = false;  // of bytes, of which those of one are
};

// Takes apart what products of elements, of f32 or 16-bit floats that were made
// f32, are added to, and appends the products in their order. Null where `e` is
// something else. The loads live as long as `e`.
const tir::Load* ReadSumOfProducts(const tir::Expr& e,
                                   std::vector<LoadProduct>* products);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_SUM_OF_PRODUCTS_H_
