// Random numbers. A node with a seed gives the same numbers wherever a model
// runs, others (in each run) of a stream of their own.
#include <cstdint>
#include <cstring>
#include <utility>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kF32 = DataType::Float(32);
const DataType kF64 = DataType::Float(64);

// The type to draw numbers in that are compared with, or become, a `dtype`.
DataType DrawnAs(DataType dtype) { return dtype == kF64 ? kF64 : kF32; }

// The node's seed. Dropout gives an integer, others a float, whose bits are
// taken.
int64_t Seed(NodeContext& c) {
  if (c.node().op_type() == "Dropout") return c.Int("seed", 0);
  const auto seed = static_cast<float>(c.Float("seed", 0));
  uint32_t bits;
  std::memcpy(&bits, &seed, sizeof(bits));
  return bits;
}

// Numbers of their own for this node.
Value Draw(Compose& k, const char* distribution, const Shape& shape,
           DataType dtype) {
  NodeContext& c = k.context();
  Attrs attrs;
  attrs.Set("shape", shape);
  attrs.Set("dtype", dtype);
  attrs.Set("distribution", distribution);
  if (c.has_attr("seed")) {
    attrs.Set("seed", Seed(c));
  } else {
    attrs.Set("stream", c.importer()->nodes_imported());
  }
  absl::StatusOr<std::vector<Value>> sources = c.builder().DimSources(shape);
  if (!k.Check(sources.status())) return Value();
  std::vector<Value> inputs = {k.Call("random_state", {})};
  inputs.insert(inputs.end(), sources->begin(), sources->end());
  return k.Call("random", std::move(inputs), std::move(attrs));
}

// The attribute `dtype`, or `otherwise`.
absl::StatusOr<DataType> ResultType(NodeContext& c, DataType otherwise) {
  if (!c.has_attr("dtype")) return otherwise;
  return DataTypeFromOnnx(static_cast<int>(c.Int("dtype", 0)));
}

// ---------------------------------------------------------------- of one shape

// scale * drawn + offset
absl::Status Fill(NodeContext& c, const char* distribution, const Shape& shape,
                  DataType dtype, double scale, double offset) {
  if (!dtype.is_float()) return c.Error("gives no ", dtype.ToString());
  Compose k(c);
  const Value drawn = Draw(k, distribution, shape, DrawnAs(dtype));
  if (k.ok()) {
    c.SetOutput(0, k.Cast(k.Add(k.Mul(drawn, scale), offset), dtype));
  }
  return k.status();
}

absl::Status FillUniform(NodeContext& c, const Shape& shape, DataType dtype) {
  const double low = c.Float("low", 0), high = c.Float("high", 1);
  return Fill(c, "uniform", shape, dtype, high - low, low);
}

absl::Status FillNormal(NodeContext& c, const Shape& shape, DataType dtype) {
  return Fill(c, "normal", shape, dtype, c.Float("scale", 1),
              c.Float("mean", 0));
}

using Filler = absl::Status (*)(NodeContext&, const Shape&, DataType);

// In the shape that an attribute gives.
template <Filler fill>
absl::Status Random(NodeContext& c) {
  if (!c.has_attr("shape")) return c.Error("has no shape");
  const std::vector<int64_t> shape = c.Ints("shape");
  for (int64_t d : shape) {
    if (d < 0) return c.Error("shape has a dimension of ", d);
  }
  INGOT_ASSIGN_OR_RETURN(const DataType dtype, ResultType(c, kF32));
  return fill(c, relay::MakeShape(shape), dtype);
}

// In the shape of the operand.
template <Filler fill>
absl::Status RandomLike(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const DataType dtype, ResultType(c, x.type().dtype));
  return fill(c, ShapeOf(x), dtype);
}

// ------------------------------------------------------------ by probabilities

// 1 with the probability that the operand says.
absl::Status Bernoulli(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value p, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const DataType dtype, ResultType(c, p.type().dtype));
  const DataType drawn = DrawnAs(p.type().dtype);
  Compose k(c);
  const Value unit = Draw(k, "uniform", ShapeOf(p), drawn);
  const Value one = k.Call("less", {unit, k.Cast(p, drawn)});
  if (k.ok()) c.SetOutput(0, k.Cast(one, dtype));
  return k.status();
}

