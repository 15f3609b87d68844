#include "compiler/relay/passes/rewrite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "runtime/float16.h"

namespace ingot::relay {

double NumberAt(const Tensor& tensor, int64_t index) {
  const DataType t = tensor.dtype();
  const char* data =
      static_cast<const char*>(tensor.raw_data()) + index * t.bytes();
  auto as = [&](auto zero) {
    std::memcpy(&zero, data, sizeof(zero));
    return static_cast<double>(zero);
  };
  switch (t.code) {
    case DataType::kFloat:
      if (t.bits == 64) return as(double{});
      if (t.bits == 32) return as(float{});
      return HalfToFloat(*reinterpret_cast<const uint16_t*>(data));
    case DataType::kBFloat:
      return BFloat16ToFloat(*reinterpret_cast<const uint16_t*>(data));
    case DataType::kInt:
      if (t.bits == 64) return as(int64_t{});
      if (t.bits == 32) return as(int32_t{});
      if (t.bits == 16) return as(int16_t{});
      return as(int8_t{});
    default:
      if (t.bits == 64) return as(uint64_t{});
      if (t.bits == 32) return as(uint32_t{});
      if (t.bits == 16) return as(uint16_t{});
      return as(uint8_t{});
  }
}

bool IsFinished(const Function& function) {
  return function.attrs.Has("primitive") || function.attrs.Has("target") ||
         function.attrs.Has("composite");
}

bool IsConv(const Node& node) {
  // They alone say in which layout their weights are.
  return node.kind == NodeKind::kOp &&
         node.op->FindAttr("kernel_layout") != nullptr;
}

bool IsConvTranspose(const Node& node) {
  // They alone pad their results.
  return node.kind == NodeKind::kOp &&
         node.op->FindAttr("output_padding") != nullptr;
}

bool IsByteProduct(const Node& node) {
  return node.inputs[0].type().dtype == DataType::UInt(8) &&
         node.inputs[1].type().dtype == DataType::Int(8) &&
         node.outputs[0].dtype == DataType::Int(32);
}

int64_t ElementsOfWord(const Node& product, const LayoutPreferences& layouts) {
  if (layouts.byte_words && IsByteProduct(product)) return 4;
  const DataType i16 = DataType::Int(16);
  const bool is_wide = product.inputs[0].type().dtype == i16 &&
                       product.inputs[1].type().dtype == i16 &&
                       product.outputs[0].dtype == DataType::Int(32);
  return layouts.wide_words && is_wide ? 2 : 0;
}

bool IsOneElement(const Value& value) {
  const Shape& shape = value.type().shape;
  return std::all_of(shape.begin(), shape.end(),
                     [](const Dim& dim) { return tir::IsConstInt(dim, 1); });
}

const Tensor* ConstantOf(const Value& value) {
  return value.node != nullptr && value.node->constant.has_value()
             ? &*value.node->constant
             : nullptr;
}

std::optional<double> SplatOf(const Value& value) {
  const Tensor* tensor = ConstantOf(value);
  if (tensor == nullptr || tensor->NumElements() == 0) return std::nullopt;
  const auto* data = static_cast<const char*>(tensor->raw_data());
  const size_t element = tensor->dtype().bytes();
  for (int64_t i = 1; i < tensor->NumElements(); ++i) {
    if (std::memcmp(data, data + i * element, element) != 0) {
      return std::nullopt;
    }
  }
  return NumberAt(*tensor, 0);
}

bool AllFinite(const Tensor& tensor) {
  if (!tensor.dtype().is_float()) return true;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (!std::isfinite(NumberAt(tensor, i))) return false;
  }
  return true;
}

FloatSizes SizesOf(DataType type) {
  if (type == DataType::Float(16)) return {0x1p-14, 65504, 0x1p10};
  if (type == DataType::BFloat16()) return {0x1p-126, 0x1.fep127, 0x1p7};
  return type.bits == 64
             ? FloatSizes{std::numeric_limits<double>::min(),
                          std::numeric_limits<double>::max(), 0x1p52}
             : FloatSizes{std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::max(), 0x1p23};
}

double LargestSize(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    const double size = std::abs(NumberAt(tensor, i));
    if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, size);
  }
  return largest;
}

bool TermsJoin(const Tensor& a, const Tensor& b) {
  const FloatSizes sizes = SizesOf(a.dtype());
  const double x = LargestSize(a), y = LargestSize(b);
  return x + y <= sizes.most && std::min(x, y) < sizes.whole;
}

absl::StatusOr<Value> AddFolded(Function* function, absl::string_view op,
                                absl::string_view name,
                                std::vector<Value> inputs, Attrs attrs) {
  INGOT_ASSIGN_OR_RETURN(
      Node * node,
      function->AddOp(op, name, std::move(inputs), std::move(attrs)));
  if (!IsKnown(*node) || node->outputs.size() != 1) return Value{node};
  INGOT_ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateNode(*node));
  // The call stays behind without users, for RemoveDead.
  Node* result = function->AddConstant(name, results[0]);
  std::swap(result->name, node->name);
  return Value{result};
}

absl::StatusOr<Value> AddSplat(Function* function, absl::string_view name,
                               DataType dtype, absl::Span<const int64_t> shape,
                               double value) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  uint64_t bits = 0;
  auto put = [&](auto typed) { std::memcpy(&bits, &typed, sizeof(typed)); };
  if (dtype.code == DataType::kBFloat) {
    put(DoubleToBFloat16(value));
  } else if (!dtype.is_float()) {
    put(static_cast<int64_t>(value));
  } else if (dtype.bits == 64) {
    put(value);
  } else if (dtype.bits == 32) {
    put(static_cast<float>(value));
  } else {
    put(DoubleToHalf(value));
  }
  auto* to = static_cast<char*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < tensor.NumElements(); ++i, to += dtype.bytes()) {
    std::memcpy(to, &bits, dtype.bytes());
  }
  return Value{function->AddConstant(name, std::move(tensor))};
}

absl::StatusOr<Tensor> WordsOf(const Tensor& parts) {
  std::vector<int64_t> shape(parts.shape().begin(), parts.shape().end());
  shape.back() = shape.back() * parts.dtype().bytes() / 4;
  INGOT_ASSIGN_OR_RETURN(Tensor words, Tensor::Empty(DataType::Int(32), shape));
  const auto* from = static_cast<const uint8_t*>(parts.raw_data());
  int32_t* to = words.mutable_data<int32_t>();
  for (int64_t i = 0; i < words.NumElements(); ++i, from += 4) {
    to[i] = static_cast<int32_t>(from[0] | from[1] << 8 | from[2] << 16 |
                                 static_cast<uint32_t>(from[3]) << 24);
  }
  return words;
}

}  // namespace ingot::relay
