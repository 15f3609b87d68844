// Constants, and tensors made from shapes.
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"
#include "runtime/text_tensor.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status Constant(NodeContext& c) {
  absl::StatusOr<Tensor> tensor = c.Error("has no value");
  StorageType storage = StorageType::kNone;
  if (c.has_attr("value")) {
    tensor = c.TensorAttr("value", &storage);
  } else if (c.has_attr("value_int")) {
    tensor =
        MakeTensor<int64_t>(DataType::Int(64), {}, {c.Int("value_int", 0)});
  } else if (c.has_attr("value_ints")) {
    const std::vector<int64_t> v = c.Ints("value_ints");
    tensor = MakeTensor<int64_t>(DataType::Int(64),
                                 {static_cast<int64_t>(v.size())}, v);
  } else if (c.has_attr("value_float")) {
    tensor = MakeTensor<float>(DataType::Float(32), {},
                               {static_cast<float>(c.Float("value_float", 0))});
  } else if (c.has_attr("value_floats")) {
    const std::vector<double> v = c.Floats("value_floats");
    const std::vector<float> f(v.begin(), v.end());
    tensor = MakeTensor<float>(DataType::Float(32),
                               {static_cast<int64_t>(f.size())}, f);
  } else if (c.has_attr("value_string")) {
    storage = StorageType::kText;
    tensor = TextTensor({c.String("value_string", "")}, {});
  } else if (c.has_attr("value_strings")) {
    storage = StorageType::kText;
    const std::vector<std::string> strings = c.Strings("value_strings");
    const std::vector<absl::string_view> v(strings.begin(), strings.end());
    tensor = TextTensor(v, {static_cast<int64_t>(v.size())});
  } else if (c.node().attribute_size() > 0) {
    return c.NotSupported("a constant with attribute '",
                          c.node().attribute(0).name(), "'");
  }
  if (!tensor.ok()) return tensor.status();
  INGOT_ASSIGN_OR_RETURN(Value value, c.Constant(*std::move(tensor), ""));
  c.SetStoredOutput(0, value, storage);
  return absl::OkStatus();
}

absl::Status ConstantOfShape(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Shape shape, c.RunTimeInts(0, "shape"));
  DataType dtype = DataType::Float(32);
  double fill = 0;
  StorageType storage = StorageType::kNone;
  std::optional<Tensor> repeated;  // a value that `full` cannot state
  if (c.has_attr("value")) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, c.TensorAttr("value", &storage));
    if (storage == StorageType::kText) return c.NotSupported("text");
    if (tensor.NumElements() != 1) return c.Error("value must be one number");
    dtype = tensor.dtype();
    const std::optional<Known> value = relay::KnownFromTensor(tensor);
    constexpr uint64_t kMost = uint64_t{1} << 53;  // that a double holds
    if (dtype == DataType::UInt(64) && tensor.data<uint64_t>()[0] <= kMost) {
      fill = static_cast<double>(tensor.data<uint64_t>()[0]);
    } else if (!value || !value->values[0].FitsDouble() ||
               !value->values[0].AsDouble(&fill)) {
      repeated = std::move(tensor);
    }
  }
  for (const tir::Expr& d : shape) {
    int64_t v;
    if (tir::AsConstInt(d, &v) && v < 0) {
      return c.Error("shape has a dimension of ", v);
    }
  }
  Attrs attrs;
  attrs.Set("shape", shape);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(shape));
  if (repeated.has_value()) {
    INGOT_ASSIGN_OR_RETURN(Value value,
                           c.Constant(*std::move(repeated), "value"));
    INGOT_ASSIGN_OR_RETURN(value, c.Reshape(value, {}, "scalar"));
    sources.insert(sources.begin(), value);
    return c.Return("expand", sources, std::move(attrs));
  }
  attrs.Set("dtype", dtype);
  attrs.Set("value", fill);
  INGOT_ASSIGN_OR_RETURN(Value filled,
                         c.Emit("full", sources, std::move(attrs)));
  c.SetStoredOutput(0, filled, storage);
  return absl::OkStatus();
}

// The type in which a range of `dtype` is computed: a wider one for floats of
// 16 bits.
absl::StatusOr<DataType> RangeType(NodeContext& c, DataType dtype) {
  if (!dtype.is_float() || dtype.bits != 16) return dtype;
  const int64_t stash = c.Int("stash_type", onnx::TensorProto::FLOAT);
  INGOT_ASSIGN_OR_RETURN(const DataType type,
                         DataTypeFromOnnx(static_cast<int>(stash)));
  if (!type.is_float()) return c.Error("stash_type=", stash);
  return type;
}

