// How a kernel's symbolic dimensions are bound when it is called, and what its
// arguments must look like.
#ifndef INGOT_COMPILER_CODEGEN_SIGNATURE_H_
#define INGOT_COMPILER_CODEGEN_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// A symbolic dimension and the argument whose shape says what it is.
struct DimBinding {
  const tir::Var* var = nullptr;
  int param = 0;
  int dim = 0;
};

// A dimension that the call checks once all symbols are bound. Workspaces are
// checked like the rest: a plan sets them aside, and it may say anything.
struct DimCheck {
  int param = 0;
  int dim = 0;
  tir::Expr value;
};

struct Signature {
  std::vector<DimBinding> symbols;  // in order of first appearance
  std::vector<DimCheck> checks;     // all other dimensions
};

// InvalidArgument when a shape uses a symbol that stands alone in no input's
// or output's shape, or the function's counts of parameters are off.
absl::StatusOr<Signature> MakeSignature(const tir::PrimFunc& func);

// The text by which an error describes the type that an argument should have,
// for example "f32[64, 3, n]".
std::string TypeText(const tir::BufferNode& buffer);

// The texts that a call reports. Each stands alone: it names the function. A
// parameter is that number `argument` of the call's arguments.
std::string ArgumentCountError(const tir::PrimFunc& func, int count);
std::string ArgumentTypeError(const tir::PrimFunc& func, int param,
                              int argument);
std::string ArgumentShapeError(const tir::PrimFunc& func, int param,
                               int argument);
std::string ArgumentDenseError(const tir::PrimFunc& func, int param,
                               int argument);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_SIGNATURE_H_
