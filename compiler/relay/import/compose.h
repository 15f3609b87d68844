// Operations of a model that are made of several operators.
#ifndef INGOT_COMPILER_RELAY_IMPORT_COMPOSE_H_
#define INGOT_COMPILER_RELAY_IMPORT_COMPOSE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/import/call_builder.h"

namespace ingot::relay {

// Emits one call after another, so that a formula reads as one. The first
// error is kept, and what comes after it gives null values and does nothing:
// ask status() before looking at a value's type, and at the end.
class Compose {
 public:
  // `calls` must outlive this.
  explicit Compose(CallBuilder& calls) : calls_(calls) {}

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  // The value, or null and its error kept.
  Value Take(absl::StatusOr<Value> value);

  Value Call(absl::string_view op, std::vector<Value> inputs, Attrs attrs = {});
  Value Add(Value a, Value b) { return Call("add", {a, b}); }
  Value Sub(Value a, Value b) { return Call("sub", {a, b}); }
  Value Mul(Value a, Value b) { return Call("mul", {a, b}); }
  Value Div(Value a, Value b) { return Call("div", {a, b}); }
  // With a constant of the value's type.
  Value Add(Value a, double b) { return Add(a, Like(a, b)); }
  Value Sub(Value a, double b) { return Sub(a, Like(a, b)); }
  Value Mul(Value a, double b) { return b == 1 ? a : Mul(a, Like(a, b)); }
  Value Div(Value a, double b) { return Div(a, Like(a, b)); }
  Value Like(const Value& a, double value);

  Value Cast(Value a, DataType dtype);
  Value Reshape(Value a, const Shape& shape);
  Value Transpose(Value a, std::vector<int64_t> axes);
  // a broadcast to `shape`.
  Value Expand(Value a, const Shape& shape);
  // [start, end) of one dimension.
  Value Slice(Value a, int axis, const tir::Expr& start, const tir::Expr& end);
  Value Concat(std::vector<Value> parts, int axis);
  Value Reduce(absl::string_view op, Value a, std::vector<int64_t> axes,
               bool keepdims = true);
  Value Constant(absl::StatusOr<Tensor> tensor);
  // `value` in each element.
  Value Full(DataType dtype, const Shape& shape, double value);
  // 0, 1, ... as i64[count]; and a dimension as i64[1].
  Value CountUp(const Dim& count);
  Value Number(const Dim& dim);

  // Keeps the error, if there is none yet; returns `status`'s.
  bool Check(const absl::Status& status);

 private:
  // The result of `op`, which is made of dimensions alone.
  Value FromDims(absl::string_view op, const Shape& dims, Attrs attrs);

  CallBuilder& calls_;
  absl::Status status_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_COMPOSE_H_
