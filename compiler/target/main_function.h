// The whole model as one function.
#ifndef INGOT_COMPILER_TARGET_MAIN_FUNCTION_H_
#define INGOT_COMPILER_TARGET_MAIN_FUNCTION_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Says which of the functions that a target generates code for is the model. It
// calls others of them by their names (tir::CallExtern). Its parameters are the
// model's inputs, the constants, the model's outputs and the arena.
//
// Code generators offer it to programs that know nothing of Ingot, in two ways:
// as __tvm_ffi_main, which takes tensors for inputs and outputs and allocates
// an arena for each call, and as the C functions that docs/ahead_of_time.md
// describes, whose names begin with the set's prefix. They describe it in the
// structure IngotModelInfo (runtime/c_abi.h).
struct MainFunction {
  std::string function;  // its name
  // The model's names of inputs and outputs, in the order of the parameters.
  std::vector<std::string> inputs, outputs;
  // The name of a kernel that takes the inputs, of which it reads the shapes
  // only, and writes the outputs' dimensions to an i64 tensor, one output after
  // the other. Empty: all of them are constant.
  std::string output_shapes;
  // The last input is no argument of those functions but the bytes at this
  // symbol, which whoever links the code defines. Empty: it has none.
  std::string constants;
  // The last parameter is a workspace of bytes for everything in between.
  bool has_arena = false;
};

// The names of the C functions, which kernels must not have.
//
//   int RUN(inputs…, outputs…, symbolic dimensions…, void* arena)
//   int64_t ARENA_BYTES(symbolic dimensions…)
//   const char* LAST_ERROR(void)
inline std::string MainRunSymbol(absl::string_view prefix) {
  return absl::StrCat(prefix, "_run");
}
inline std::string MainArenaBytesSymbol(absl::string_view prefix) {
  return absl::StrCat(prefix, "_arena_bytes");
}
inline std::string MainLastErrorSymbol(absl::string_view prefix) {
  return absl::StrCat(prefix, "_last_error");
}

// The errors that __tvm_ffi_main reports.
inline constexpr char kNoConstants[] =
    "the library does not have the weights that it was compiled for";
inline constexpr char kNoMemory[] = "there is no memory for the arena";

}  // namespace ingot

#endif  // INGOT_COMPILER_TARGET_MAIN_FUNCTION_H_
