// The importer's knowledge of the lists that a run makes. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_LISTS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_LISTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// The properties that all tensors of a list have in common.
struct ElementShape {
  // There are none, as far as importing has seen.
  bool none = true;
  // -1 for a dimension that differs or is not known. Nothing: they differ in
  // rank, or that is not known.
  std::optional<std::vector<int64_t>> dims;

  static ElementShape Of(const Shape& shape);
  static ElementShape Of(const onnx::TypeProto::Tensor& type);
  // The properties that the tensors of both lists have in common.
  static ElementShape Join(const ElementShape& a, const ElementShape& b);
  bool operator==(const ElementShape& o) const {
    return none == o.none && dims == o.dims;
  }
};

struct ListInfo {
  ElementShape shape;
  // ONNX's type is optional(tensor); else it is a sequence, or optional.
  bool optional_tensor = false;

  static ListInfo Join(const ListInfo& a, const ListInfo& b);
  bool operator==(const ListInfo& o) const {
    return shape == o.shape && optional_tensor == o.optional_tensor;
  }
};

// The type and what is known of a sequence or an optional value. Unimplemented
// for others than those of tensors and sequences of tensors.
struct DeclaredList {
  DataType dtype;
  ListInfo info;

  static absl::StatusOr<DeclaredList> Of(const onnx::TypeProto& type);
};

// `op` on lists, as output 0 of the node: a list, of which `info` is known.
absl::Status ReturnList(NodeContext& c, absl::string_view op,
                        std::vector<Value> inputs, Attrs attrs, ListInfo info);
// The same where it gives a tensor, one of the list's or made of all: of as
// many dimensions, -1 for those that the run tells.
absl::Status ReturnFromList(NodeContext& c, absl::string_view op,
                            std::vector<Value> inputs, Attrs attrs,
                            const std::vector<int64_t>& dims);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_LISTS_H_
