// The exactness with which each operator of ONNX computes.
#ifndef INGOT_TESTS_FUZZ_ONNX_ROUNDING_H_
#define INGOT_TESTS_FUZZ_ONNX_ROUNDING_H_

#include "absl/strings/string_view.h"
#include "runtime/data_type.h"

namespace ingot::fuzz {

enum class Rounding {
  kNone,      // moves, compares or counts: there is one right result
  kEach,      // the error of an element is relative to itself and the largest
  kOperands,  // the error is relative to the largest operand
  kPlaces,    // the same, from places in an image: of f32's digits hundreds of
              // pixels leave fewer for the fraction
  kIterates,  // its own errors grow within it, as in a recurrent layer
  kSums,      // adds products of operands: relative to the sum of magnitudes
  kMeans,     // the same, then divides: even whole numbers have an error
  kTiles,     // the same, relative to the largest such sum: by Winograd's
              // algorithm an element is rounded with those beside it
};

Rounding RoundingOf(absl::string_view op);

// Whether errors of operands grow within the operator, as when the mean is
// taken away from elements that hardly differ. Its own errors grow likewise.
bool Amplifies(absl::string_view op);

// Many times the relative error of one operation in `t`; 0 for integers.
double UnitOf(DataType t);
// The same for results of `op`: some compute in f32 whatever their operands
// are, as their attribute stash_type says.
double UnitOf(absl::string_view op, DataType t);

// Whole numbers up to this are added and multiplied exactly in `t`.
double WholeLimit(DataType t);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_ROUNDING_H_
