#include "tests/fuzz/onnx/deviations.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/protos.h"

namespace ingot::fuzz {
namespace {

using onnx::NodeProto;

bool WindowDoesNotFit(const NodeProto& node, const Scope& scope) {
  const auto shape = scope.at(node.input(0)).value.shape();
  const int spatial = static_cast<int>(shape.size()) - 2;
  const std::string pads = TextOf(node, "auto_pad");
  if (!pads.empty() && pads != "VALID") return false;
  for (int d = 0; d < spatial; ++d) {
    const int64_t taps = IntegerOf(node, "kernel_shape", d, 1);
    const int64_t window = (taps - 1) * IntegerOf(node, "dilations", d, 1) + 1;
    const int64_t padding =
        IntegerOf(node, "pads", d, 0) + IntegerOf(node, "pads", spatial + d, 0);
    if (shape[2 + d] + padding < window) return true;
  }
  return false;
}

bool PadsDilatedToTheSame(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "auto_pad").rfind("SAME", 0) != 0) return false;
  const int spatial =
      static_cast<int>(scope.at(node.input(0)).value.shape().size()) - 2;
  for (int d = 0; d < spatial; ++d) {
    if (IntegerOf(node, "dilations", d, 1) > 1) return true;
  }
  return false;
}

// If a window is shorter than its stride, fewer elements may be read than there
// are.
bool CropsToTheSame(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "auto_pad").rfind("SAME", 0) != 0) return false;
  const auto shape = scope.at(node.input(0)).value.shape();
  for (int d = 0; d + 2 < static_cast<int>(shape.size()); ++d) {
    const int64_t stride = IntegerOf(node, "strides", d, 1);
    const int64_t places = (shape[2 + d] + stride - 1) / stride;
    const int64_t pad = (places - 1) * stride +
                        IntegerOf(node, "kernel_shape", d, 1) - shape[2 + d];
    if (pad < -1) return true;
  }
  return false;
}

bool StepsOverItsKernel(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "auto_pad").rfind("SAME", 0) != 0) return false;
  const auto kernel = scope.at(node.input(1)).value.shape();
  for (size_t d = 0; d + 2 < kernel.size(); ++d) {
    const int k = static_cast<int>(d);
    const int64_t reach =
        (kernel[2 + d] - 1) * IntegerOf(node, "dilations", k, 1) + 1;
    if (reach < IntegerOf(node, "strides", k, 1)) return true;
  }
  return false;
}

bool HasOutputShape(const NodeProto& node, const Scope&) {
  return node.input_size() > 2;
}

// Extents that a scale makes are rounded; what was cut off counts in some
// formulas.
bool AlignsCut(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "coordinate_transformation_mode") != "align_corners") {
    return false;
  }
  const std::string policy = TextOf(node, "keep_aspect_ratio_policy");
  if (!policy.empty() && policy != "stretch") return true;
  if (node.input_size() < 3 || node.input(2).empty()) return false;
  const auto from = scope.at(node.input(0)).value.shape();
  const Tensor& scales = scope.at(node.input(2)).value;
  for (int64_t d = 0; d < scales.NumElements(); ++d) {
    const int64_t axis = IntegerOf(node, "axes", static_cast<int>(d), d);
    const double exact = ElementAt(scales, d) * static_cast<double>(from[axis]);
    if (exact != std::floor(exact)) return true;
  }
  return false;
}

bool ShrinksToOne(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "coordinate_transformation_mode") != "pytorch_half_pixel") {
    return false;
  }
  const auto from = scope.at(node.input(0)).value.shape();
  const auto to = scope.at(node.output(0)).value.shape();
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1 && from[d] != 1) return true;
  }
  return false;
}

// Whether a part of a dimension is stretched to the extent of the whole.
bool CropsWithoutResizing(const NodeProto& node, const Scope& scope) {
  const std::string mode = TextOf(node, "mode");
  if (TextOf(node, "coordinate_transformation_mode") != "tf_crop_and_resize" ||
      (mode != "cubic" && mode != "linear")) {
    return false;
  }
  const auto from = scope.at(node.input(0)).value.shape();
  const auto to = scope.at(node.output(0)).value.shape();
  for (size_t d = 2; d < to.size(); ++d) {
    if (to[d] == from[d]) return true;
  }
  return false;
}

