// Operators that move elements to places that the model knows.
#include <algorithm>
#include <numeric>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddConcat(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 4);
  const int64_t axis = g->Axis(x);
  const int64_t place = axis < 0 ? axis + g->RankOf(x) : axis;
  Call call(op, {x});
  for (int64_t k = r.Next(3); k > 0; --k) {
    Shape shape = g->ShapeOf(x);
    if (r.Chance(50)) shape[place] = r.OneOf<int64_t>({0, 1, 2, 5, 16});
    call.operands.push_back(r.Chance(20) ? x : g->Like(g->TypeOf(x), shape));
  }
  g->Try(call.Int("axis", axis));
}

void AddSplit(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 4);
  const int64_t axis = g->Axis(x);
  const int64_t extent = g->ShapeOf(x)[axis < 0 ? axis + g->RankOf(x) : axis];
  Call call(op, {x});
  call.Int("axis", axis).Results(static_cast<int>(2 + r.Next(2)));
  if (r.Chance(50)) {
    Shape parts;
    int64_t left = extent;
    for (int k = 1; k < call.results; ++k) {
      parts.push_back(r.Next(left + 1));
      left -= parts.back();
    }
    parts.push_back(left);
    call.operands.push_back(g->Parameter(parts));
  } else if (g->opset() >= 18) {
    call.Int("num_outputs", call.results);
  }
  g->Add(call);
}

void AddSlice(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 5);
  const Shape shape = g->ShapeOf(x);
  Shape starts, ends, axes, steps;
  for (int d = 0; d < g->RankOf(x); ++d) {
    if (r.Chance(40)) continue;
    const int64_t extent = shape[d];
    axes.push_back(r.Chance(20) ? d - g->RankOf(x) : d);
    const bool back = r.Chance(25);
    steps.push_back((back ? -1 : 1) * r.OneOf<int64_t>({1, 1, 2, 3}));
    const int64_t a = r.Between(-extent - 1, extent + 1);
    const int64_t b = r.Between(-extent - 1, extent + 1);
    starts.push_back(r.Chance(30) ? (back ? extent : 0) : a);
    ends.push_back(r.Chance(30) ? (back ? INT64_MIN : INT64_MAX) : b);
  }
  Call call(op,
            {x, g->Parameter(starts), g->Parameter(ends), g->Parameter(axes)});
  call.operands.push_back(g->Parameter(steps));
  g->Try(call);
}

void AddTranspose(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 5);
  Shape order(g->RankOf(x));
  std::iota(order.begin(), order.end(), 0);
  for (size_t d = order.size(); d > 1; --d) {
    std::swap(order[d - 1], order[g->random().Next(static_cast<int64_t>(d))]);
  }
  Call call(op, {x});
  if (!g->random().Chance(15)) call.Ints("perm", order);
  g->Try(call);
}

void AddReshape(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 0, 5);
  const Shape from = g->ShapeOf(x);
  Shape to;
  int64_t left = CountOf(from);
  if (left == 0) return;
  for (int64_t rank = r.Next(5); rank > 0 && left > 1; --rank) {
    int64_t part = 1 + r.Next(left);
    while (left % part != 0) --part;
    to.push_back(part);
    left /= part;
  }
  to.push_back(left);
  if (r.Chance(40)) to[r.Next(static_cast<int64_t>(to.size()))] = -1;
  if (r.Chance(25) && !from.empty()) {
    to = {0, -1};
    if (from.size() > 2 && r.Chance(50)) to = {0, 0, -1};
  }
  g->Try(Call(op, {x, g->Parameter(to)}));
}

void AddFlatten(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 5);
  const int rank = g->RankOf(x);
  g->Try(Call(op, {x}).Int("axis", g->random().Between(-rank, rank)));
}

void AddUnsqueeze(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 4);
  const int rank = g->RankOf(x);
  Shape axes = {g->random().Between(-rank - 1, rank)};
  if (g->random().Chance(25)) axes = {0, rank + 1};
  g->Try(Call(op, {x, g->Parameter(axes)}));
}

void AddSqueeze(Grower* g, const std::string& op) {
  Random& r = g->random();
  auto x = g->Existing([](const Tensor& tensor) {
    const auto shape = tensor.shape();
    return std::find(shape.begin(), shape.end(), 1) != shape.end();
  });
  if (!x || r.Chance(30)) x = g->New(g->AnyType(), {1, 3, 1, 5});
  Call call(op, {*x});
  if (r.Chance(60)) {
    Shape axes;
    const Shape shape = g->ShapeOf(*x);
    for (int d = 0; d < g->RankOf(*x); ++d) {
      if (shape[d] == 1 && r.Chance(70)) {
        axes.push_back(r.Chance(30) ? d - g->RankOf(*x) : d);
      }
    }
    call.operands.push_back(g->Parameter(axes));
  }
  g->Try(call);
}