// Classes, as often as rows of logarithms of unnormalised probabilities say:
// the first whose cumulative probability is beyond a uniform number.
absl::Status Multinomial(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const DataType dtype,
                         ResultType(c, DataType::Int(32)));
  const int64_t samples = c.Int("sample_size", 1);
  if (RankOf(x) != 2 || !x.type().dtype.is_float()) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  if (samples < 1) return c.Error("sample_size=", samples);
  const tir::Expr batch = ShapeOf(x)[0], classes = ShapeOf(x)[1];
  const tir::Expr one = tir::MakeInt(1), count = tir::MakeInt(samples);
  Compose k(c);
  Attrs rows;
  rows.Set("axis", int64_t{1});
  const Value weights = k.Call("softmax", {k.Cast(x, kF64)}, rows);
  const Value cumulative = k.Call("cumsum", {weights}, rows);
  const Value unit = Draw(k, "uniform", {batch, count, one}, kF64);
  INGOT_RETURN_IF_ERROR(k.status());
  const Value limits = k.Reshape(cumulative, {batch, one, classes});
  const Value below = k.Call("less_equal", {limits, unit});
  const Value chosen = k.Reduce("reduce_sum", k.Cast(below, DataType::Int(64)),
                                {2}, /*keepdims=*/false);
  // The probabilities may add up to a little less than 1.
  INGOT_RETURN_IF_ERROR(k.status());
  Attrs last;
  last.Set("values", Shape{classes - 1});
  last.Set("shape", std::vector<int64_t>{});
  const Value limited =
      k.Call("minimum", {chosen, k.Call("dims", {x}, std::move(last))});
  if (k.ok()) c.SetOutput(0, k.Cast(limited, dtype));
  return k.status();
}

// --------------------------------------------------------------------- dropout

// The operand itself, with a mask of ones.
absl::Status KeepAll(NodeContext& c, const Value& x) {
  c.SetOutput(0, x);
  if (!c.wants_output(1)) return absl::OkStatus();
  Attrs attrs;
  attrs.Set("shape", ShapeOf(x));
  // Before operator set 10 the mask was of the operand's type.
  attrs.Set("dtype", c.opset() < 10 ? x.type().dtype : DataType::Bool());
  attrs.Set("value", 1.0);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(ShapeOf(x)));
  INGOT_ASSIGN_OR_RETURN(Value mask,
                         c.Emit("full", sources, std::move(attrs), "mask"));
  c.SetOutput(1, mask);
  return absl::OkStatus();
}

// Whether operand `i` is known to be one number or bool, this one.
bool IsKnownToBe(NodeContext& c, int i, double value) {
  const Known* known = c.known(i);
  double number;
  return known != nullptr && known->values.size() == 1 &&
         known->values[0].AsDouble(&number) && number == value;
}

// Each element becomes zero with the probability `ratio`, or grows so that the
// mean stays, but only where training_mode is true. Before
// operator set 12 a node did not say whether it is for training: models that
// are compiled are not.
absl::Status Dropout(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  const bool has_mode = c.opset() >= 12 && c.has_input(2);
  if (!has_mode || IsKnownToBe(c, 2, 0) ||
      (c.has_input(1) && IsKnownToBe(c, 1, 0))) {
    return KeepAll(c, x);
  }
  const DataType drawn = DrawnAs(x.type().dtype);
  Compose k(c);
  const Value training = k.Reshape(k.Input(2), {});
  Value ratio;
  if (c.has_input(1)) {
    ratio = k.Reshape(k.Cast(k.Input(1), drawn), {});
  } else {
    ratio = k.Take(c.Scalar(drawn, 0.5));
  }
  const Value unit = Draw(k, "uniform", ShapeOf(x), drawn);
  INGOT_RETURN_IF_ERROR(k.status());
  const Value kept = k.Call("greater_equal", {unit, ratio});
  const Value mask =
      k.Call("logical_or", {kept, k.Call("logical_not", {training})});
  const Value left = k.Sub(k.Like(ratio, 1), ratio);
  const Value scale = k.Call(
      "where", {training, k.Call("reciprocal", {left}), k.Like(ratio, 1)});
  const Value grown = k.Mul(x, k.Cast(scale, x.type().dtype));
  INGOT_RETURN_IF_ERROR(k.status());
  const Value result = k.Call("where", {mask, grown, k.Like(grown, 0)});
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetOutput(0, result);
  c.SetOutput(1, mask);
  return absl::OkStatus();
}

}  // namespace

void AddRandomConverters(ConverterTable* t) {
  t->Add("RandomUniform", 1, &Random<FillUniform>);
  t->Add("RandomUniformLike", 1, &RandomLike<FillUniform>);
  t->Add("RandomNormal", 1, &Random<FillNormal>);
  t->Add("RandomNormalLike", 1, &RandomLike<FillNormal>);
  t->Add("Bernoulli", 15, &Bernoulli);
  t->Add("Multinomial", 7, &Multinomial);
  t->Add("Dropout", 1, &Dropout);
}

}  // namespace ingot::onnx_frontend
