#include "backends/cmsis_nn/values.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot::cmsis_nn {
namespace {

template <typename T>
std::vector<double> ElementsOf(const Tensor& tensor) {
  const T* const first = tensor.data<T>();
  return {first, first + tensor.NumElements()};
}

}  // namespace

absl::Status No(absl::string_view why) { return absl::UnimplementedError(why); }

absl::StatusOr<std::vector<double>> Numbers(const codegen::RegionCall& call,
                                            const relay::Value& value) {
  const relay::Node& node = *call.Outside(value).node;
  if (!node.constant.has_value()) {
    return No(absl::StrCat(node.name, " is not constant"));
  }
  const Tensor& tensor = *node.constant;
  const DataType t = tensor.dtype();
  if (t == DataType::Float(32)) return ElementsOf<float>(tensor);
  if (t == DataType::Int(8)) return ElementsOf<int8_t>(tensor);
  if (t == DataType::UInt(8)) return ElementsOf<uint8_t>(tensor);
  if (t == DataType::Int(32)) return ElementsOf<int32_t>(tensor);
  return No(absl::StrCat("a constant of ", t.ToString()));
}

absl::StatusOr<double> Number(const codegen::RegionCall& call,
                              const relay::Value& value, double otherwise) {
  if (!value) return otherwise;
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                         Numbers(call, value));
  if (numbers.size() == 1) return numbers[0];
  return No("a scale or zero point for each channel of what is not weights");
}

absl::StatusOr<int32_t> ZeroOfBytes(double zero, DataType type) {
  if (type == DataType::Int(8)) return static_cast<int32_t>(zero);
  if (type == DataType::UInt(8)) return static_cast<int32_t>(zero) - 128;
  return No(absl::StrCat("only bytes, not ", type.ToString()));
}

absl::StatusOr<Quantization> ReadQuantization(const codegen::RegionCall& call,
                                              const relay::Node& node,
                                              DataType type) {
  Quantization q;
  INGOT_ASSIGN_OR_RETURN(q.scale, Number(call, node.inputs[1], 1));
  const relay::Value zero =
      node.inputs.size() > 2 ? node.inputs[2] : relay::Value{};
  INGOT_ASSIGN_OR_RETURN(const double number, Number(call, zero, 0));
  INGOT_ASSIGN_OR_RETURN(q.zero, ZeroOfBytes(number, type));
  if (q.scale > 0 && q.scale <= std::numeric_limits<float>::max()) return q;
  return No("a scale that is not positive");
}

absl::StatusOr<std::vector<double>> PerChannel(const codegen::RegionCall& call,
                                               const relay::Value& value,
                                               const Dims& result,
                                               size_t axis) {
  INGOT_ASSIGN_OR_RETURN(std::vector<double> numbers, Numbers(call, value));
  INGOT_ASSIGN_OR_RETURN(const Dims shape, codegen::KnownShape(value.type()));
  const size_t channels = static_cast<size_t>(result[axis]);
  if (numbers.size() == 1) numbers.resize(channels, numbers[0]);
  if (numbers.size() == channels &&
      (channels == 1 || shape.empty() || CountElements(shape).value() == 1 ||
       codegen::RunsAlong(shape, result, axis))) {
    return numbers;
  }
  return No("a bias or scale that is not one for each channel");
}

}  // namespace ingot::cmsis_nn
