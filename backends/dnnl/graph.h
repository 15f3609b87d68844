// The graph of one region, which codegen writes as JSON and the loader reads:
// oneDNN operators on named tensors of f32, every shape known.
//
// Plain data: neither oneDNN nor the compiler is needed here.
#ifndef INGOT_BACKENDS_DNNL_GRAPH_H_
#define INGOT_BACKENDS_DNNL_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::dnnl_backend {

// The target, the codegen of its graphs and their loader.
inline constexpr char kName[] = "dnnl";

using Dims = std::vector<int64_t>;
using Attribute = std::variant<int64_t, double, std::string, Dims>;

// An operation on the result of an operator before it is stored, in order.
struct PostOp {
  // An element-wise algorithm by oneDNN's name ("relu", "clip", …); empty for
  // the sum with another tensor.
  std::string algorithm;
  double alpha = 0;
  double beta = 0;
  std::string add;  // a tensor of the result's shape
};

struct Node {
  std::string name;                 // for people: the model's
  std::string op;                   // a name of operators.h
  std::vector<std::string> inputs;  // tensors, as the operator wants them
  std::string output;               // a tensor
  std::map<std::string, Attribute> attributes;
  std::vector<PostOp> post_ops;

  // Reads an attribute that a checked graph has for certain.
  int64_t Int(absl::string_view name) const;
  double Float(absl::string_view name) const;
  const std::string& String(absl::string_view name) const;
  const Dims& Ints(absl::string_view name) const;
};

struct TensorDecl {
  Dims shape;
  // A key of the constants that are loaded; empty for what is no constant. A
  // constant may be stored in another shape of as many elements.
  std::string constant;
};

struct Graph {
  std::string symbol;                         // the function's name
  std::map<std::string, TensorDecl> tensors;  // by name
  std::vector<std::string> inputs, outputs;   // tensors, in call order
  std::vector<Node> nodes;                    // in the order they run

  const Dims& shape(const std::string& tensor) const {
    return tensors.at(tensor).shape;
  }
};

// JSON with a line for each tensor and each node.
std::string WriteGraph(const Graph& graph);

// Reads what WriteGraph writes, from anywhere, and checks it with CheckGraph.
// InvalidArgument says what is wrong and in which node.
absl::StatusOr<Graph> ReadGraph(absl::string_view json);

// Whether every tensor is declared with a shape whose size does not overflow,
// is written once, by one node, before it is read, and every node has operands
// and attributes that its operator defines for a result of that shape.
// InvalidArgument names the node.
absl::Status CheckGraph(const Graph& graph);

// The most elements of one tensor: sizes in bytes stay far from overflow.
inline constexpr int64_t kMaxElements = int64_t{1} << 36;
inline constexpr int kMaxRank = 6;

// The product of `shape`. InvalidArgument unless it has 1 to kMaxRank
// dimensions from 1 on and at most kMaxElements elements.
absl::StatusOr<int64_t> CountElementsOf(const Dims& shape);

// "[1, 2]", for messages.
std::string ToString(const Dims& dims);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_GRAPH_H_
