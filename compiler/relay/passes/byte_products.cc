// byte_products: products and convolutions of quantised data on the bytes
// themselves, which processors multiply four at a time, or on numbers of 16
// bits, which others multiply two at a time.
//
//   sum of (x - zx) * w  ->  sum of x * w, less zx times the sums of w
//   dequantize(x) * dequantize(w)  ->  the same in integers, times both scales
//
// Data becomes u8 and weights i8, whose zero points are subtracted here. What
// the model pads with zeros, less zero points, is padded with the zero point.
// Numbers of 16 bits hold both less their zero points.
// Sums of integers are the same to the last bit, also where they wrap; those of
// dequantised values were rounded at each step before and are not any more.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/byte_operands.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/rules.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

const DataType kI8 = DataType::Int(8), kU8 = DataType::UInt(8),
               kI16 = DataType::Int(16), kI32 = DataType::Int(32),
               kF32 = DataType::Float(32);

// Constant weights by columns, as output channels are called here: the
// elements of one are multiplied by the same data.
struct Weights {
  Ints shape;
  size_t axis = 0;              // of columns
  std::vector<int64_t> values;  // less the zero point; row major
  std::optional<Value> scale;   // f32: one element, or one a column

  int64_t columns() const { return shape[axis]; }
  int64_t terms() const {
    return static_cast<int64_t>(values.size()) / columns();
  }
  // Calls f(value, column) for each value, without a division for each.
  template <typename F>
  void ForEach(F f) {
    size_t inner = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    auto value = values.begin();
    while (value != values.end()) {
      for (int64_t column = 0; column < columns(); ++column) {
        for (size_t i = 0; i < inner; ++i) f(*value++, column);
      }
    }
  }
};

template <typename T>
std::vector<int64_t> ElementsOf(const Tensor& tensor) {
  const T* data = tensor.data<T>();
  return {data, data + tensor.NumElements()};
}

std::vector<int64_t> Integers(const Tensor& tensor) {
  const DataType t = tensor.dtype();
  if (t == kI8) return ElementsOf<int8_t>(tensor);
  if (t == kU8) return ElementsOf<uint8_t>(tensor);
  if (t == kI32) return ElementsOf<int32_t>(tensor);
  return std::vector<int64_t>(tensor.NumElements());
}

bool AllZero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](int64_t value) { return value == 0; });
}

// The number of one element, or of each of the columns; none for anything else.
std::optional<std::vector<int64_t>> ZeroPoints(const Value& value,
                                               int64_t columns) {
  const Tensor* tensor = ConstantOf(value);
  if (tensor == nullptr) return std::nullopt;
  std::vector<int64_t> zeros = Integers(*tensor);
  if (zeros.size() == 1) zeros.resize(columns, zeros[0]);
  if (static_cast<int64_t>(zeros.size()) != columns) return std::nullopt;
  return zeros;
}

std::optional<Weights> ReadWeights(const Value& w, size_t axis,
                                   bool dequantized) {
  const Node& node = *w.node;
  const bool fits =
      !dequantized || (node.Is("dequantize") && w.type().dtype == kF32);
  const Tensor* tensor =
      fits ? ConstantOf(dequantized ? node.inputs[0] : w) : nullptr;
  if (tensor == nullptr || tensor->NumElements() == 0 ||
      !(IsByte(tensor->dtype()) || (!dequantized && tensor->dtype() == kI32))) {
    return std::nullopt;
  }
  Weights weights;
  weights.shape.assign(tensor->shape().begin(), tensor->shape().end());
  weights.axis = axis;
  weights.values = Integers(*tensor);
  if (!dequantized) return weights;
  weights.scale = node.inputs[1];
  int64_t along = node.attrs.Get<int64_t>("axis");
  if (along < 0) along += static_cast<int64_t>(weights.shape.size());
  const bool has_zero =
      node.inputs.size() > 2 && node.inputs[2].node != nullptr;
  for (size_t k = 1; k < (has_zero ? 3 : 2); ++k) {
    if (!IsOneElement(node.inputs[k]) && along != static_cast<int64_t>(axis)) {
      return std::nullopt;
    }
  }
  if (!has_zero) return weights;
  const auto zeros = ZeroPoints(node.inputs[2], weights.columns());
  if (!zeros) return std::nullopt;
  if (AllZero(*zeros)) return weights;
  weights.ForEach(
      [&](int64_t& value, int64_t column) { value -= (*zeros)[column]; });
  return weights;
}