// From operands that a run computes.
absl::Status RunTimeRange(NodeContext& c, DataType result, DataType dtype) {
  std::vector<Value> in(3);
  for (int i = 0; i < 3; ++i) {
    INGOT_ASSIGN_OR_RETURN(in[i], c.Input(i));
    INGOT_ASSIGN_OR_RETURN(in[i], c.Reshape(in[i], {}, "scalar"));
    INGOT_ASSIGN_OR_RETURN(in[i], c.Cast(in[i], dtype));
  }
  INGOT_ASSIGN_OR_RETURN(Value number, c.Emit("range_count", in, {}, "count"));
  INGOT_ASSIGN_OR_RETURN(
      Shape count,
      c.builder().BindDims(number, absl::StrCat(c.name(), "_count")));
  Attrs attrs;
  attrs.Set("count", count);
  attrs.Set("dtype", dtype);
  INGOT_ASSIGN_OR_RETURN(Value steps,
                         c.Emit("range", {}, std::move(attrs), "steps"));
  INGOT_ASSIGN_OR_RETURN(Value offset,
                         c.Emit("mul", {steps, in[2]}, {}, "offset"));
  INGOT_ASSIGN_OR_RETURN(Value range, c.Emit("add", {offset, in[0]}));
  INGOT_ASSIGN_OR_RETURN(range, c.Cast(range, result));
  c.SetOutput(0, range);
  return absl::OkStatus();
}

// The number that is known of an operand, by a symbol or as a constant; null if
// there is none or more than one.
const KnownNumber* NumberOf(const Known* known) {
  return known != nullptr && known->values.size() == 1 ? &known->values[0]
                                                       : nullptr;
}

bool IsSymbolic(const KnownNumber* number) {
  double value;
  return number != nullptr && !number->AsDouble(&value);
}

// From whole numbers of which symbols tell some, in whole steps that are known.
// A run counts the elements of any other range.
absl::Status SymbolicRange(NodeContext& c, DataType result, DataType dtype) {
  const KnownNumber* const start = NumberOf(c.known(0));
  const KnownNumber* const limit = NumberOf(c.known(1));
  const KnownNumber* const delta = NumberOf(c.known(2));
  int64_t step;
  if (start == nullptr || start->integer == nullptr || limit == nullptr ||
      limit->integer == nullptr || delta == nullptr || !delta->AsInt(&step) ||
      step == 0 || !delta->FitsDouble()) {
    return RunTimeRange(c, result, dtype);
  }
  const int64_t size = std::abs(step);
  const tir::Expr length = step > 0 ? limit->integer - start->integer
                                    : start->integer - limit->integer;
  const tir::Expr steps = tir::MakeBinary(
      tir::BinaryOp::kFloorDiv, length + (size - 1), tir::MakeInt(size));
  const Shape count = {SimplifyDim(Max(steps, tir::MakeInt(0)))};
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(count));
  int64_t first = 0;
  const bool known_first = start->FitsDouble() && start->AsInt(&first);
  Attrs attrs;
  attrs.Set("dtype", known_first ? dtype : DataType::Int(64));
  attrs.Set("start", static_cast<double>(first));
  attrs.Set("step", static_cast<double>(step));
  attrs.Set("count", count);
  INGOT_ASSIGN_OR_RETURN(Value range,
                         c.Emit("range", std::move(sources), std::move(attrs)));
  Compose k(c);
  if (!known_first) range = k.Add(range, k.Number(start->integer));
  c.SetOutput(0, k.Cast(range, result));
  return k.status();
}

// How many steps it takes to get to the limit. Of floats as range_count counts
// them: by a difference and a quotient that are floats, too.
double StepsBetween(double start, double limit, double step, DataType dtype) {
  if (!dtype.is_float() || dtype.bits > 32) {
    return std::ceil((limit - start) / step);
  }
  const float distance = static_cast<float>(limit) - static_cast<float>(start);
  return std::ceil(distance / static_cast<float>(step));
}

