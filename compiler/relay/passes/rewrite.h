// Helpers that passes share: questions about nodes, and making nodes whose
// value is known at once. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_REWRITE_H_
#define INGOT_COMPILER_RELAY_PASSES_REWRITE_H_

#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/target/layout_preferences.h"

namespace ingot::relay {

// Whether passes leave the function as it is: a kernel, a target's region or a
// composite in one.
bool IsFinished(const Function& function);

// Whether the node is a convolution, of any rank, but not a transposed one.
bool IsConv(const Node& node);

// Whether the node is a transposed convolution, of any rank.
bool IsConvTranspose(const Node& node);

// Whether it multiplies u8 data by i8 weights, with sums of i32.
bool IsByteProduct(const Node& node);
// The elements of its weights that a word holds, where the target wants the
// product or convolution to read words of them; otherwise 0.
int64_t ElementsOfWord(const Node& product, const LayoutPreferences& layouts);

// Whether every dimension is 1.
bool IsOneElement(const Value& value);

// The elements of a constant; null for anything else.
const Tensor* ConstantOf(const Value& value);

// An element, in row-major order, of a tensor of numbers.
double NumberAt(const Tensor& tensor, int64_t index);

// The value that all elements of a constant have; nothing when they differ, it
// has none, or it is not a constant of numbers.
std::optional<double> SplatOf(const Value& value);

// Whether no element of a constant is an infinity or NaN.
bool AllFinite(const Tensor& tensor);

// Sizes of numbers of a type of floats.
struct FloatSizes {
  double least;  // that has all digits
  double most;   // that is finite
  double whole;  // from which on there is no halfway between two whole numbers
};
FloatSizes SizesOf(DataType type);

// The largest |element|; an infinity where an element is one, or is NaN.
double LargestSize(const Tensor& tensor);

// Whether (x + a) + b may be x + (a + b): no sum is infinite, and a sum with
// neither rounds x, as programs do that add a large number and take it off.
bool TermsJoin(const Tensor& a, const Tensor& b);

// The result of a call appended to `function`. Where all operands are constants
// it is computed now and the result is a constant.
absl::StatusOr<Value> AddFolded(Function* function, absl::string_view op,
                                absl::string_view name,
                                std::vector<Value> inputs, Attrs attrs = {});

// A constant of `shape` whose elements are all `value`.
absl::StatusOr<Value> AddSplat(Function* function, absl::string_view name,
                               DataType dtype, absl::Span<const int64_t> shape,
                               double value);

// Joins bytes to i32 words of four, or numbers of 16 bits to words of two, the
// first the lowest: the last dimension, a multiple of so many, becomes a fourth
// or a half.
absl::StatusOr<Tensor> WordsOf(const Tensor& parts);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_REWRITE_H_
