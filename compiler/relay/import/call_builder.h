// The calls that one operation of a model becomes.
#ifndef INGOT_COMPILER_RELAY_IMPORT_CALL_BUILDER_H_
#define INGOT_COMPILER_RELAY_IMPORT_CALL_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/relay/import/builder.h"

namespace ingot::relay {

// Appends nodes to the current function of a builder, named after an operation
// of the model. Errors are those of Function::AddOp.
class CallBuilder {
 public:
  // `builder` must outlive this.
  CallBuilder(ModuleBuilder* builder, std::string name)
      : builder_(builder), name_(std::move(name)) {}

  ModuleBuilder& builder() { return *builder_; }
  // The operation's name; nodes get it with a suffix where it is taken.
  const std::string& name() const { return name_; }

  // Appends a call named after the operation, with `suffix` if the call is not
  // the operation itself. Where attributes mention run-time symbols, operands
  // that have these are added.
  absl::StatusOr<Value> Emit(absl::string_view op, std::vector<Value> inputs,
                             Attrs attrs = {}, absl::string_view suffix = "");
  // The same for a call with several results.
  absl::StatusOr<Node*> EmitNode(absl::string_view op,
                                 std::vector<Value> inputs, Attrs attrs = {},
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
  // Floats of 16 bits as f32, in whose range their sums and products are.
  // Others stay as they are.
  absl::StatusOr<Value> Widen(Value value);
  absl::StatusOr<Value> Transpose(Value value, std::vector<int64_t> axes,
                                  absl::string_view suffix = "transpose");

 private:
  std::string NameWith(absl::string_view suffix) const;

  ModuleBuilder* builder_;
  std::string name_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_CALL_BUILDER_H_
