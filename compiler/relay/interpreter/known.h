// Elements that are known before a run: constants, and formulas over symbolic
// dimensions. Frontends follow the shapes that a model computes with these.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// The largest number of elements that is worth following.
inline constexpr int64_t kMostKnownElements = 4096;

// One known number: an i64 expression over symbolic dimensions (whatever the
// tensor's type; a bool is 0 or 1), or a constant that is no integer.
struct KnownNumber {
  tir::Expr integer;  // null: `fraction` holds the value
  double fraction = 0;

  static KnownNumber Of(int64_t value) { return {tir::MakeInt(value), 0}; }
  static KnownNumber Of(double value);
  // True, with the value, for constants.
  bool AsDouble(double* value) const;
  // Whether that is the number itself, and no large integer that was rounded.
  bool FitsDouble() const;
  bool AsInt(int64_t* value) const {
    return integer != nullptr && tir::AsConstInt(integer, value);
  }
};

// A small tensor of known numbers, row-major.
struct Known {
  DataType dtype;
  std::vector<int64_t> shape;
  std::vector<KnownNumber> values;

  bool AllConstant() const;
  // Whether the elements are integers, which are all held as expressions.
  bool AllIntegers() const;
  std::vector<tir::Expr> Integers() const;
};

// The elements of a constant; nothing if it has more than kMostKnownElements
// or is of a type whose numbers a KnownNumber cannot hold (u64, bf16).
std::optional<Known> KnownFromTensor(const Tensor& tensor);
// A tensor with the same elements; all must be constant.
absl::StatusOr<Tensor> TensorFromKnown(const Known& known);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_H_
