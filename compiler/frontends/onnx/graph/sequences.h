// The importer's knowledge of the sequences that a run makes. Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_SEQUENCES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_SEQUENCES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// The properties that all tensors of a sequence have in common.
struct ElementShape {
  // There are none, as far as importing has seen.
  bool none = true;
  // -1 for a dimension that differs or is not known. Nothing: they differ in
  // rank, or that is not known.
  std::optional<std::vector<int64_t>> dims;

  static ElementShape Of(const Shape& shape);
  static ElementShape Of(const onnx::TypeProto::Tensor& type);
  // The properties that the tensors of both sequences have in common.
  static ElementShape Join(const ElementShape& a, const ElementShape& b);
  bool operator==(const ElementShape& o) const {
    return none == o.none && dims == o.dims;
  }
};

struct SequenceInfo {
  ElementShape shape;
  // ONNX's type is optional(tensor); else it is a sequence, or optional.
  bool optional_tensor = false;

  static SequenceInfo Join(const SequenceInfo& a, const SequenceInfo& b);
  bool operator==(const SequenceInfo& o) const {
    return shape == o.shape && optional_tensor == o.optional_tensor;
  }
};

// The type and what is known of a sequence or an optional value. Unimplemented
// for others than those of tensors and sequences of tensors.
struct DeclaredSequence {
  DataType dtype;
  SequenceInfo info;

  static absl::StatusOr<DeclaredSequence> Of(const onnx::TypeProto& type);
};

// `op` on sequences, as output 0 of the node: a sequence, of which `info` is
// known.
absl::Status ReturnSequence(NodeContext& c, absl::string_view op,
                            std::vector<Value> inputs, Attrs attrs,
                            SequenceInfo info);
// The same where it gives a tensor, one of the sequence's or made of all: of as
// many dimensions, -1 for those that the run tells.
absl::Status ReturnFromSequence(NodeContext& c, absl::string_view op,
                                std::vector<Value> inputs, Attrs attrs,
                                const std::vector<int64_t>& dims);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_SEQUENCES_H_
