#ifndef INGOT_COMPILER_CODEGEN_C_VECTOR_HELPERS_H_
#define INGOT_COMPILER_CODEGEN_C_VECTOR_HELPERS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/codegen/c_printer.h"

namespace ingot::codegen {

// Whether the name ends with a word that names a vector type, as helpers for
// vectors do ("ingot_load_f32x8") and such a type itself.
bool IsVectorHelper(absl::string_view name);

// C definitions of the vector types that helpers name, and of those among them
// that are for vectors: for compilers that have vectors as GCC has them. They
// need math.h, stdint.h and string.h.
std::string VectorHelperSource(const std::set<std::string>& helpers,
                               const HelperOptions& options);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_VECTOR_HELPERS_H_
