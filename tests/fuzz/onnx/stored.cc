// Types that no operator computes in: numbers become such a type, perhaps move,
// and become floats again. ONNX Runtime's C API does not give such values, so
// all is evaluated together.
#include <cmath>

#include "runtime/onnx_tensor/element_types.h"
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

using onnx::TensorProto;

// Leaves the values of the first call as they are, but for their places.
void AddMove(Grower* g, const Shape& shape, std::vector<Call>* calls) {
  Random& r = g->random();
  if (r.Chance(40)) {
    calls->push_back(Call("Reshape", {"#0", g->Parameter({-1})}));
  } else if (r.Chance(50) && shape.size() > 1) {
    Shape order;
    for (size_t d = shape.size(); d-- > 0;) {
      order.push_back(static_cast<int64_t>(d));
    }
    calls->push_back(Call("Transpose", {"#0"}).Ints("perm", order));
  }
}

std::string Last(const std::vector<Call>& calls) {
  return "#" + std::to_string(calls.size() - 1);
}

// Elements that are exact, since a rounding away is another number of so few.
void AddCastPair(Grower* g, const std::string& op) {
  Random& r = g->random();
  const Shape shape = g->RandomShape(static_cast<int>(1 + r.Next(3)));
  const bool whole = r.Chance(35);
  const int64_t type =
      whole ? r.OneOf<int64_t>({kInt4, kUInt4})
            : r.OneOf<int64_t>({kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2,
                                kFloat8E5M2FNUZ, TensorProto::BFLOAT16});
  const Fill fill =
      whole ? Fill::Whole(type == kInt4 ? -8 : 0, 7) : Fill{-500, 500, false};
  const std::string x = g->New(DataType::Float(32), shape, fill);
  std::vector<Call> calls = {Call(op, {x}).Int("to", type)};
  if (!whole && type != TensorProto::BFLOAT16 && r.Chance(30)) {
    calls[0].Int("saturate", 0);
  }
  AddMove(g, shape, &calls);
  calls.push_back(Call(op, {Last(calls)}).Int("to", TensorProto::FLOAT));
  g->AddTogether(calls);
}

void AddQuantizePair(Grower* g, const std::string& op) {
  Random& r = g->random();
  const Shape shape = {1 + r.Next(4), r.OneOf<int64_t>({1, 4, 8, 17, 32})};
  const int64_t type = r.OneOf<int64_t>(
      {kInt4, kUInt4, TensorProto::INT16, TensorProto::UINT16, kFloat8E4M3FN,
       kFloat8E5M2, kFloat8E4M3FNUZ, kFloat8E5M2FNUZ});
  const std::string x = g->New(DataType::Float(32), shape, Fill{-3, 3, false});
  // One scale, one for each column, or one for each block of a row.
  const int64_t kind = r.Next(3);
  const int64_t block = shape[1] % 4 == 0 ? 4 : 1;
  const Shape scale_shape = kind == 0   ? Shape{}
                            : kind == 1 ? Shape{shape[1]}
                                        : Shape{shape[0], shape[1] / block};
  std::vector<double> scales(CountOf(scale_shape));
  for (double& scale : scales) {
    scale = std::ldexp(1, static_cast<int>(r.Between(-4, 0)));
  }
  const std::string scale =
      g->Parameter(TensorOf(DataType::Float(32), scale_shape, scales));
  std::vector<Call> calls = {Call(op, {x, scale}).Int("output_dtype", type),
                             Call("DequantizeLinear", {"#0", scale})};
  for (Call& call : calls) {
    if (kind > 0) call.Int("axis", 1);
    if (kind > 1) call.Int("block_size", block);
  }
  g->AddTogether(calls);
}

}  // namespace

void AddStored(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Cast"}, AddCastPair, 2});
  samplers->push_back({{"QuantizeLinear"}, AddQuantizePair, 2});
}

}  // namespace ingot::fuzz