void AddExpand(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 0, 4);
  Shape to = g->ShapeOf(x);
  for (int64_t& extent : to) {
    if (extent == 1 && r.Chance(60)) extent = 1 + r.Next(9);
    if (extent > 1 && r.Chance(30)) extent = 1;
  }
  if (r.Chance(30)) to.insert(to.begin(), 1 + r.Next(3));
  g->Try(Call(op, {x, g->Parameter(to)}));
}

void AddTile(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 1, 4);
  Shape repeats;
  for (int d = 0; d < g->RankOf(x); ++d) {
    repeats.push_back(g->random().OneOf<int64_t>({1, 1, 2, 3}));
  }
  g->Try(Call(op, {x, g->Parameter(repeats)}));
}

void AddPad(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.Chance(70) ? g->FloatType() : DataType::Int(32);
  const std::string x = g->Some(t, 1, 5);
  const std::string mode =
      r.OneOf({"constant", "constant", "reflect", "edge", "wrap"});
  Shape pads, axes;
  const bool some = g->opset() >= 18 && r.Chance(20);
  for (int d = 0; d < g->RankOf(x); ++d) {
    if (!some || r.Chance(60)) axes.push_back(d);
  }
  const bool crop = r.Chance(15);
  const int64_t most = r.Chance(15) ? 40 : 3;
  for (size_t d = 0; d < 2 * axes.size(); ++d) {
    pads.push_back(r.Chance(50) ? 0 : r.Between(crop ? -1 : 0, most));
  }
  Call call(op, {x, g->Parameter(pads)});
  if (mode == "constant" && r.Chance(60)) {
    call.operands.push_back(g->ScalarParameter(2, t));
  }
  if (some) {
    call.operands.resize(3);
    call.operands.push_back(g->Parameter(axes));
  }
  g->Try(call.String("mode", mode));
}

void AddTrilu(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x =
      g->Some(r.Chance(70) ? g->FloatType() : DataType::Int(64), 2, 4);
  Call call(op, {x});
  if (r.Chance(50)) {
    call.operands.push_back(g->ScalarParameter(
        static_cast<double>(r.Between(-4, 4)), DataType::Int(64)));
  }
  g->Try(call.Int("upper", r.Next(2)));
}

void AddDepthSpace(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t block = 1 + r.Next(4), c = 1 + r.Next(5);
  const int64_t most = g->Large() ? 70 : 8;
  const Shape shape = op == "DepthToSpace"
                          ? Shape{1 + r.Next(2), c * block * block,
                                  1 + r.Next(most), 1 + r.Next(most)}
                          : Shape{1 + r.Next(2), c, block * (1 + r.Next(most)),
                                  block * (1 + r.Next(most))};
  Call call(op, {g->Like(DataType::Float(32), shape)});
  call.Int("blocksize", block);
  if (op == "DepthToSpace" && r.Chance(50)) call.String("mode", "CRD");
  g->Try(call);
}

void AddCenterCropPad(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 1, 4);
  Shape to, axes;
  for (int d = 0; d < g->RankOf(x); ++d) {
    if (r.Chance(30)) continue;
    axes.push_back(d);
    to.push_back(1 + r.Next(g->Large() ? 300 : 20));
  }
  if (axes.empty()) return;
  g->Try(Call(op, {x, g->Parameter(to)}).Ints("axes", axes));
}

void AddShape(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 0, 4);
  Call call(op, {x});
  if (op == "Shape" && g->opset() >= 15 && r.Chance(40)) {
    call.Int("start", r.Between(-2, 2));
    if (r.Chance(50)) call.Int("end", r.Between(-1, 4));
  }
  g->Try(call);
}

}  // namespace

void AddMoves(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Concat"}, AddConcat, 2});
  samplers->push_back({{"Split"}, AddSplit});
  samplers->push_back({{"Slice"}, AddSlice, 2});
  samplers->push_back({{"Transpose"}, AddTranspose, 3});
  samplers->push_back({{"Reshape"}, AddReshape, 3});
  samplers->push_back({{"Flatten"}, AddFlatten});
  samplers->push_back({{"Unsqueeze"}, AddUnsqueeze});
  samplers->push_back({{"Squeeze"}, AddSqueeze});
  samplers->push_back({{"Expand"}, AddExpand});
  samplers->push_back({{"Tile"}, AddTile});
  samplers->push_back({{"Pad"}, AddPad, 2});
  samplers->push_back({{"Trilu"}, AddTrilu});
  samplers->push_back({{"DepthToSpace", "SpaceToDepth"}, AddDepthSpace});
  samplers->push_back({{"CenterCropPad"}, AddCenterCropPad});
  samplers->push_back({{"Shape", "Size"}, AddShape});
}

}  // namespace ingot::fuzz
