// Convolutions of every kind, with what often stands after them.
#include <algorithm>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// The attributes of a window over `spatial` dimensions, and its extents.
struct Window {
  Shape kernel, strides, dilations, pads;
  std::string auto_pad;
};

Window RandomWindow(Random* r, int spatial) {
  Window w;
  if (r->Chance(30)) {  // the window that networks have most of
    w.kernel = Shape(spatial, 3);
    w.strides = w.dilations = Shape(spatial, 1);
    w.pads = Shape(2 * spatial, r->Chance(80) ? 1 : 0);
    return w;
  }
  const bool square = r->Chance(70);
  const bool long_taps = r->Chance(8);
  for (int d = 0; d < spatial; ++d) {
    w.kernel.push_back(square && d > 0 ? w.kernel[0]
                       : long_taps     ? r->OneOf<int64_t>({4, 6, 7, 9, 11})
                                       : r->OneOf<int64_t>({1, 1, 2, 3, 3, 5}));
    w.strides.push_back(r->OneOf<int64_t>({1, 1, 1, 2, 2, 3}));
    w.dilations.push_back(r->OneOf<int64_t>({1, 1, 1, 1, 2, 3}));
  }
  const int64_t kind = r->Next(10);
  if (kind < 6) {
    const bool same = r->Chance(60);
    for (int d = 0; d < 2 * spatial; ++d) {
      w.pads.push_back(same ? w.kernel[d % spatial] / 2 : r->Next(3));
    }
  } else if (kind < 8) {
    w.auto_pad = r->Chance(50) ? "SAME_UPPER" : "SAME_LOWER";
  } else if (kind < 9) {
    w.auto_pad = "VALID";
  }
  return w;
}

void Set(const Window& w, Random* r, Call* call) {
  if (r->Chance(70)) call->Ints("kernel_shape", w.kernel);
  call->Ints("strides", w.strides);
  call->Ints("dilations", w.dilations);
  if (!w.pads.empty()) call->Ints("pads", w.pads);
  if (!w.auto_pad.empty()) call->String("auto_pad", w.auto_pad);
}

// Long rows or many channels: more than a cache holds, now and then.
std::string LargeData(Grower* g, DataType t, int spatial) {
  Random& r = g->random();
  Shape shape = {r.OneOf<int64_t>({1, 1, 2}),
                 r.OneOf<int64_t>({1, 3, 16, 32, 64, 80, 129, 256, 384})};
  int64_t most = 400000 / CountOf(shape);
  for (int d = 0; d < spatial; ++d) {
    const int64_t extent =
        spatial == 1
            ? r.OneOf<int64_t>({160, 501, 1000, 1500, 2049, 4096})
            : r.OneOf<int64_t>({1, 3, 8, 20, 31, 40, 56, 57, 80, 112, 300});
    shape.push_back(std::min(extent, most));
    most = std::max<int64_t>(1, most / shape.back());
  }
  return g->New(t, shape);
}

// Data of a convolution: an existing value of that rank, or a new one whose
// channels fill blocks, or do not.
std::string Data(Grower* g, DataType t, int spatial) {
  Random& r = g->random();
  if (r.Chance(55)) {
    auto found = g->Existing([&](const Tensor& x) {
      return x.dtype() == t &&
             static_cast<int>(x.shape().size()) == spatial + 2;
    });
    if (found) return *found;
  }
  if (g->Large()) return LargeData(g, t, spatial);
  Shape shape = {r.OneOf<int64_t>({1, 1, 1, 2, 3}),
                 r.OneOf<int64_t>({1, 2, 3, 4, 8, 12, 16, 16, 17, 24, 31, 32,
                                   32, 33, 48, 64, 96})};
  for (int d = 0; d < spatial; ++d) {
    shape.push_back(
        spatial == 1 ? r.OneOf<int64_t>({1, 7, 16, 33, 64, 130, 300})
        : spatial == 2
            ? r.OneOf<int64_t>({1, 2, 5, 7, 8, 14, 15, 16, 17, 28, 33})
            : r.OneOf<int64_t>({1, 2, 3, 5, 8}));
  }
  return g->New(t, shape, r.Chance(25) ? Fill::Whole(-3, 3) : Fill{});
}

