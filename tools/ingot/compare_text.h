// Whether a computed tensor of text is what it should be.

#ifndef INGOT_TOOLS_INGOT_COMPARE_TEXT_H_
#define INGOT_TOOLS_INGOT_COMPARE_TEXT_H_

#include "runtime/tensor.h"
#include "tools/ingot/compare.h"

namespace ingot {

// Compares the strings that were computed, `a`, with those that should have
// been, `b`, byte by byte. Both are tensors of text (runtime/text_tensor.h);
// how wide their longest strings may be does not count. The elements of the
// comparison are the strings, and errors are infinite where one differs.
Comparison CompareText(const Tensor& a, const Tensor& b);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPARE_TEXT_H_
