// The node that a converter of one ONNX operator works on, and its tools.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONTEXT_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/import/storage_type.h"
#include "compiler/relay/interpreter/known.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

using relay::Attrs;
using relay::Body;
using relay::ElementType;
using relay::Known;
using relay::KnownNumber;
using relay::RankOf;
using relay::Shape;
using relay::ShapeOf;
using relay::SimplifyDim;
using relay::StorageType;
using relay::TensorType;
using relay::Value;

inline tir::Expr I(int64_t value) { return tir::MakeInt(value); }

struct Sequence;

// The meaning of a name in the ONNX graph: a tensor, a sequence or an optional
// value. At least one of the first three members or the initialiser is set, but
// for an input of a function that its call leaves out.
struct Binding {
  Value value;  // a tensor or a sequence; null until something needs one
  std::optional<Known> known;  // the elements, if known
  // A sequence whose tensors importing knows; else null.
  std::shared_ptr<const Sequence> sequence;
  // An optional value that is there, and is a tensor: this one. Where a run
  // must know that, it is a sequence (importer.h).
  bool optional = false;
  // The type of the elements, where Ingot emulates it.
  StorageType storage = StorageType::kNone;
  // An initialiser that nothing has read yet. `movable`: its data may be taken.
  onnx::TensorProto* initializer = nullptr;
  bool movable = false;

  bool IsLeftOut() const {
    return !value && !known && sequence == nullptr && initializer == nullptr;
  }
};

struct Sequence {
  DataType dtype;  // of tensors, even if there are none
  std::vector<Binding> tensors;
};

class Importer;

// One node being imported. Reading an attribute of the wrong type gives the
// default and makes status() say so; the importer looks at it afterwards.
class NodeContext : public relay::CallBuilder {
 public:
  // `inputs` point into the importer's scopes; null where left out.
  NodeContext(Importer* importer, const onnx::NodeProto& node, int opset,
              std::string name, std::vector<Binding*> inputs);

  const onnx::NodeProto& node() const { return node_; }
  int opset() const { return opset_; }  // of the node's domain

  // ----------------------------------------------------------------- operands
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  bool has_input(int i) const;
  Binding* binding(int i) const { return inputs_[i]; }
  // The operand as a relay value. InvalidArgument when it is left out,
  // Unimplemented when it is a sequence or an optional value of a run.
  absl::StatusOr<Value> Input(int i);
  // Whether the operand is a sequence, or an optional value, that is; and as a
  // sequence, which a run has.
  bool IsSequence(int i) const;
  absl::StatusOr<Value> AnySequenceInput(int i);
  // The storage type of the operand's elements, where Ingot emulates it. Input
  // refuses such operands, unless the converter has called AllowStorageTypes;
  // StoredInput does not.
  StorageType storage(int i) const;
  // The element type of operand i, whose value is `x`.
  ElementType ElementTypeOf(int i, const Value& x) const {
    return {x.type().dtype, storage(i)};
  }
  absl::StatusOr<Value> StoredInput(int i);
  // For what only moves elements: all operands that hold some of the first
  // one's type. Unimplemented where they do not, and for text, whose shape is
  // not the tensor's.
  absl::Status AllowStorageTypes();
  // All operands, at least `required` of them. Those after these may be left
  // out, and are null; -1: none may.
  absl::StatusOr<std::vector<Value>> Inputs(int required = -1);
  // The operand's elements if they are known.
  const Known* known(int i) const;
  // The operand's elements. Computes them when they depend on constants alone;
  // Unimplemented when they do not.
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what);
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i,
                                                    absl::string_view what);
  absl::StatusOr<std::vector<double>> ConstantFloats(int i,
                                                     absl::string_view what);
  // As ConstantInts, but the elements may be symbolic.
  absl::StatusOr<std::vector<tir::Expr>> KnownInts(int i,
                                                   absl::string_view what);
  // As KnownInts, but elements that are not known are symbols that get their
  // values during a run, which fails where one is negative.
  absl::StatusOr<std::vector<tir::Expr>> RunTimeInts(int i,
                                                     absl::string_view what);
  // The same for extents. InvalidArgument for constants that are negative or
  // above `most`.
  absl::StatusOr<Shape> RunTimeExtents(int i, absl::string_view what,
                                       int64_t most);
  // The same for one extent, which may be a scalar.
  absl::StatusOr<tir::Expr> RunTimeExtent(int i, absl::string_view what,
                                          int64_t most);
  // Whether operand i must be computed by a run.
  bool IsRunTimeInput(int i);

  // --------------------------------------------------------------- attributes
  bool has_attr(absl::string_view name) const { return Find(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t otherwise);
  double Float(absl::string_view name, double otherwise);
  std::string String(absl::string_view name, absl::string_view otherwise);
  std::vector<int64_t> Ints(absl::string_view name,
                            std::vector<int64_t> otherwise = {});
  std::vector<double> Floats(absl::string_view name,
                             std::vector<double> otherwise = {});
  std::vector<std::string> Strings(absl::string_view name);
  const onnx::GraphProto* Graph(absl::string_view name);
  // `storage` gets how its elements are stored. Without it a tensor of a type
  // that Ingot emulates is refused.
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name,
                                    StorageType* storage = nullptr);
  absl::Status status() const { return status_; }
  // The names of those that were looked for.
  const std::set<std::string>& asked() const { return asked_; }

  // ------------------------------------------------------------------ results
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  // Whether output i is named, so that something may read it.
  bool wants_output(int i) const {
    return i < node_.output_size() && !node_.output(i).empty();
  }
  void SetOutput(int i, Value value) {
    Binding binding;
    binding.value = value;
    SetOutput(i, std::move(binding));
  }
  void SetOutput(int i, Binding binding);
  void SetStoredOutput(int i, Value value, StorageType storage) {
    Binding binding;
    binding.value = value;
    binding.storage = storage;
    SetOutput(i, std::move(binding));
  }
  std::vector<Binding>& outputs() { return outputs_; }

  // Emits and makes it output 0.
  absl::Status Return(absl::string_view op, std::vector<Value> inputs,
                      Attrs attrs = {});

  // InvalidArgument with the pieces joined.
  template <typename... Args>
  absl::Status Error(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(args...));
  }
  template <typename... Args>
  absl::Status NotSupported(const Args&... args) const {
    return absl::UnimplementedError(absl::StrCat(args...));
  }

  // Says something of the node to whoever has the model imported.
  template <typename... Args>
  void Warn(const Args&... args) {
    WarnOfNode(absl::StrCat(args...));
  }

  Importer* importer() { return importer_; }

 private:
  void WarnOfNode(const std::string& message);
  const onnx::AttributeProto* Find(absl::string_view name) const;
  const onnx::AttributeProto* Typed(absl::string_view name,
                                    onnx::AttributeProto::AttributeType type);

  Importer* importer_;
  const onnx::NodeProto& node_;
  int opset_;
  std::vector<Binding*> inputs_;
  std::vector<Binding> outputs_;
  absl::Status status_;
  mutable std::set<std::string> asked_;
  bool stored_allowed_ = false;
};

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONTEXT_H_