// Defined for what the channels hold, but not for zero: where a layout fills
// blocks of channels up, the filler must not reach the next convolution.
std::optional<std::string> AddHazard(Grower* g, const std::string& x,
                                     const Shape& per_channel) {
  Random& r = g->random();
  const DataType t = g->TypeOf(x);
  auto y = g->Try(Call("Abs", {x}));
  if (y)
    y = g->Try(Call("Add", {*y, g->New(t, per_channel, Fill::Positive())}));
  if (!y) return y;
  const std::string op = r.OneOf({"Log", "Reciprocal", "Sqrt", "Div"});
  y = g->Try(op == "Div" ? Call(op, {g->Like(t, g->ShapeOf(x)), *y})
                         : Call(op, {*y}));
  if (!y || r.Chance(30)) return y;
  Shape weight(g->ShapeOf(*y).size(), 1);
  weight[0] = r.OneOf<int64_t>({3, 16, 17, 32});
  weight[1] = g->ShapeOf(*y)[1];
  return g->Try(Call("Conv", {*y, g->Weight(t, weight)}));
}

// A bias and activations after a convolution, and a second convolution.
void AddTail(Grower* g, std::optional<std::string> x) {
  Random& r = g->random();
  for (int64_t k = r.Next(4); k > 0 && x; --k) {
    const Shape shape = g->ShapeOf(*x);
    const DataType t = g->TypeOf(*x);
    Shape per_channel(shape.size() - 1, 1);
    per_channel[0] = shape[1];
    switch (r.Next(7)) {
      case 4:
        x = AddHazard(g, *x, per_channel);
        break;
      case 0:
        x = g->Try(Call("Add", {*x, g->New(t, per_channel)}));
        break;
      case 1:
        x = g->Try(Call("Add", {g->Like(t, shape), *x}));
        break;
      case 2:
        x = g->Try(Call("Mul", {*x, g->New(t, per_channel)}));
        break;
      case 3: {
        const Shape c = {shape[1]};
        x = g->Try(Call("BatchNormalization",
                        {*x, g->New(t, c), g->New(t, c), g->New(t, c),
                         g->New(t, c, Fill::Positive())}));
        break;
      }
      default:
        x = g->Try(Call(r.OneOf({"Relu", "Sigmoid", "HardSwish", "LeakyRelu",
                                 "Tanh", "Elu", "Exp"}),
                        {*x}));
    }
  }
}

int64_t Divisor(Random* r, int64_t n) {
  for (int tries = 0; tries < 8; ++tries) {
    const int64_t k = 1 + r->Next(std::max<int64_t>(1, n));
    if (n % k == 0) return k;
  }
  return 1;
}

void AddConv(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int spatial = static_cast<int>(r.OneOf<int64_t>({1, 2, 2, 2, 2, 3}));
  const DataType t = g->FloatType();
  const std::string x = Data(g, t, spatial);
  const Shape data = g->ShapeOf(x);
  const int64_t channels = data[1];
  if (channels == 0) return;  // ONNX Runtime does not come back from it.
  const int64_t kind = r.Next(10);
  int64_t groups = 1;
  int64_t out =
      g->Large()
          ? r.OneOf<int64_t>({1, 16, 40, 64, 100, 128, 200, 256, 384})
          : r.OneOf<int64_t>({1, 2, 3, 8, 15, 16, 17, 24, 32, 32, 40, 48, 64});
  if (kind < 2) {
    groups = channels;  // depthwise
    out = channels * (r.Chance(70) ? 1 : 2);
  } else if (kind < 4) {
    groups = Divisor(&r, channels);
    out = groups * r.OneOf<int64_t>({1, 2, 3, 8, 16});
  }
  if (groups < 1) return;
  const Window w = RandomWindow(&r, spatial);
  Shape weight = {out, channels / groups};
  weight.insert(weight.end(), w.kernel.begin(), w.kernel.end());
  const Shape plane(data.begin() + 2, data.end());
  const int64_t size = g->Large() ? 5 : 1;
  if (CountOf(weight) > size * 100000 ||
      CountOf(weight) * CountOf(plane) * data[0] > size * 30 * 1000 * 1000) {
    return;
  }
  Call call(op, {x, g->Weight(t, weight)});
  if (r.Chance(60)) call.operands.push_back(g->Weight(t, {out}));
  if (groups > 1) call.Int("group", groups);
  Set(w, &r, &call);
  AddTail(g, g->Try(call));
}

