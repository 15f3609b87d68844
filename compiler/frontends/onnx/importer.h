// The state of one import. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/context.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// "ai.onnx" is the empty domain by another name.
std::string CanonicalDomain(const std::string& domain);

// The names that one graph defines; lookups go on in the graph around it.
struct Scope {
  const Scope* parent = nullptr;
  mutable std::map<std::string, Binding> names;

  Binding* Find(const std::string& name) const;
};

class Importer {
 public:
  // Both must outlive the importer; the model loses its tensors' data.
  Importer(onnx::ModelProto* model, const ImportOptions& options)
      : model_(model), options_(options) {}

  absl::StatusOr<relay::Module> Run();

  // ------------------------------------------------- for contexts of nodes
  relay::Module& module() { return module_; }
  relay::Function* function() { return function_; }
  // The binding's tensor, made now if it is not there yet.
  absl::StatusOr<Value> Materialize(Binding* binding, absl::string_view name);
  // The elements that a binding is known to have, or null.
  const Known* KnownOf(Binding* binding);
  // Function inputs whose shapes bind the symbols in `dims`.
  absl::StatusOr<std::vector<Value>> Carriers(const Shape& dims);
  // Imports the nodes of a graph inside the one being imported, its inputs
  // bound in order, and gives its outputs.
  absl::StatusOr<std::vector<Binding>> Inline(const onnx::GraphProto& graph,
                                              std::vector<Binding> inputs);
  const ImportOptions& options() const { return options_; }

 private:
  absl::Status ReadOpsets();
  absl::Status BindDimParams();
  // The shape that the caller gave for an input, or null.
  const std::vector<int64_t>* GivenShape(const std::string& input) const;
  absl::Status AddInputs(Scope* scope);
  absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& info);
  absl::Status AddInitializers(const onnx::GraphProto& graph, Scope* scope,
                               bool movable);
  absl::Status AddOutputs(Scope* scope);
  absl::Status CheckSupported();
  void FindUnsupported(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  absl::Status ImportNodes(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
      Scope* scope);
  absl::Status ImportNode(const onnx::NodeProto& node, Scope* scope);
  absl::Status Convert(const onnx::NodeProto& node, const std::string& name,
                       int opset, std::vector<Binding*> inputs,
                       std::vector<Binding>* outputs);
  absl::StatusOr<std::vector<Binding>> InlineFunction(
      const onnx::FunctionProto& function, const onnx::NodeProto& call,
      const std::vector<Binding*>& inputs);
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  absl::StatusOr<int> OpsetOf(const std::string& domain) const;
  absl::Status CheckSizes(size_t first_node) const;

  onnx::ModelProto* model_;
  const ImportOptions& options_;
  relay::Module module_;
  relay::Function* function_ = nullptr;
  const Scope* scope_ = nullptr;  // of the graph being imported
  std::map<std::string, int> opsets_;
  // Shapes of inputs, as the caller gave them or as given values have them.
  std::map<std::string, std::vector<int64_t>> given_shapes_;
  std::map<std::string, int64_t>
      bound_params_;  // dimension symbols given values
  // Outputs that converters do not compute, with the node to blame.
  std::map<std::string, std::string> missing_outputs_;
  std::vector<std::string> unsupported_;  // "Op (domain, opset, node)"
  int depth_ = 0;                         // of graphs inside graphs
  int64_t imported_ = 0;  // nodes so far, copies of function bodies included
};

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_