// Takes from each column what brings it into i8, where something has to be
// taken: how much. None where a column spans more than 256 numbers.
std::optional<std::vector<int64_t>> ShiftIntoI8(Weights* weights) {
  const int64_t columns = weights->columns();
  std::vector<int64_t> low(columns, std::numeric_limits<int64_t>::max());
  std::vector<int64_t> high(columns, std::numeric_limits<int64_t>::min());
  weights->ForEach([&](int64_t value, int64_t column) {
    low[column] = std::min(low[column], value);
    high[column] = std::max(high[column], value);
  });
  std::vector<int64_t> shifts(columns, 0);
  for (int64_t n = 0; n < columns; ++n) {
    if (high[n] - low[n] > 255) return std::nullopt;
    if (low[n] < -kByteOffset || high[n] >= kByteOffset)
      shifts[n] = low[n] + kByteOffset;
  }
  if (AllZero(shifts)) return shifts;
  weights->ForEach(
      [&](int64_t& value, int64_t column) { value -= shifts[column]; });
  return shifts;
}

template <typename T>
absl::StatusOr<Tensor> MakeTensor(DataType dtype, const Ints& shape,
                                  const std::vector<int64_t>& values) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  std::transform(values.begin(), values.end(), tensor.mutable_data<T>(),
                 [](int64_t value) { return static_cast<T>(value); });
  return tensor;
}

// `value` less its zero point as i16; null where that may be anything.
absl::StatusOr<Value> Halves(RuleContext& c, const ByteData& data) {
  constexpr double kMostZero = 255;
  Value zero = data.zero.value_or(Value{});
  if (data.zero && !(SplatOf(zero) && std::abs(*SplatOf(zero)) <= kMostZero)) {
    while (zero.type().dtype == kI32 &&
           (zero.node->Is("cast") || zero.node->Is("reshape"))) {
      zero = zero.node->inputs[0];
    }
    if (!IsByte(zero.type().dtype)) return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value halves,
                         c.Add("cast", {data.values}, {{"dtype", kI16}}));
  if (!data.zero || SplatOf(zero) == 0.0) return halves;
  INGOT_ASSIGN_OR_RETURN(zero, c.Add("reshape", {zero}, {{"shape", Shape()}}));
  INGOT_ASSIGN_OR_RETURN(zero, c.Add("cast", {zero}, {{"dtype", kI16}}));
  return c.Add("sub", {halves, zero});
}

// One product, taken apart and put together again.
class Rewriter {
 public:
  Rewriter(RuleContext& c, const Node& node, ByteData data, Weights weights)
      : c_(c),
        node_(node),
        data_(std::move(data)),
        weights_(std::move(weights)),
        is_conv_(IsConv(node)) {}

  // Returns what stands for the node's result; null when the node has to stay.
  absl::StatusOr<Value> Run() {
    if (data_.scale && weights_.terms() > kMaxByteTerms) return Value{};
    const auto shifts = ShiftIntoI8(&weights_);
    if (!shifts || (is_conv_ && !AllZero(*shifts))) return Value{};
    zero_ = ZeroOfUnsigned();
    if (Pads() && !(zero_ && *zero_ >= 0 && *zero_ <= 255)) return Value{};
    INGOT_RETURN_IF_ERROR(GiveByteType(c_, kU8, &data_));
    INGOT_ASSIGN_OR_RETURN(Value sum, Product());
    INGOT_ASSIGN_OR_RETURN(sum, TakeZeroPoint(sum, *shifts));
    INGOT_ASSIGN_OR_RETURN(sum, AddShifts(sum, *shifts));
    return data_.scale ? Scale(sum) : sum;
  }

  // The same of numbers of 16 bits.
  absl::StatusOr<Value> RunOnHalves() {
    const bool fits =
        std::all_of(weights_.values.begin(), weights_.values.end(),
                    [](int64_t w) { return w == static_cast<int16_t>(w); });
    if (!fits || (data_.scale && weights_.terms() > kMaxByteTerms))
      return Value{};
    INGOT_ASSIGN_OR_RETURN(data_.values, Halves(c_, data_));
    if (data_.values.node == nullptr) return Value{};
    zero_ = 0;
    INGOT_ASSIGN_OR_RETURN(const Value sum, Product());
    return data_.scale ? Scale(sum) : sum;
  }

 private:
  bool Pads() const {
    return is_conv_ && !AllZero(node_.attrs.GetEach("pads", 1));
  }
  bool is_signed() const { return data_.values.type().dtype == kI8; }

  // The zero point of the data as u8, where it is known.
  std::optional<double> ZeroOfUnsigned() const {
    std::optional<double> zero = 0;
    if (data_.zero) zero = SplatOf(*data_.zero);
    if (zero && is_signed()) *zero += kByteOffset;
    return zero;
  }