// Whether two products of unsigned and signed bytes may not fit 16 bits, in
// which x86 without VNNI adds them up.
bool AddsPairsBeyondRange(const NodeProto& node, const Scope& scope) {
  // A scale and a zero point may come first.
  const int second = node.op_type().rfind("QLinear", 0) == 0 ? 3 : 1;
  const Tensor& a = scope.at(node.input(0)).value;
  const Tensor& b = scope.at(node.input(second)).value;
  if (a.dtype() != DataType::UInt(8) || b.dtype() != DataType::Int(8)) {
    return false;
  }
  int most = 0, largest = 0;
  for (const uint8_t x : a.values<uint8_t>()) most = std::max<int>(most, x);
  for (const int8_t x : b.values<int8_t>()) {
    largest = std::max(largest, std::abs(x));
  }
  return 2 * most * largest > std::numeric_limits<int16_t>::max();
}

// Whether the result's integers cannot hold some of the floats.
bool CastsBeyondRange(const NodeProto& node, const Scope& scope) {
  const auto operand = scope.find(node.input(0));
  const auto result = scope.find(node.output(0));
  // Values of types that ONNX Runtime does not give are not there.
  if (operand == scope.end() || result == scope.end()) return false;
  const Tensor& x = operand->second.value;
  const DataType to = result->second.value.dtype();
  if (!x.dtype().is_float() || !to.is_integer()) return false;
  const int digits = to.is_int() ? to.bits - 1 : to.bits;
  const double high = std::ldexp(1.0, digits), low = to.is_int() ? -high : 0;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const double value = ElementAt(x, i);
    // One less than the limits, since operands may be a little off.
    if (!(value > low - 1 && value < high - 1)) return true;
  }
  return false;
}

// Without saturation ONNX Runtime rounds what is above 464 to the largest
// number up to 496. What it gives is no tensor that the scope has.
bool CastsBeyondFloat8(const NodeProto& node, const Scope& scope) {
  const auto operand = scope.find(node.input(0));
  const auto* saturate = FindAttribute(node, "saturate");
  if (operand == scope.end() || saturate == nullptr || saturate->i() != 0) {
    return false;
  }
  const Tensor& x = operand->second.value;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    if (std::fabs(ElementAt(x, i)) > 464) return true;
  }
  return false;
}

// An element may be zero here and a rounding away from it there.
bool CountsZeros(const NodeProto& node, const Scope& scope) {
  const Estimated& x = scope.at(node.input(0));
  if (x.exact()) return false;
  const double error = x.Error();
  for (int64_t i = 0; i < x.value.NumElements(); ++i) {
    if (std::fabs(ElementAt(x.value, i)) <= error) return true;
  }
  return false;
}

// Activations without bounds do it; other operands may overflow, then.
bool GrowsWithoutBounds(const NodeProto& node, const Scope& scope) {
  constexpr double kVeryLarge = 1e12;
  for (const std::string& name : node.output()) {
    const auto it = scope.find(name);
    if (it == scope.end()) continue;
    const Tensor& result = it->second.value;
    for (int64_t i = 0; i < result.NumElements(); ++i) {
      if (!(std::fabs(ElementAt(result, i)) < kVeryLarge)) return true;
    }
  }
  return false;
}

bool IsDouble(const NodeProto& node, const Scope& scope) {
  return scope.at(node.input(0)).value.dtype() == DataType::Float(64);
}

bool HasEmptyAxes(const NodeProto& node, const Scope& scope) {
  return node.input_size() > 1 && !node.input(1).empty() &&
         scope.at(node.input(1)).value.NumElements() == 0;
}

bool ScansNothing(const NodeProto& node, const Scope& scope) {
  for (const std::string& name : node.output()) {
    auto it = scope.find(name);
    if (it != scope.end() &&
        it->second.value.shape() == std::vector<int64_t>{0}) {
      return true;
    }
  }
  return false;
}

