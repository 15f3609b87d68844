#include "compiler/frontends/onnx/ml/rows.h"

#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {

Value Rows(Compose& k, DataType dtype) {
  const Value x = k.Input(0);
  if (!k.ok()) return Value{};
  const int rank = RankOf(x);
  if (rank < 1 || rank > 2 || x.type().dtype.is_bool()) {
    k.Check(k.context().Error("the operand is ", relay::ToString(x.type()),
                              ", not rows of numbers"));
    return Value{};
  }
  const Value y = k.Cast(x, dtype);
  return rank == 2 ? y : k.Reshape(y, {tir::MakeInt(1), ShapeOf(x)[0]});
}

Value FixColumns(Compose& k, Value x, int64_t n) {
  if (!k.ok()) return Value{};
  Shape shape = ShapeOf(x);
  shape.back() = tir::MakeInt(n);
  absl::StatusOr<Value> fixed = k.context().FixShape(x, shape);
  if (!fixed.ok()) {
    k.Check(k.context().Error("is made for ", n, " features, and reads ",
                              relay::ToString(x.type())));
    return Value{};
  }
  return *fixed;
}

Value Numbers(Compose& k, const std::vector<double>& values,
              const std::vector<int64_t>& shape, DataType dtype) {
  return k.Cast(
      k.Constant(MakeTensor<double>(DataType::Float(64), shape, values)),
      dtype);
}

}  // namespace ingot::onnx_frontend
