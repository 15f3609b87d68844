// What a converter of one ONNX operator works with.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CONTEXT_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/known.h"
#include "compiler/relay/ir.h"
#include "compiler/status_macros.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

using relay::Attrs;
using relay::Shape;
using relay::TensorType;
using relay::Value;

struct Sequence;

// What a name of the ONNX graph stands for: a tensor, a sequence or an optional
// value. At least one of the first three members or the initialiser is set.
struct Binding {
  Value value;  // a tensor or a list; null until something needs one
  std::optional<Known> known;  // the elements, if known
  // A sequence whose tensors importing knows; else null.
  std::shared_ptr<const Sequence> sequence;
  // An optional value that is there, and is a tensor: this one. Where a run
  // must know that, it is a list (importer.h).
  bool optional = false;
  // ONNX's type of the elements where the tensor only carries them
  // (element_types.h); 0: they are the tensor's own.
  int stored = 0;
  // An initialiser that nothing has read yet. `movable`: its data may be taken.
  onnx::TensorProto* initializer = nullptr;
  bool movable = false;
};

struct Sequence {
  DataType dtype;  // of tensors, even if there are none
  std::vector<Binding> tensors;
};

class Importer;

// One node being imported. Reading an attribute of the wrong type gives the
// default and makes status() say so; the importer looks at it afterwards.
class NodeContext {
 public:
  // `inputs` point into the importer's scopes; null where left out.
  NodeContext(Importer* importer, const onnx::NodeProto& node, int opset,
              std::string name, std::vector<Binding*> inputs)
      : importer_(importer),
        node_(node),
        opset_(opset),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        outputs_(node.output_size()) {}

  const onnx::NodeProto& node() const { return node_; }
  int opset() const { return opset_; }  // of the node's domain
  // The node's name, or one made for it; unique among relay nodes only once
  // used.
  const std::string& name() const { return name_; }

  // ----------------------------------------------------------------- operands
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  bool has_input(int i) const;
  Binding* binding(int i) const { return inputs_[i]; }
  // The operand as a relay value. InvalidArgument when it is left out,
  // Unimplemented when it is a sequence or an optional value of a run.
  absl::StatusOr<Value> Input(int i);
  // Whether the operand is a sequence, or an optional value, that is; and as a
  // list, which a run has.
  bool IsList(int i) const;
  absl::StatusOr<Value> ListInput(int i);
  // ONNX's type of the operand's elements where another type carries them, else
  // 0. Such operands are refused by Input, unless by StoredInput or by a
  // converter that AllowStored has been called for.
  int stored(int i) const;
  absl::StatusOr<Value> StoredInput(int i);
  // For what only moves elements: all operands that hold some of the first
  // one's type. Unimplemented where they do not, and for text, whose shape is
  // not the tensor's.
  absl::Status AllowStored();
  // All operands, at least `required` of them. Those behind these may be left
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
  // `stored`, if given: ONNX's type of its elements where another carries them,
  // else 0. Without it such tensors are refused.
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name,
                                    int* stored = nullptr);
  absl::Status status() const { return status_; }

  // ------------------------------------------------------------------ results
  // Appends a call named after the node, with `suffix` if it is not the node's
  // own operation. Where attributes mention run-time symbols, operands that
  // tell them are added.
  absl::StatusOr<Value> Emit(absl::string_view op, std::vector<Value> inputs,
                             Attrs attrs = {}, absl::string_view suffix = "");
  // All results of a call with several.
  absl::StatusOr<relay::Node*> EmitNode(absl::string_view op,
                                        std::vector<Value> inputs,
                                        Attrs attrs = {},
                                        absl::string_view suffix = "");
  absl::StatusOr<Value> Constant(Tensor tensor, absl::string_view suffix);
  // A constant of one value: rank 0 unless a shape is given.
  absl::StatusOr<Value> Scalar(DataType dtype, double value,
                               absl::Span<const int64_t> shape = {});
  // The value with another shape: itself if it has it already; a constant is
  // reshaped at once.
  absl::StatusOr<Value> Reshape(Value value, const Shape& shape,
                                absl::string_view suffix = "reshape");
  // The value, its dimensions known to be those of `shape`, which a run checks
  // where they are not provably so. InvalidArgument where they cannot be.
  absl::StatusOr<Value> FixShape(Value value, const Shape& shape,
                                 absl::string_view suffix = "fixed");
  absl::StatusOr<Value> Cast(Value value, DataType dtype);
  absl::StatusOr<Value> Transpose(Value value, std::vector<int64_t> axes,
                                  absl::string_view suffix = "transpose");
  // Values from one input that bind the symbols of `dims`.
  absl::StatusOr<std::vector<Value>> Carriers(const Shape& dims);

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
  void SetStoredOutput(int i, Value value, int stored) {
    Binding binding;
    binding.value = value;
    binding.stored = stored;
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

  Importer* importer() { return importer_; }

 private:
  const onnx::AttributeProto* Find(absl::string_view name) const;
  const onnx::AttributeProto* Typed(absl::string_view name,
                                    onnx::AttributeProto::AttributeType type);

  Importer* importer_;
  const onnx::NodeProto& node_;
  int opset_;
  std::string name_;
  std::vector<Binding*> inputs_;
  std::vector<Binding> outputs_;
  absl::Status status_;
  bool stored_allowed_ = false;
};

// The shape of a value, and its rank.
inline const Shape& ShapeOf(const Value& v) { return v.type().shape; }
inline int RankOf(const Value& v) {
  return static_cast<int>(v.type().shape.size());
}

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CONTEXT_H_
