// Operators that move elements to places that other elements say.
#include <algorithm>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

Fill Indices(int64_t extent) {
  return Fill::Whole(-static_cast<double>(extent),
                     static_cast<double>(extent) - 1);
}

DataType IndexType(Grower* g) {
  return DataType::Int(g->random().Chance(70) ? 64 : 32);
}

void AddGather(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 4);
  const int64_t axis = g->Axis(x);
  Shape shape = g->ShapeOf(x);
  const int64_t extent = shape[axis < 0 ? axis + g->RankOf(x) : axis];
  if (op == "Gather") {
    shape = g->RandomShape(static_cast<int>(r.Next(3)));
    const int64_t most = g->Large() ? 600 : 20;
    for (int64_t& e : shape) e = std::min(e, most);
  } else {
    for (int64_t& e : shape) {
      if (r.Chance(40) && e > 1) e = 1 + r.Next(e);
    }
  }
  if (extent == 0) return;
  g->Try(Call(op, {x, g->New(IndexType(g), shape, Indices(extent))})
             .Int("axis", axis));
}

void AddGatherND(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 2, 4);
  const Shape data = g->ShapeOf(x);
  const int64_t batch = r.Chance(25) ? 1 : 0;
  const int64_t depth = 1 + r.Next(g->RankOf(x) - batch);
  int64_t smallest = INT64_MAX;
  for (int64_t d = 0; d < depth; ++d) {
    smallest = std::min(smallest, data[batch + d]);
  }
  if (smallest == 0) return;
  Shape shape = {batch > 0 ? data[0] : 1 + r.Next(g->Large() ? 500 : 9)};
  if (r.Chance(40)) shape.push_back(1 + r.Next(4));
  shape.push_back(depth);
  Call call(op, {x, g->New(DataType::Int(64), shape, Indices(smallest))});
  if (batch > 0) call.Int("batch_dims", batch);
  g->Try(call);
}

// Places that all differ, since the order of several is not defined.
void AddScatter(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 3);
  const int64_t axis = g->Axis(x);
  const Shape data = g->ShapeOf(x);
  const size_t place =
      static_cast<size_t>(axis < 0 ? axis + g->RankOf(x) : axis);
  Shape shape = data;
  for (int64_t& e : shape) {
    if (r.Chance(30) && e > 1) e = 1 + r.Next(e);
  }
  Tensor indices = *Tensor::Empty(DataType::Int(64), shape);
  int64_t inner = 1;
  for (size_t d = place + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t extent = data[place],
                turn = r.Next(std::max<int64_t>(1, extent));
  if (extent == 0) return;
  for (int64_t i = 0; i < indices.NumElements(); ++i) {
    const int64_t k = i / inner % shape[place];
    const int64_t at = (k + turn) % extent;
    indices.mutable_data<int64_t>()[i] = r.Chance(25) ? at - extent : at;
  }
  Call call(op, {x, g->Initializer(indices), g->Like(g->TypeOf(x), shape)});
  call.Int("axis", axis);
  if (op == "ScatterElements" && r.Chance(50)) {
    if (g->opset() >= 16) call.String("reduction", r.OneOf({"add", "mul"}));
    if (g->opset() >= 18 && r.Chance(50)) {
      call.attributes.pop_back();
      call.String("reduction", r.OneOf({"max", "min"}));
    }
  }
  g->Try(call);
}

void AddScatterND(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 3);
  const Shape data = g->ShapeOf(x);
  if (data[0] == 0) return;
  const int64_t rows = 1 + r.Next(data[0]);
  Tensor indices = *Tensor::Empty(DataType::Int(64), {rows, 1});
  for (int64_t i = 0; i < rows; ++i) indices.mutable_data<int64_t>()[i] = i;
  Shape updates = data;
  updates[0] = rows;
  Call call(op, {x, g->Initializer(indices), g->Like(g->TypeOf(x), updates)});
  if (g->opset() >= 18 && r.Chance(50)) {
    call.String("reduction", r.OneOf({"add", "mul", "max", "min"}));
  }
  g->Try(call);
}

void AddReverseSequence(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 2, 4);
  const Shape shape = g->ShapeOf(x);
  const int64_t time = r.Next(2), batch = 1 - time;
  if (shape[time] == 0) return;
  g->Try(Call(op, {x, g->New(DataType::Int(64), {shape[batch]},
                             Fill::Whole(1, static_cast<double>(shape[time])))})
             .Int("time_axis", time)
             .Int("batch_axis", batch));
}

void AddCompress(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(g->AnyType(), 1, 4);
  Call call(op, {x});
  int64_t extent = g->At(x).NumElements();
  if (r.Chance(70)) {
    const int64_t axis = g->Axis(x);
    extent = g->ShapeOf(x)[axis < 0 ? axis + g->RankOf(x) : axis];
    call.Int("axis", axis);
  }
  if (r.Chance(30) && extent > 1) extent = 1 + r.Next(extent);
  call.operands.push_back(g->New(DataType::Bool(), {extent}));
  g->Try(call);
}

void AddCounted(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(
      r.OneOf({DataType::Float(32), DataType::Int(64), DataType::Int(8)}), 1,
      3);
  Call call(op, {x});
  if (op == "Unique") {
    call.Results(static_cast<int>(1 + r.Next(4)));
    if (r.Chance(50)) call.Int("axis", g->Axis(x));
    if (r.Chance(40)) call.Int("sorted", 0);
  }
  g->Add(call);
}

void AddOneHot(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t depth = 1 + r.Next(20);
  const std::string x =
      g->New(DataType::Int(64), g->RandomShape(static_cast<int>(r.Next(3))),
             Indices(depth + 1));
  const DataType t = r.Chance(60) ? DataType::Float(32) : DataType::Int(64);
  g->Try(Call(op, {x, g->Parameter({depth}), g->New(t, {2})})
             .Int("axis", r.Between(-1, g->RankOf(x))));
}

}  // namespace

void AddIndexing(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Gather", "GatherElements"}, AddGather, 2});
  samplers->push_back({{"GatherND"}, AddGatherND});
  samplers->push_back({{"ScatterElements"}, AddScatter});
  samplers->push_back({{"ScatterND"}, AddScatterND});
  samplers->push_back({{"ReverseSequence"}, AddReverseSequence});
  samplers->push_back({{"Compress"}, AddCompress});
  samplers->push_back({{"NonZero", "Unique"}, AddCounted});
  samplers->push_back({{"OneHot"}, AddOneHot});
}

}  // namespace ingot::fuzz
