// Building and taking apart ONNX's protobufs.
#ifndef INGOT_TESTS_FUZZ_ONNX_PROTOS_H_
#define INGOT_TESTS_FUZZ_ONNX_PROTOS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

onnx::TensorProto ToProto(absl::string_view name, const Tensor& tensor);

// The tensor of an initializer that ToProto made.
Tensor FromProto(const onnx::TensorProto& proto);

// A graph's input or output with the type and the extents of `tensor`.
onnx::ValueInfoProto InfoOf(absl::string_view name, const Tensor& tensor);

// A model without nodes, of operator set `opset` of ONNX's own domain.
onnx::ModelProto EmptyModel(int opset);

int OpsetOf(const onnx::ModelProto& model);

// The names of the values that the node reads, those that its subgraphs take
// from around them included. An optional operand that is left out has none.
std::set<std::string> NamesReadBy(const onnx::NodeProto& node);

// A node's attribute; null if it has none of that name.
const onnx::AttributeProto* FindAttribute(const onnx::NodeProto& node,
                                          absl::string_view name);

// The text of such an attribute, "" without one, and the k-th of its integers,
// `otherwise` without so many.
std::string TextOf(const onnx::NodeProto& node, absl::string_view name);
int64_t IntegerOf(const onnx::NodeProto& node, absl::string_view name, int k,
                  int64_t otherwise);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_PROTOS_H_
