// The operators of a graph: their operands, attributes and the shape of the
// result, in one table.
#ifndef INGOT_BACKENDS_DNNL_OPERATORS_H_
#define INGOT_BACKENDS_DNNL_OPERATORS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/dnnl/graph.h"

namespace ingot::dnnl_backend {

struct AttributeSpec {
  enum Kind { kInt, kFloat, kString, kInts };
  std::string name;
  Kind kind;
  // The values that a kString may have.
  std::vector<std::string> values;
};

struct Operator {
  std::string name;
  std::vector<std::string> operands;  // their roles, for messages
  int min_operands = 1;               // the rest may be left out
  bool variadic = false;              // the last role repeats
  bool post_ops = false;              // may have some
  std::vector<AttributeSpec> attributes;
  // The shape of the result. `shapes` are the operands', each of them sound.
  // InvalidArgument says what does not fit.
  std::function<absl::StatusOr<Dims>(const Node&, absl::Span<const Dims>)>
      shape;
};

// Null when there is none of that name.
const Operator* FindOperator(absl::string_view name);

// Whether an attribute or a post-op may have such a number: a file has no word
// for others, and oneDNN takes them as f32.
bool IsNumber(double value);

// Whether `name` is an element-wise algorithm that nodes and post-ops may use.
bool IsEltwiseAlgorithm(absl::string_view name);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_OPERATORS_H_
