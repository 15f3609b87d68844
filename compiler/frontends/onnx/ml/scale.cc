// Operators that give each feature of a row another value of its own.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kF32 = DataType::Float(32);
const DataType kF64 = DataType::Float(64);

// x as it is combined with `count` numbers, one for all or one a feature.
absl::StatusOr<Value> ForEach(Compose& k, Value x, size_t count,
                              absl::string_view name) {
  INGOT_RETURN_IF_ERROR(k.status());
  if (count == 0 || RankOf(x) == 0) {
    return k.context().Error("has ", count, " ", name, " for ",
                             relay::ToString(x.type()));
  }
  if (count > 1) x = FixColumns(k, x, static_cast<int64_t>(count));
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

absl::Status Scaler(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Value y, c.Input(0));
  y = k.Cast(y, y.type().dtype == kF64 ? kF64 : kF32);
  const std::vector<double> offset = c.Floats("offset");
  const std::vector<double> scale = c.Floats("scale");
  if (offset.empty() && scale.empty()) {
    return c.Error("has neither an offset nor a scale");
  }
  for (const bool is_scale : {false, true}) {
    const std::vector<double>& numbers = is_scale ? scale : offset;
    if (numbers.empty()) continue;
    INGOT_ASSIGN_OR_RETURN(
        y, ForEach(k, y, numbers.size(), is_scale ? "scale" : "offset"));
    const Value each = Numbers(
        k, numbers, {static_cast<int64_t>(numbers.size())}, y.type().dtype);
    y = is_scale ? k.Mul(y, each) : k.Sub(y, each);
  }
  c.SetOutput(0, k.Cast(y, kF32));
  return k.status();
}

absl::Status Normalizer(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const std::string norm = c.String("norm", "MAX");
  if (RankOf(x) < 1 || RankOf(x) > 2) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  x = k.Cast(x, kF32);
  if (norm == "MAX") {
    const Value most = k.Reduce("reduce_max", x, {-1});
    const Value is_zero = k.Call("equal", {most, k.Like(most, 0)});
    c.SetOutput(0, k.Div(x, k.Call("where", {is_zero, k.Like(most, 1), most})));
    return k.status();
  }
  if (norm != "L1" && norm != "L2") {
    return c.Error("there is no norm '", norm, "'");
  }
  Attrs attrs;
  attrs.Set("axis", int64_t{-1});
  attrs.Set("p", int64_t{norm == "L1" ? 1 : 2});
  c.SetOutput(0, k.Call("lp_norm", {x}, std::move(attrs)));
  return k.status();
}

absl::Status Imputer(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const DataType dtype = x.type().dtype;
  const std::vector<double> floats = c.Floats("imputed_value_floats");
  const std::vector<int64_t> integers = c.Ints("imputed_value_int64s");
  Value imputed, is_missing;
  if (dtype.is_float()) {
    const double missing = c.Float("replaced_value_float", 0);
    INGOT_ASSIGN_OR_RETURN(
        x, ForEach(k, x, floats.size(), "imputed_value_floats"));
    imputed = Numbers(k, floats, {static_cast<int64_t>(floats.size())}, dtype);
    is_missing = std::isnan(missing) ? k.Call("is_nan", {x})
                                     : k.Call("equal", {x, k.Like(x, missing)});
  } else {
    INGOT_ASSIGN_OR_RETURN(
        x, ForEach(k, x, integers.size(), "imputed_value_int64s"));
    auto numbers = [&](const std::vector<int64_t>& values) {
      return k.Cast(k.Constant(MakeTensor<int64_t>(
                        DataType::Int(64),
                        {static_cast<int64_t>(values.size())}, values)),
                    dtype);
    };
    imputed = numbers(integers);
    is_missing =
        k.Call("equal", {x, numbers({c.Int("replaced_value_int64", 0)})});
  }
  c.SetOutput(0, k.Call("where", {is_missing, imputed, x}));
  return k.status();
}

}  // namespace

void AddScaleConverters(ConverterTable* t) {
  t->Add("Imputer", 1, &Imputer, kMlDomain);
  t->Add("Normalizer", 1, &Normalizer, kMlDomain);
  t->Add("Scaler", 1, &Scaler, kMlDomain);
}

}  // namespace ingot::onnx_frontend