// A row of zeros in a result that is an average of random numbers.
bool MasksWholeRows(const NodeProto& node, const Scope& scope) {
  const Tensor& result = scope.at(node.output(0)).value;
  for (int64_t i = 0; i < result.NumElements(); ++i) {
    if (ElementAt(result, i) == 0) return true;
  }
  return false;
}

// Wrapping around more than once what cropping leaves, or a sum of pads that
// needs it.
bool WrapsBeyond(const NodeProto& node, const Scope& scope) {
  if (TextOf(node, "mode") != "wrap") return false;
  const auto from = scope.at(node.input(0)).value.shape();
  const Tensor& pads = scope.at(node.input(1)).value;
  for (size_t d = 0; d < from.size(); ++d) {
    const double start = ElementAt(pads, d);
    const double end = ElementAt(pads, d + from.size());
    const double left = from[d] + std::min(start, 0.) + std::min(end, 0.);
    if (std::max(start, 0.) + std::max(end, 0.) > left) return true;
  }
  return false;
}

bool EmptyByNegativeAxes(const NodeProto& node, const Scope& scope) {
  if (scope.at(node.input(0)).value.NumElements() != 0) return false;
  const auto* attribute = FindAttribute(node, "axes");
  if (attribute != nullptr) {
    return std::any_of(attribute->ints().begin(), attribute->ints().end(),
                       [](int64_t axis) { return axis < 0; });
  }
  if (node.input_size() < 2 || node.input(1).empty()) return false;
  const Tensor& axes = scope.at(node.input(1)).value;
  for (int64_t i = 0; i < axes.NumElements(); ++i) {
    if (ElementAt(axes, i) < 0) return true;
  }
  return false;
}

bool HasNoElements(const NodeProto& node, const Scope& scope) {
  return scope.at(node.input(0)).value.NumElements() == 0;
}

bool IsOfIntegers(const NodeProto& node, const Scope& scope) {
  return !scope.at(node.input(0)).value.dtype().is_float();
}

bool BatchesDiffer(const NodeProto& node, const Scope& scope) {
  const auto* batch = FindAttribute(node, "batch_dims");
  const auto x = scope.at(node.input(0)).value.shape();
  const auto indices = scope.at(node.input(1)).value.shape();
  for (int64_t d = 0; batch != nullptr && d < batch->i(); ++d) {
    if (x[d] != indices[d]) return true;
  }
  return false;
}

// At its ends a window is 0 but for rounding, and f32 rounds worse than f64.
bool IsRoundedOrDouble(const NodeProto& node, const Scope& scope) {
  const Tensor& y = scope.at(node.output(0)).value;
  return y.dtype() == DataType::Float(64) || LargestMagnitude(y) < 1e-6;
}

bool AddsOnlyAFraction(const NodeProto& node, const Scope& scope) {
  const auto* beta = FindAttribute(node, "beta");
  return beta != nullptr && beta->f() != 1 && HasNoElements(node, scope);
}

// Of so many factors that the largest ones together overflow, or the smallest
// ones underflow, whatever comes of all.
bool MultipliesBeyondRange(const NodeProto& node, const Scope& scope) {
  const Tensor& x = scope.at(node.input(0)).value;
  if (x.dtype().is_integer()) {
    const Tensor& product = scope.at(node.output(0)).value;
    const double factors = static_cast<double>(x.NumElements()) /
                           std::max<int64_t>(product.NumElements(), 1);
    const int digits = x.dtype().is_int() ? x.dtype().bits - 1 : x.dtype().bits;
    return factors * std::log2(LargestMagnitude(x)) >= digits;
  }
  double up = 0, down = 0;
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const double size = std::log2(std::fabs(ElementAt(x, i)));
    if (!std::isfinite(size)) continue;
    (size > 0 ? up : down) += size;
  }
  const double limit = x.dtype() == DataType::Float(64)   ? 1000
                       : x.dtype() == DataType::Float(16) ? 14
                                                          : 120;
  return up > limit || down < -limit;
}

