// Windows that slide over an image.
#include <algorithm>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

std::string Image(Grower* g, DataType t, int spatial) {
  Random& r = g->random();
  auto found = g->Existing([&](const Tensor& x) {
    return x.dtype() == t && static_cast<int>(x.shape().size()) == spatial + 2;
  });
  if (found && r.Chance(60)) return *found;
  Shape shape = {1 + r.Next(2), r.OneOf<int64_t>({1, 3, 8, 16, 17, 32})};
  const bool large = g->Large();
  for (int d = 0; d < spatial; ++d) {
    const int64_t extent =
        large ? r.OneOf<int64_t>({2, 15, 33, 56, 75, 112, 161, 300})
              : r.OneOf<int64_t>({1, 3, 7, 8, 14, 17, 20});
    shape.push_back(std::min(extent, 500000 / CountOf(shape)));
  }
  return g->New(t, shape);
}

// Sets what all windows have.
void SetWindow(Grower* g, int spatial, Call* call) {
  Random& r = g->random();
  Shape kernel, strides, dilations, pads(2 * spatial);
  const int64_t longest = r.Chance(10) ? 9 : 4;
  for (int d = 0; d < spatial; ++d) {
    kernel.push_back(1 + r.Next(longest));
    strides.push_back(1 + r.Next(3));
    dilations.push_back(r.Chance(75) ? 1 : 2);
  }
  call->Ints("kernel_shape", kernel);
  if (r.Chance(70)) call->Ints("strides", strides);
  if (r.Chance(40) && call->op != "LpPool") call->Ints("dilations", dilations);
  const int64_t kind = r.Next(4);
  if (kind == 0) {
    call->String("auto_pad", r.OneOf({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else if (kind < 3) {
    for (int d = 0; d < 2 * spatial; ++d) {
      pads[d] = r.Next(std::max<int64_t>(1, kernel[d % spatial]));
    }
    call->Ints("pads", pads);
  }
}

void AddPool(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int spatial = static_cast<int>(r.OneOf<int64_t>({1, 2, 2, 2, 3}));
  DataType t = g->FloatType();
  if (op == "MaxPool" && r.Chance(10)) {
    t = r.Chance(50) ? DataType::UInt(8) : DataType::Int(8);
  }
  Call call(op, {Image(g, t, spatial)});
  SetWindow(g, spatial, &call);
  if (r.Chance(25)) call.Int("ceil_mode", 1);
  if (op == "AveragePool" && r.Chance(40)) call.Int("count_include_pad", 1);
  if (op == "LpPool") call.Int("p", 1 + r.Next(3));
  if (op == "MaxPool" && r.Chance(20) && t.is_float()) {
    call.Results(2);
    if (r.Chance(30)) call.Int("storage_order", 1);
  }
  g->Try(call);
}

void AddGlobalPool(Grower* g, const std::string& op) {
  Call call(op, {g->Some(g->FloatType(), 3, 5)});
  if (op == "GlobalLpPool") call.Int("p", 1 + g->random().Next(3));
  g->Try(call);
}

void AddMaxUnpool(Grower* g, const std::string& op) {
  const std::string x = Image(g, DataType::Float(32), 2);
  const auto pooled = g->Add(Call("MaxPool", {x})
                                 .Ints("kernel_shape", {2, 2})
                                 .Ints("strides", {2, 2})
                                 .Results(2));
  if (!pooled) return;
  Call call(op, *pooled);
  if (g->random().Chance(50)) {
    call.operands.push_back(g->Parameter(g->ShapeOf(x)));
  }
  g->Try(call.Ints("kernel_shape", {2, 2}).Ints("strides", {2, 2}));
}

void AddCol2Im(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t most = g->Large() ? 60 : 8;
  const int64_t h = 3 + r.Next(most), w = 3 + r.Next(most), k = 1 + r.Next(3);
  const int64_t stride = 1 + r.Next(2), channels = 1 + r.Next(3);
  const int64_t blocks = ((h - k) / stride + 1) * ((w - k) / stride + 1);
  const std::string x =
      g->Like(g->FloatType(), {1 + r.Next(2), channels * k * k, blocks});
  g->Try(Call(op, {x, g->Parameter({h, w}), g->Parameter({k, k})})
             .Ints("strides", {stride, stride}));
}

}  // namespace

void AddPools(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"AveragePool", "LpPool", "MaxPool"}, AddPool, 4});
  samplers->push_back(
      {{"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"}, AddGlobalPool});
  samplers->push_back({{"MaxUnpool"}, AddMaxUnpool});
  samplers->push_back({{"Col2Im"}, AddCol2Im});
}

}  // namespace ingot::fuzz
