// The state of one import. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/frontends/frontend.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/sequences.h"
#include "compiler/frontends/onnx/graph/states.h"
#include "compiler/relay/import/builder.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

std::vector<const onnx::NodeProto*> PointersTo(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

// "ai.onnx" is the empty domain by another name.
std::string CanonicalDomain(const std::string& domain);
// A canonical domain for people.
std::string DomainName(const std::string& domain);

// The names that one graph defines; lookups go on in the graph around it.
struct Scope {
  const Scope* parent = nullptr;
  relay::OpenFunction* function = nullptr;  // that its nodes are part of
  mutable std::map<std::string, Binding> names;
  // Values found around the function that the graph belongs to.
  mutable std::map<std::string, Binding> captures;
};

// Whether a binding can be a result of a branch or a loop that a run decides.
// These are tensors alone: no type says what they store.
absl::Status CheckCanLeave(const Binding& result);

// Whether a binding is a sequence, or an optional value as such.
bool IsSequence(const Binding& binding);

// Two graphs in place of a node, the second where the condition does not hold.
// They take no inputs, and give the node's outputs.
struct Branch {
  Binding condition;
  std::shared_ptr<const onnx::GraphProto> graphs[2];
};

// The way on from a graph whose nodes are imported: to results that its caller
// wants, which has names for them.
struct Rest {
  std::vector<std::string> results;
  std::function<absl::StatusOr<std::vector<Binding>>(Scope* graph)> import;
};

class Importer {
 public:
  // All three must outlive the importer; the model loses its tensors' data.
  Importer(onnx::ModelProto* model, const ImportOptions& options,
           const ConverterTable& converters);

  absl::StatusOr<relay::Module> Run();

  // ------------------------------------------------- for contexts of nodes
  relay::ModuleBuilder& builder() { return builder_; }
  // The binding's tensor, made now if it is not there yet.
  absl::StatusOr<Value> Materialize(Binding* binding, absl::string_view name);
  // The same as a sequence, of a binding for which IsSequence holds; or
  // whichever it is.
  absl::StatusOr<Value> MaterializeSequence(Binding* binding,
                                            absl::string_view name);
  absl::StatusOr<Value> MaterializeAny(Binding* binding,
                                       absl::string_view name);
  // The knowledge of a sequence, filled in by the operator that makes it.
  SequenceInfo& sequence_info(Value sequence) { return sequences_[sequence]; }
  // Optional values that are missing in every run.
  void AddMissing(Value optional) { missing_.insert(optional); }
  bool IsMissing(Value optional) const { return missing_.count(optional) > 0; }
  // The elements that a binding is known to have, or null.
  const Known* KnownOf(Binding* binding);
  // Fills the function being imported with a graph, its outputs the function's.
  absl::Status FillFromGraph(const onnx::GraphProto& graph,
                             std::vector<Binding> inputs);
  // Asks that the rest of the graph become part of both sides of a branch in
  // place of the node that is being imported, and fails now. A branch whose
  // results differ in rank needs it.
  void RequestSplit(Branch branch) { split_ = std::move(branch); }
  // Whether a graph inside failed since a branch in it makes results that
  // differ in rank even where that graph ends. The graph around it may make
  // them results of one rank.
  bool TakeOpenRank() { return std::exchange(rank_is_open_, false); }
  // Imports the nodes of a graph inside the one being imported, its inputs
  // bound in order, and gives its outputs.
  absl::StatusOr<std::vector<Binding>> Inline(const onnx::GraphProto& graph,
                                              std::vector<Binding> inputs);
  // The state whose entries, as many as there are before a run, `value` is,
  // unless something added more; else null.
  ImportedState* StateOf(const Value& value);
  // The folder of the model's file; empty: not known.
  const std::string& model_dir() const { return model_dir_; }
  const ConverterTable& converters() const { return converters_; }
  // Says something to whoever has the model imported.
  void Warn(absl::string_view message);
  // So far, with that being imported and with copies of function bodies.
  int64_t nodes_imported() const { return imported_; }

 private:
  // The name as `scope` sees it; null when there is none.
  absl::StatusOr<Binding*> Find(const Scope* scope, const std::string& name);
  absl::StatusOr<Binding> Capture(relay::OpenFunction* function, Binding* outer,
                                  const std::string& name);
  // Imports one side of a branch in place of `node`, the nodes `after` that one
  // in `scope`, and the rest.
  absl::StatusOr<std::vector<Binding>> ImportSide(
      const onnx::NodeProto& node, const onnx::GraphProto& side,
      absl::Span<const onnx::NodeProto* const> after, Scope* scope,
      const Rest& rest);
  // Does so for both sides, or for the one that is known to be taken.
  absl::StatusOr<std::vector<Binding>> SplitAt(
      const onnx::NodeProto& node, Branch branch,
      absl::Span<const onnx::NodeProto* const> after, Scope* scope,
      const Rest& rest);
  // The branch between its sides, of which one may be null.
  absl::StatusOr<std::vector<Value>> JoinSides(
      NodeContext& c, relay::Body* yes, relay::Body* no,
      const std::vector<std::string>& results);
  // Results as outputs of the function being imported.
  absl::Status AddResults(std::vector<Binding> results,
                          const std::vector<std::string>& names);
  // Those that `scope` gives these names; left out where it has none.
  absl::StatusOr<std::vector<Binding>> FindResults(
      const Scope* scope, const std::vector<std::string>& names);
  // The rest of a graph that gives these to its caller.
  Rest FindAll(std::vector<std::string> names);
  void ReadMetadata();
  absl::Status ReadOpsets();
  void OpenDims();
  absl::Status BindDimParams();
  // The shape that the caller gave for an input, or null.
  const std::vector<int64_t>* GivenShape(const std::string& input) const;
  // Finds the states, and gives values to their dimensions.
  absl::Status PrepareStates();
  absl::StatusOr<Binding> StateInput(const onnx::ValueInfoProto& input,
                                     ImportedState* state);
  // How many entries states with this dimension have, before a run.
  absl::StatusOr<tir::Expr> FilledLength(const std::string& symbol);
  // The value that a run gives for an output, of which some are states.
  absl::StatusOr<Value> StateOutput(const std::string& output, Value value);
  void FinishStates();
  // Unimplemented where an input is a map, or has some.
  absl::Status CheckNoMaps();
  absl::Status AddInputs(Scope* scope);
  absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& info);
  absl::StatusOr<Binding> TensorInput(const onnx::ValueInfoProto& info);
  absl::StatusOr<Binding> AnySequenceInput(const onnx::ValueInfoProto& info);
  absl::Status AddInitializers(const onnx::GraphProto& graph, Scope* scope,
                               bool movable);
  absl::Status AddOutputs(Scope* scope);
  absl::Status CheckSupported();
  void FindUnsupported(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  // Imports the nodes and the rest, whose results it gives.
  absl::StatusOr<std::vector<Binding>> ImportNodes(
      absl::Span<const onnx::NodeProto* const> nodes, Scope* scope,
      const Rest& rest);
  absl::Status ImportNode(const onnx::NodeProto& node, Scope* scope);
  // The results of a node whose operands are known, from the calls that it
  // becomes; nothing where a run computes one of them.
  std::optional<std::vector<Known>> EvaluateKnown(
      const onnx::NodeProto& node, const std::string& name, int opset,
      const std::vector<Binding*>& inputs);
  absl::Status Convert(const onnx::NodeProto& node, const std::string& name,
                       int opset, std::vector<Binding*> inputs,
                       std::vector<Binding>* outputs);
  absl::StatusOr<std::vector<Binding>> InlineFunction(
      const onnx::FunctionProto& function, const onnx::NodeProto& call,
      const std::vector<Binding*>& inputs);
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  absl::StatusOr<int> OpsetOf(const std::string& domain) const;
  absl::Status CheckSizes(size_t first_node);

  onnx::ModelProto* model_;
  const ImportOptions& options_;
  const std::string model_dir_;
  const ConverterTable& converters_;
  relay::ModuleBuilder builder_;
  const Scope* scope_ = nullptr;  // of the graph being imported
  std::map<std::string, int> opsets_;
  std::map<std::string, int64_t>
      bound_params_;  // dimension symbols given values
  std::vector<ImportedState> states_;
  // Inputs that tell how many entries states have, by the dimension's name.
  std::map<std::string, relay::Node*> lengths_;
  std::map<Value, SequenceInfo> sequences_;
  std::set<Value> missing_;
  // Outputs that converters do not compute, with the node to blame.
  std::map<std::string, std::string> missing_outputs_;
  std::vector<std::string> unsupported_;  // "Op (domain, opset, node)"
  std::optional<Branch> split_;           // RequestSplit
  bool rank_is_open_ = false;             // TakeOpenRank
  int depth_ = 0;                         // of graphs inside graphs
  int64_t imported_ = 0;
};

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_
