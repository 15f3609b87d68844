// A definition as text, without the names that its author gave.
#ifndef INGOT_COMPILER_TE_DEFINITION_TEXT_H_
#define INGOT_COMPILER_TE_DEFINITION_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "compiler/te/te.h"

namespace ingot::te {

// Prints every operation with its types, shapes, tags and formula. Tensors,
// axes, symbolic dimensions and shared parts of formulas are numbered in the
// order in which they appear, so two graphs that compute the same in the same
// way have the same text, in whichever models they are; only the loops of an
// extern operation keep their names. Its length is linear in the number of
// expression nodes, each counted once however many share it. For digests, and
// to look at; nothing reads it back.
//
//   t0 = placeholder f32[8, s0]
//   t1 = reduce f32[8] over [s0] {anchor=reduce}
//     e0 = load t0[i0, r0]
//     e1 = acc + term : f32
//     identity f32(0x0p+0) combine e1 value e0
//   outputs t1
std::string DefinitionText(const Graph& graph,
                           absl::Span<const Tensor> outputs);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_DEFINITION_TEXT_H_