  absl::StatusOr<Value> Product() {
    INGOT_ASSIGN_OR_RETURN(
        Tensor tensor,
        data_.values.type().dtype == kI16
            ? MakeTensor<int16_t>(kI16, weights_.shape, weights_.values)
            : MakeTensor<int8_t>(kI8, weights_.shape, weights_.values));
    const Value& w = node_.inputs[1];
    Node* constant =
        c_.function()->AddConstant(w.node->name, std::move(tensor));
    constant->sources.Add(w.node->sources);
    Attrs attrs = node_.attrs;
    attrs.Set("out_dtype", kI32);
    if (Pads() && zero_ != 0.0) {
      attrs.Set("pad_value", static_cast<int64_t>(*zero_));
    }
    return c_.Add(node_.op->name, {data_.values, Value{constant}}, attrs);
  }

  // One number a column, in a shape that broadcasts to the result's.
  absl::StatusOr<Value> Columns(const std::vector<int64_t>& values) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                           MakeTensor<int32_t>(kI32, ColumnShape(), values));
    return Value{c_.function()->AddConstant(node_.name, std::move(tensor))};
  }
  Ints ColumnShape() const {
    Ints shape = {weights_.columns()};
    if (is_conv_) {
      shape.insert(shape.begin(), 1);
      shape.resize(weights_.shape.size(), 1);
    }
    return shape;
  }

  // Less the zero point times the sums of weights as they were before `shifts`
  // was taken from each.
  absl::StatusOr<Value> TakeZeroPoint(const Value& sum,
                                      const std::vector<int64_t>& shifts) {
    if (zero_ == 0.0) return sum;
    std::vector<int64_t> sums;
    for (const int64_t shift : shifts) {
      sums.push_back(-shift * weights_.terms());
    }
    weights_.ForEach(
        [&](int64_t value, int64_t column) { sums[column] -= value; });
    INGOT_ASSIGN_OR_RETURN(const Value negative, Columns(sums));
    INGOT_ASSIGN_OR_RETURN(const Value correction,
                           c_.Add("mul", {negative, *data_.zero}));
    return c_.Add("add", {sum, correction});
  }

  // And what was taken from the weights, times the sums of data.
  absl::StatusOr<Value> AddShifts(const Value& sum,
                                  const std::vector<int64_t>& shifts) {
    if (AllZero(shifts)) return sum;
    INGOT_ASSIGN_OR_RETURN(const Value taken, Columns(shifts));
    INGOT_ASSIGN_OR_RETURN(Value rows,
                           c_.Add("cast", {data_.values}, {{"dtype", kI32}}));
    INGOT_ASSIGN_OR_RETURN(
        rows, c_.Add("reduce_sum", {rows},
                     {{"axes", Ints{-1}}, {"keepdims", int64_t{1}}}));
    INGOT_ASSIGN_OR_RETURN(rows, c_.Add("mul", {rows, taken}));
    return c_.Add("add", {sum, rows});
  }

  absl::StatusOr<Value> Scale(const Value& sum) {
    Value scale = *weights_.scale;
    if (IsOneElement(scale)) {
      INGOT_ASSIGN_OR_RETURN(scale,
                             c_.Add("reshape", {scale}, {{"shape", Shape()}}));
    } else {
      INGOT_ASSIGN_OR_RETURN(
          scale,
          c_.Add("reshape", {scale}, {{"shape", MakeShape(ColumnShape())}}));
    }
    INGOT_ASSIGN_OR_RETURN(
        const Value of_data,
        c_.Add("reshape", {*data_.scale}, {{"shape", Shape()}}));
    INGOT_ASSIGN_OR_RETURN(scale, c_.Add("mul", {scale, of_data}));
    INGOT_ASSIGN_OR_RETURN(const Value real,
                           c_.Add("cast", {sum}, {{"dtype", kF32}}));
    return c_.Add("mul", {real, scale});
  }

  RuleContext& c_;
  const Node& node_;
  ByteData data_;
  Weights weights_;
  const bool is_conv_;
  std::optional<double> zero_;  // of u8 data, where it is known
};

// Whether sums and result are integers, not floats of dequantised operands;
// nothing where the node is none of what the rules are for.
std::optional<bool> IsOfIntegers(const Node& node) {
  const size_t rank = node.inputs[1].type().shape.size();
  if (!IsConv(node) && rank != 2) return std::nullopt;
  if (node.inputs[0].type().shape.size() < 2) return std::nullopt;
  const auto* out = node.attrs.Find<DataType>("out_dtype");
  const bool integers = out != nullptr && *out == kI32;
  if (!integers && node.outputs[0].dtype != kF32) return std::nullopt;
  if (IsConv(node) && node.attrs.Get<int64_t>("pad_value") != 0) {
    return std::nullopt;
  }
  return integers;
}

