#ifndef INGOT_COMPILER_CODEGEN_C_VECTOR_BLOCKS_H_
#define INGOT_COMPILER_CODEGEN_C_VECTOR_BLOCKS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/codegen/c_vector_name.h"

namespace ingot::codegen {

// "ingot_columns8_u8x16(p, stride, columns)": 8 neighbours of each of 16 rows,
// which are `stride` elements apart, as 8 vectors of an element of each row.
// "ingot_rows8_u8x16(p, stride, some, columns)" reads the rows alone whose bits
// are set in `some`, and gives 0 for the others.
// "ingot_turns2_f32x16(p, x, y)" stores elements of x and y in turns.

bool IsLoadBlock(absl::string_view op);

// The types that its definition needs.
std::set<std::string> TypesOfLoadBlock(absl::string_view op,
                                       const VectorName& t);

std::string LoadBlockSource(absl::string_view op, const VectorName& t);

std::string StoreTurnsSource(const VectorName& t);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_VECTOR_BLOCKS_H_