absl::Status Range(NodeContext& c) {
  if (!c.has_input(0)) return c.Error("input 0 is missing");
  INGOT_ASSIGN_OR_RETURN(Value first, c.Input(0));
  const DataType result = first.type().dtype;
  INGOT_ASSIGN_OR_RETURN(const DataType dtype, RangeType(c, result));
  bool symbolic = false;
  for (int i = 0; i < 3; ++i) {
    if (c.IsRunTimeInput(i)) return RunTimeRange(c, result, dtype);
    const KnownNumber* const number = NumberOf(c.known(i));
    symbolic = symbolic || IsSymbolic(number) ||
               (number != nullptr && !number->FitsDouble());
  }
  if (symbolic) return SymbolicRange(c, result, dtype);
  INGOT_ASSIGN_OR_RETURN(std::vector<double> start,
                         c.ConstantFloats(0, "start"));
  INGOT_ASSIGN_OR_RETURN(std::vector<double> ends,
                         c.ConstantFloats(1, "limit"));
  INGOT_ASSIGN_OR_RETURN(std::vector<double> step,
                         c.ConstantFloats(2, "delta"));
  if (start.size() != 1 || step.size() != 1 || step[0] == 0) {
    return c.Error("start and delta must be one number each, delta not 0");
  }
  if (ends.size() != 1) return c.Error("limit must be one number");
  const double n = StepsBetween(start[0], ends[0], step[0], dtype);
  if (!(n < 1e12)) return c.Error("a range of ", n, " elements");
  Attrs attrs;
  attrs.Set("dtype", dtype);
  attrs.Set("start", start[0]);
  attrs.Set("step", step[0]);
  attrs.Set("count",
            relay::MakeShape({n > 0 ? static_cast<int64_t>(n) : int64_t{0}}));
  INGOT_ASSIGN_OR_RETURN(Value range, c.Emit("range", {}, std::move(attrs)));
  INGOT_ASSIGN_OR_RETURN(range, c.Cast(range, result));
  c.SetOutput(0, range);
  return absl::OkStatus();
}

absl::Status EyeLike(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  attrs.Set("k", c.Int("k", 0));
  if (c.has_attr("dtype")) {
    INGOT_ASSIGN_OR_RETURN(
        DataType dtype, DataTypeFromOnnx(static_cast<int>(c.Int("dtype", 0))));
    attrs.Set("dtype", dtype);
  }
  return c.Return("eye_like", {x}, std::move(attrs));
}

// The same as below, of a size that a run tells.
absl::Status RunTimeWindow(NodeContext& c, double a0, double a1, double a2,
                           DataType dtype) {
  Compose k(c);
  const DataType f64 = DataType::Float(64);
  const Value size = k.Reshape(k.Input(0), {tir::MakeInt(1)});
  INGOT_RETURN_IF_ERROR(k.status());
  if (!size.type().dtype.is_integer()) {
    return c.Error("size is ", relay::ToString(size.type()));
  }
  INGOT_ASSIGN_OR_RETURN(
      const Shape count,
      c.builder().BindDims(size, absl::StrCat(c.name(), "_size")));
  Value period = k.Cast(size, f64);
  if (c.Int("periodic", 1) == 0) period = k.Sub(period, 1);
  const Value turn =
      k.Div(k.Mul(k.Cast(k.CountUp(count[0]), f64), 2 * M_PI), period);
  auto wave = [&](double amplitude, double speed) {
    return k.Mul(k.Call("cos", {k.Mul(turn, speed)}), amplitude);
  };
  Value window = k.Add(wave(-a1, 1), a0);
  if (a2 != 0) window = k.Add(window, wave(a2, 2));
  c.SetOutput(0, k.Cast(window, dtype));
  return k.status();
}

// a0 - a1 * cos(2 pi n / size) + a2 * cos(4 pi n / size)
Converter Window(double a0, double a1, double a2) {
  return [=](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(DataType dtype,
                           DataTypeFromOnnx(static_cast<int>(c.Int(
                               "output_datatype", onnx::TensorProto::FLOAT))));
    if (c.IsRunTimeInput(0)) return RunTimeWindow(c, a0, a1, a2, dtype);
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> size,
                           c.ConstantInts(0, "size"));
    if (size.size() != 1 || size[0] < 0 || size[0] > (1 << 24)) {
      return c.Error("size must be one number");
    }
    const bool periodic = c.Int("periodic", 1) != 0;
    const double period = static_cast<double>(periodic ? size[0] : size[0] - 1);
    std::vector<float> values;
    for (int64_t i = 0; i < size[0]; ++i) {
      const double t = 2 * M_PI * static_cast<double>(i) / period;
      values.push_back(
          static_cast<float>(a0 - a1 * std::cos(t) + a2 * std::cos(2 * t)));
    }
    INGOT_ASSIGN_OR_RETURN(
        Tensor tensor, MakeTensor<float>(DataType::Float(32), size, values));
    INGOT_ASSIGN_OR_RETURN(Value window, c.Constant(std::move(tensor), ""));
    INGOT_ASSIGN_OR_RETURN(window, c.Cast(window, dtype));
    c.SetOutput(0, window);
    return absl::OkStatus();
  };
}

}  // namespace

void AddGenerateConverters(ConverterTable* t) {
  t->Add("Constant", 1, &Constant);
  t->Add("ConstantOfShape", 9, &ConstantOfShape);
  t->Add("Range", 11, &Range);
  t->Add("EyeLike", 9, &EyeLike);
  t->Add("HannWindow", 17, Window(0.5, 0.5, 0));
  t->Add("HammingWindow", 17, Window(25.0 / 46, 21.0 / 46, 0));
  t->Add("BlackmanWindow", 17, Window(0.42, 0.5, 0.08));
}

}  // namespace ingot::onnx_frontend