// A past, and not as many queries as new keys.
bool StartsSomewhere(const NodeProto& node, const Scope& scope) {
  const auto* causal = FindAttribute(node, "is_causal");
  if (causal == nullptr || causal->i() == 0 || node.input_size() < 5 ||
      node.input(4).empty()) {
    return false;
  }
  const auto q = scope.at(node.input(0)).value.shape();
  const auto k = scope.at(node.input(1)).value.shape();
  return q[q.size() - 2] != k[k.size() - 2];
}

bool NormalizesSingles(const NodeProto& node, const Scope& scope) {
  const auto shape = scope.at(node.input(0)).value.shape();
  return std::all_of(shape.begin() + 2, shape.end(),
                     [](int64_t extent) { return extent == 1; });
}

bool GivesNan(const NodeProto& node, const Scope& scope) {
  const Tensor& y = scope.at(node.output(0)).value;
  for (int64_t i = 0; i < y.NumElements(); ++i) {
    if (std::isnan(ElementAt(y, i))) return true;
  }
  return false;
}

bool ClipsHidden(const NodeProto& node, const Scope&) {
  return FindAttribute(node, "clip") != nullptr;
}

}  // namespace

const std::vector<Deviation>& Deviations() {
  static const auto* const kDeviations = [] {
    auto* all = new std::vector<Deviation>{
        {"LSTM", ClipsHidden,
         "ONNX says that clip bounds the input of every activation; ONNX "
         "Runtime does not clip the cell before its last one"},
        {"MaxPool", WindowDoesNotFit,
         "a window larger than the padded image has no place by ONNX's "
         "formula, and one by ONNX Runtime's, which rounds a negative quotient "
         "up"},
        {"AveragePool", WindowDoesNotFit, "as MaxPool's"},
        {"LpPool", WindowDoesNotFit, "as MaxPool's"},
        {"AveragePool", PadsDilatedToTheSame,
         "ONNX's formula for SAME takes the window as wide as dilations make "
         "it, ONNX Runtime's as wide as kernel_shape says"},
        {"AveragePool", CropsToTheSame,
         "padding to the same is never negative; ONNX Runtime's pools begin "
         "inside of the image"},
        {"MaxPool", CropsToTheSame, "as AveragePool's"},
        {"LpPool", CropsToTheSame, "as AveragePool's"},
        {"MaxPool", PadsDilatedToTheSame, "as AveragePool's"},
        {"LpPool", PadsDilatedToTheSame, "as AveragePool's"},
        {"ConvTranspose", StepsOverItsKernel,
         "ONNX says that SAME multiplies extents by the strides; ONNX Runtime "
         "leaves out the end that a kernel shorter than the stride does not "
         "reach, and ONNX's reference puts it in front"},
        {"NonZero", CountsZeros,
         "whether a result is zero or nearly so, as a transform's imaginary "
         "part, depends on how its sum was rounded"},
        {"Cast", CastsBeyondRange,
         "ONNX leaves open what floats beyond the range of integers become; "
         "ONNX Runtime's depends on the type, ours are its limits"},
        {"CastLike", CastsBeyondRange, "as Cast"},
        {"Cast", CastsBeyondFloat8,
         "ONNX says NaN for what f8 cannot hold; ONNX Runtime says 448"},
        {"CastLike", CastsBeyondFloat8, "as Cast"},
        {"Gelu", IsDouble, "ONNX Runtime computes parts of it in f32"},
        {"Shrink", IsDouble, "ONNX Runtime computes it in f32"},
        {"HardSwish", IsDouble, "ONNX Runtime computes parts of it in f32"},
        {"Squeeze", HasEmptyAxes,
         "axes that are given and empty name no dimension, as ONNX's reference "
         "has it; ONNX Runtime takes them as left out"},
        {"Loop", ScansNothing,
         "a scan output of no iterations has the rank of its elements and one "
         "more; ONNX Runtime gives rank 1"},
        {"Attention", MasksWholeRows,
         "rows that are masked whole are NaN by the formula of operator set "
         "23, and 0 by a later correction"},
        {"Pad", WrapsBeyond,
         "ONNX Runtime gives numbers of anywhere where more is to be wrapped "
         "than there is"},
        {"MatMulInteger", HasNoElements,
         "ONNX Runtime leaves sums of no terms unset"},
        {"QLinearMatMul", HasNoElements, "as MatMulInteger"},
        {"ConvInteger", HasNoElements, "as MatMulInteger"},
        {"QLinearConv", HasNoElements, "as MatMulInteger"},
        {"Gemm", AddsOnlyAFraction,
         "beta is a factor of C where sums have no terms, too; ONNX Runtime "
         "forgets it then"},
        {"ArgMax", HasNoElements,
         "an axis without elements has no largest; ONNX Runtime gives the "
         "operand's shape"},
        {"ArgMin", HasNoElements, "as ArgMax"},
        {"ReduceProd", MultipliesBeyondRange,
         "ONNX does not say in which order factors are multiplied; integers "
         "wrap here and become the limits of their type in ONNX Runtime"},
        {"Attention", StartsSomewhere,
         "ONNX counts causal queries from the end of the past, ONNX Runtime "
         "from the end of the keys backward"},
        {"InstanceNormalization", NormalizesSingles,
         "of one element the result is the bias; ONNX Runtime adds two large "
         "numbers that do not cancel"},
        {"MeanVarianceNormalization", GivesNan,
         "ONNX Runtime takes the root of a difference that rounding makes "
         "negative where all elements are equal"},
        {"ReduceMean", HasNoElements,
         "ONNX leaves the mean of no elements open; its reference gives NaN, "
         "ONNX Runtime NaN or 0"},
        {"ReduceLogSumExp", IsOfIntegers,
         "ONNX defines it in double precision; ONNX Runtime rounds on the way"},
        {"GatherND", BatchesDiffer,
         "the leading dimensions must be equal; ONNX Runtime does not look"},
        {"BlackmanWindow", IsRoundedOrDouble,
         "ONNX Runtime computes it in f32"},
        {"HannWindow", IsRoundedOrDouble, "as BlackmanWindow"},
        {"HammingWindow", IsRoundedOrDouble, "as BlackmanWindow"},
        {"MaxUnpool", HasOutputShape,
         "ONNX Runtime takes the indices for places in output_shape; by ONNX's "
         "cases they are places in the shape that the window implies"},
        {"Resize", ShrinksToOne,
         "ONNX's formula and its reference differ in where pytorch_half_pixel "
         "puts the only pixel of a dimension"},
        {"Resize", CropsWithoutResizing,
         "ONNX Runtime's interpolation, cubic and linear, leaves a dimension "
         "as it is whose extent stays, whatever the region of interest"},
        {"Resize", AlignsCut,
         "ONNX's align_corners takes the extent before rounding, ONNX "
         "Runtime's the one after it (ONNX's case "
         "resize_downsample_scales_linear_align_corners fails there)"},
    };
    for (const char* name :
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
          "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
          "ReduceSumSquare"}) {
      all->push_back({name, EmptyByNegativeAxes,
                      "ONNX Runtime leaves out negative axes of an operand "
                      "without elements"});
    }
    for (const char* name :
         {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}) {
      all->push_back({name, AddsPairsBeyondRange,
                      "ONNX Runtime multiplies u8 by i8 with sums of two that "
                      "saturate at 16 bits where the processor has no VNNI "
                      "(numpy agrees with Ingot)"});
    }
    for (const char* name : {"GRU", "LSTM", "RNN"}) {
      all->push_back({name, GrowsWithoutBounds,
                      "ONNX's formulas add and multiply in another order than "
                      "ONNX Runtime, so that an infinity on the way makes an "
                      "infinity here and NaN there"});
    }
    return all;
  }();
  return *kDeviations;
}

bool Deviates(const NodeProto& node, const Scope& scope) {
  for (const Deviation& deviation : Deviations()) {
    if (deviation.op == node.op_type() && deviation.applies(node, scope)) {
      return true;
    }
  }
  return false;
}

}  // namespace ingot::fuzz