std::optional<Weights> WeightsOf(const Node& node, bool integers) {
  return ReadWeights(node.inputs[1], node.op->Has(kTimesMatrix) ? 1 : 0,
                     !integers);
}

absl::StatusOr<Value> OnBytes(RuleContext& c, const Node& node) {
  if (IsByteProduct(node)) return Value{};  // made by the rule, or like that
  const std::optional<bool> integers = IsOfIntegers(node);
  if (!integers) return Value{};
  const Value& x = node.inputs[0];
  std::optional<ByteData> data =
      *integers ? ReadByteIntegers(x) : ReadDequantizedBytes(x);
  if (!data) return Value{};
  std::optional<Weights> weights = WeightsOf(node, *integers);
  if (!weights) return Value{};
  return Rewriter(c, node, *std::move(data), *std::move(weights)).Run();
}

// Whether a product reads its weights so few times that their size counts.
bool HasFewRows(const Node& product) {
  constexpr int64_t kFewRows = 3;
  const Shape& shape = product.outputs[0].shape;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    int64_t extent = kFewRows + 1;
    tir::AsConstInt(shape[i], &extent);
    rows *= std::min(extent, kFewRows + 1);
  }
  return !IsConv(product) && rows <= kFewRows;
}

absl::StatusOr<Value> OnHalves(RuleContext& c, const Node& node) {
  const std::optional<bool> integers = IsOfIntegers(node);
  if (!integers || HasFewRows(node)) return Value{};
  const Value &x = node.inputs[0], &w = node.inputs[1];
  std::optional<ByteData> data =
      *integers ? ReadByteIntegers(x) : ReadDequantizedBytes(x);
  if (!data) return Value{};
  std::optional<Weights> weights = WeightsOf(node, *integers);
  if (weights) {
    return Rewriter(c, node, *std::move(data), *std::move(weights))
        .RunOnHalves();
  }
  // Weights of run time, which become words then.
  if (!*integers || !node.op->Has(kTimesMatrix) ||
      !ConstShape(w.type().shape)) {
    return Value{};
  }
  const std::optional<ByteData> factors = ReadByteIntegers(w);
  if (!factors) return Value{};
  INGOT_ASSIGN_OR_RETURN(const Value left, Halves(c, *data));
  INGOT_ASSIGN_OR_RETURN(const Value right, Halves(c, *factors));
  if (left.node == nullptr || right.node == nullptr) return Value{};
  return c.Add(node.op->name, {left, right}, node.attrs);
}

constexpr Rule kRules[] = {
    {"product of bytes", "matmul", 2, OnBytes},
    {"product of bytes with a transpose", "dense", 2, OnBytes},
    {"conv1d of bytes", "conv1d", 2, OnBytes},
    {"conv2d of bytes", "conv2d", 2, OnBytes},
    {"conv3d of bytes", "conv3d", 2, OnBytes},
};

constexpr Rule kWideRules[] = {
    {"product of halves", "matmul", 2, OnHalves},
    {"product of halves with a transpose", "dense", 2, OnHalves},
    {"conv1d of halves", "conv1d", 2, OnHalves},
    {"conv2d of halves", "conv2d", 2, OnHalves},
    {"conv3d of halves", "conv3d", 2, OnHalves},
};

}  // namespace

absl::Span<const Rule> ByteProductRules() { return kRules; }
absl::Span<const Rule> WideProductRules() { return kWideRules; }

absl::StatusOr<bool> ByteProducts(Module* module, PassContext* context) {
  if (!context->layouts.byte_words) return false;
  const absl::Span<const Rule> moves = QuantizedMoveRules();
  std::vector<Rule> rules(moves.begin(), moves.end());
  if (context->layouts.wide_words) {
    rules.insert(rules.end(), std::begin(kWideRules), std::end(kWideRules));
  }
  rules.insert(rules.end(), std::begin(kRules), std::end(kRules));
  if (context->layouts.run_time_words) {
    const absl::Span<const Rule> of_two = ByteProductOfTwoRules();
    rules.insert(rules.end(), of_two.begin(), of_two.end());
  }
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(const bool made, MakeBytesUnsigned(function.get()));
    INGOT_ASSIGN_OR_RETURN(const bool now, ApplyRules(function.get(), rules));
    changed = changed || made || now;
  }
  return changed;
}

}  // namespace ingot::relay
