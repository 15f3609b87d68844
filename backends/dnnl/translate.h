// From relay operators to those of a graph. What cannot be translated is what
// the target does not support: one source of truth for both.
#ifndef INGOT_BACKENDS_DNNL_TRANSLATE_H_
#define INGOT_BACKENDS_DNNL_TRANSLATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/dnnl/graph.h"
#include "compiler/relay/ir.h"

namespace ingot::dnnl_backend {

// An operand, read with a shape that may have other dimensions of 1 than the
// value's: a bias [1, 64, 1, 1] is read as [64].
struct Operand {
  relay::Value value;
  Dims shape;
};

// A post-op whose tensor is still a relay value.
struct Post {
  PostOp op;         // `add` is empty
  relay::Value add;  // null unless it is a sum
};

// One operator of a graph, on relay values.
struct Step {
  const relay::Node* node = nullptr;  // the last one that it stands for
  std::string op;
  std::vector<Operand> operands;
  std::map<std::string, Attribute> attributes;
  std::vector<Post> posts;
  relay::Value output;
};

// Values inside of a function and those outside that they stand for: composites
// read their arguments through this. A value that is not there is itself.
using Bindings = std::map<relay::Value, relay::Value>;

// The operators that TranslateOp knows, by relay's names, sorted.
std::vector<std::string> TranslatedOperators();

// Translates one operator. Unimplemented says why oneDNN does not take it, in a
// short sentence for people, without the node's name.
absl::StatusOr<Step> TranslateOp(const relay::Node& node,
                                 const Bindings& bindings = {});

// Translates operators that matched a pattern, operands first: one product or
// the like, then what follows it as its bias and post-ops. All but the last are
// read by the others only. Errors are as above.
absl::StatusOr<Step> TranslateComposite(absl::Span<relay::Node* const> nodes,
                                        const Bindings& bindings = {});

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_TRANSLATE_H_
