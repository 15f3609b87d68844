// The state of one import. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/frontends/onnx/context.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/lists.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

std::vector<const onnx::NodeProto*> PointersTo(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

// "ai.onnx" is the empty domain by another name.
std::string CanonicalDomain(const std::string& domain);

// A function that is being imported. Graphs inside a graph become part of its
// function, except the bodies of branches and loops that only a run decides.
struct Region {
  relay::Function* function = nullptr;
  Region* outer = nullptr;
  // Values of the outer function that this one takes as further inputs, and
  // what they are inside.
  std::vector<Value> captured;
  std::map<Value, Value> inside;
  // Values that have run-time symbols as dimensions.
  std::map<const tir::Var*, Value> carriers;
  std::map<Value, Shape> bound;  // by BindDims
};

// The names that one graph defines; lookups go on in the graph around it.
struct Scope {
  const Scope* parent = nullptr;
  Region* region = nullptr;
  mutable std::map<std::string, Binding> names;
  // Values found around the function that the graph belongs to.
  mutable std::map<std::string, Binding> captures;
};

// A function made of a graph inside.
struct Body {
  std::string name;
  relay::Function* function = nullptr;
  std::vector<Value> captured;  // its last inputs, as the function around has
                                // them
};

// Whether a binding is a sequence, or an optional value as such.
bool IsList(const Binding& binding);

// Whether only a run tells the symbol's value.
bool IsRunTime(const tir::Var& var);

class Importer {
 public:
  // Both must outlive the importer; the model loses its tensors' data.
  Importer(onnx::ModelProto* model, const ImportOptions& options)
      : model_(model), options_(options) {}

  absl::StatusOr<relay::Module> Run();

  // ------------------------------------------------- for contexts of nodes
  relay::Module& module() { return module_; }
  relay::Function* function() { return region_->function; }
  // The binding's tensor, made now if it is not there yet.
  absl::StatusOr<Value> Materialize(Binding* binding, absl::string_view name);
  // The same as a list, of a binding for which IsList holds; or whichever it
  // is.
  absl::StatusOr<Value> MaterializeList(Binding* binding,
                                        absl::string_view name);
  absl::StatusOr<Value> MaterializeAny(Binding* binding,
                                       absl::string_view name);
  // The knowledge of a list, filled in by the operator that makes it.
  ListInfo& list_info(Value list) { return lists_[list]; }
  // The elements that a binding is known to have, or null.
  const Known* KnownOf(Binding* binding);
  // Values whose shapes bind the symbols in `dims`.
  absl::StatusOr<std::vector<Value>> Carriers(const Shape& dims);
  // Appends to `inputs` the carriers of run-time symbols that the attributes
  // mention and no input has.
  absl::Status AddRunTimeCarriers(const Attrs& attrs,
                                  std::vector<Value>* inputs);
  // The elements of a short vector of integers, as far as they are known; null
  // where only a run tells them. Empty: not even their number is known.
  std::vector<tir::Expr> ElementsOf(Value value);
  // The same, with a new symbol for each that is not known. A run fails where
  // one is negative.
  absl::StatusOr<Shape> BindDims(Value value, absl::string_view name);
  // Dimensions as an i64 vector.
  absl::StatusOr<Value> DimsTensor(const Shape& dims, absl::string_view name);
  // From here on the results of a branch or a loop tell the run-time symbols
  // that stand alone in their types.
  void DeclareSymbols(relay::Node* node);
  // Imports a function of its own, called something like `stem`.
  // `fill` makes its inputs, nodes and outputs.
  using BodyFiller = std::function<absl::Status()>;
  absl::StatusOr<Body> ImportBody(absl::string_view stem,
                                  const BodyFiller& fill);
  // Fills the function being imported with a graph, its outputs the function's.
  absl::Status FillFromGraph(const onnx::GraphProto& graph,
                             std::vector<Binding> inputs);
  // Asks that the rest of the graph become part of both sides of a branch. A
  // branch whose results differ in rank needs it.
  void RequestSplit() { split_ = true; }
  // A value of the function around this one, as an input of this one.
  absl::StatusOr<Value> CaptureHere(Value outer);
  // Whether the symbols of a dimension have values in this function.
  bool IsKnownHere(const tir::Expr& dim);
  // Imports the nodes of a graph inside the one being imported, its inputs
  // bound in order, and gives its outputs.
  absl::StatusOr<std::vector<Binding>> Inline(const onnx::GraphProto& graph,
                                              std::vector<Binding> inputs);
  const ImportOptions& options() const { return options_; }
  // So far, with that being imported and with copies of function bodies.
  int64_t nodes_imported() const { return imported_; }

 private:
  // The name as `scope` sees it; null when there is none.
  absl::StatusOr<Binding*> Find(const Scope* scope, const std::string& name);
  absl::StatusOr<Value> CarrierOf(Region* region, const tir::Var* var);
  absl::StatusOr<Value> CaptureValue(Region* region, Value outer);
  absl::StatusOr<Binding> Capture(Region* region, Binding* outer,
                                  const std::string& name);
  // Fills the function being imported with one side of the branch `node` and
  // the `rest` of the graph behind it, whose results it gives.
  absl::Status Split(const onnx::NodeProto& node, const std::string& name,
                     const onnx::GraphProto& branch,
                     absl::Span<const onnx::NodeProto* const> rest,
                     const std::vector<std::string>& results,
                     const Scope* scope);
  // Does so for both sides of `node`; the results are in `scope` then.
  absl::Status SplitAt(const onnx::NodeProto& node,
                       absl::Span<const onnx::NodeProto* const> rest,
                       const std::vector<std::string>& results, Scope* scope);
  absl::Status ReadOpsets();
  absl::Status BindDimParams();
  // The shape that the caller gave for an input, or null.
  const std::vector<int64_t>* GivenShape(const std::string& input) const;
  absl::Status AddInputs(Scope* scope);
  absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& info);
  absl::StatusOr<Binding> TensorInput(const onnx::ValueInfoProto& info);
  absl::StatusOr<Binding> ListInput(const onnx::ValueInfoProto& info);
  absl::Status AddInitializers(const onnx::GraphProto& graph, Scope* scope,
                               bool movable);
  absl::Status AddOutputs(Scope* scope);
  absl::Status CheckSupported();
  void FindUnsupported(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  // `results` are the names that the graph gives to what is around it.
  absl::Status ImportNodes(absl::Span<const onnx::NodeProto* const> nodes,
                           const std::vector<std::string>& results,
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
  Region main_;
  Region* region_ = &main_;       // being imported
  const Scope* scope_ = nullptr;  // of the graph being imported
  std::map<std::string, int> opsets_;
  // Shapes of inputs, as the caller gave them or as given values have them.
  std::map<std::string, std::vector<int64_t>> given_shapes_;
  std::map<std::string, int64_t>
      bound_params_;  // dimension symbols given values
  std::map<Value, ListInfo> lists_;
  // Outputs that converters do not compute, with the node to blame.
  std::map<std::string, std::string> missing_outputs_;
  std::vector<std::string> unsupported_;  // "Op (domain, opset, node)"
  bool split_ = false;                    // RequestSplit
  int depth_ = 0;                         // of graphs inside graphs
  int64_t imported_ = 0;
};

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_IMPORTER_H_