void AddConvTranspose(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int spatial = static_cast<int>(r.OneOf<int64_t>({1, 2, 2, 2, 3}));
  const DataType t = g->FloatType();
  const std::string x = Data(g, t, spatial);
  const Shape data = g->ShapeOf(x);
  const int64_t groups = r.Chance(30) ? Divisor(&r, data[1]) : 1;
  if (groups < 1) return;
  const Window w = RandomWindow(&r, spatial);
  const int64_t per_group = r.OneOf<int64_t>({1, 2, 3, 8, 16, 17});
  Shape weight = {data[1], per_group};
  weight.insert(weight.end(), w.kernel.begin(), w.kernel.end());
  const Shape plane(data.begin() + 2, data.end());
  const int64_t most = (g->Large() ? 60 : 10) * 1000 * 1000;
  if (CountOf(weight) * CountOf(plane) * data[0] > most) return;
  Call call(op, {x, g->Weight(t, weight)});
  if (r.Chance(60)) call.operands.push_back(g->New(t, {per_group * groups}));
  if (groups > 1) call.Int("group", groups);
  Set(w, &r, &call);
  if (r.Chance(30)) {
    Shape more;
    for (int d = 0; d < spatial; ++d) more.push_back(r.Next(w.strides[d]));
    call.Ints("output_padding", more);
  } else if (r.Chance(15)) {
    // The padding follows from the part of the image that is left.
    Shape extents;
    for (int d = 0; d < spatial; ++d) {
      const int64_t reach = (w.kernel[d] - 1) * w.dilations[d];
      const int64_t whole = (plane[d] - 1) * w.strides[d] + 1 + reach;
      extents.push_back(std::max<int64_t>(1, whole - r.Next(3)));
    }
    call.Ints("output_shape", extents);
  }
  AddTail(g, g->Try(call));
}

void AddConvInteger(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = Data(g, DataType::UInt(8), 2);
  const Shape data = g->ShapeOf(x);
  const int64_t groups = r.Chance(30) ? Divisor(&r, data[1]) : 1;
  if (groups < 1) return;
  const Window w = RandomWindow(&r, 2);
  const int64_t out = groups * r.OneOf<int64_t>({1, 2, 3, 8, 16});
  Shape weight = {out, data[1] / groups, w.kernel[0], w.kernel[1]};
  const DataType u = r.Chance(50) ? DataType::Int(8) : DataType::UInt(8);
  Call call(op, {x, g->New(u, weight, Fill::Whole(u.is_int() ? -9 : 0, 9))});
  if (r.Chance(60)) {
    call.operands.push_back(g->ScalarParameter(2, DataType::UInt(8)));
    if (r.Chance(50)) call.operands.push_back(g->ScalarParameter(1, u));
  }
  if (groups > 1) call.Int("group", groups);
  Set(w, &r, &call);
  g->Try(call);
}

void AddDeformConv(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const int64_t channels = g->Large() ? r.OneOf<int64_t>({8, 16, 18, 32})
                                      : r.OneOf<int64_t>({1, 2, 4, 6});
  const int64_t k = 1 + r.Next(3);
  const int64_t size = k + r.Next(g->Large() ? 40 : 8), batch = 1 + r.Next(2);
  const int64_t out = size - k + 1;
  const int64_t groups = channels % 2 == 0 && r.Chance(50) ? 2 : 1;
  Call call(op, {g->New(t, {batch, channels, size, size}),
                 g->New(t, {2 * groups, channels / groups, k, k}),
                 g->New(t, {batch, 2 * k * k * groups, out, out})});
  if (r.Chance(50)) {
    call.operands.push_back(g->New(t, {2 * groups}));
    if (r.Chance(50)) {
      call.operands.push_back(g->New(t, {batch, k * k * groups, out, out}));
    }
  }
  g->Try(call.Ints("kernel_shape", {k, k})
             .Int("group", groups)
             .Int("offset_group", groups));
}

}  // namespace

void AddConvolutions(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Conv"}, AddConv, 10});
  samplers->push_back({{"ConvTranspose"}, AddConvTranspose, 3});
  samplers->push_back({{"ConvInteger"}, AddConvInteger, 2});
  samplers->push_back({{"DeformConv"}, AddDeformConv});
}

}  // namespace ingot::fuzz
