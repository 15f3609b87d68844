// Reductions, and what else runs along an axis.
#include <algorithm>

#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddReduce(Grower* g, const std::string& op) {
  Random& r = g->random();
  DataType t = g->FloatType();
  if (r.Chance(15)) t = r.Chance(50) ? DataType::Int(32) : DataType::Int(64);
  std::string x = g->Some(t, 0, 5);
  if (op == "ReduceLogSum") {
    const auto positive = g->Try(Call("Abs", {x}));
    if (!positive) return;
    x = *positive;
  }
  Call call(op, {x});
  const int rank = g->RankOf(x);
  Shape axes;
  for (int d = 0; d < rank; ++d) {
    if (r.Chance(45)) axes.push_back(r.Chance(25) ? d - rank : d);
  }
  const bool as_operand = g->opset() >= 18 || op == "ReduceSum";
  if (!axes.empty()) {
    if (as_operand) {
      call.operands.push_back(g->Parameter(axes));
    } else {
      call.Ints("axes", axes);
    }
  } else if (as_operand && r.Chance(20)) {
    call.Int("noop_with_empty_axes", 1);
  }
  if (r.Chance(60)) call.Int("keepdims", r.Next(2));
  g->Try(call);
}

void AddArg(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.Chance(30) ? DataType::Int(32) : DataType::Float(32);
  const std::string x = g->Some(t, 1, 4);
  Call call(op, {x});
  call.Int("axis", g->Axis(x)).Int("keepdims", r.Next(2));
  if (r.Chance(40)) call.Int("select_last_index", 1);
  g->Try(call);
}

void AddAlongAxis(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->FloatType(), 1, 5);
  Call call(op, {x});
  if (g->random().Chance(75)) call.Int("axis", g->Axis(x));
  if (op == "LpNormalization") call.Int("p", 1 + g->random().Next(2));
  g->Try(call);
}

// Factors are small and few, so that their product stays a number.
std::string Factors(Grower* g, DataType t) {
  Shape shape = g->RandomShape(static_cast<int>(1 + g->random().Next(3)));
  for (int64_t& extent : shape) extent = std::min<int64_t>(extent, 17);
  return g->New(t, shape, t.is_float() ? Fill::Positive() : Fill::Whole(1, 2));
}

void AddCumulative(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.Chance(70) ? g->FloatType() : DataType::Int(64);
  const std::string x = op == "CumProd" ? Factors(g, t) : g->Some(t, 1, 4);
  g->Try(Call(op, {x, g->ScalarParameter(static_cast<double>(g->Axis(x)),
                                         DataType::Int(64))})
             .Int("exclusive", r.Next(2))
             .Int("reverse", r.Next(2)));
}

void AddTopK(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x =
      g->Some(r.Chance(75) ? DataType::Float(32) : DataType::Int(64), 1, 4);
  const int64_t axis = g->Axis(x);
  const int rank = g->RankOf(x);
  const int64_t extent = g->ShapeOf(x)[axis < 0 ? axis + rank : axis];
  const int64_t most = r.Chance(30) ? std::min<int64_t>(extent, 5) : extent;
  g->Try(Call(op, {x, g->Parameter({r.Next(most + 1)})})
             .Int("axis", axis)
             .Int("largest", r.Next(2))
             .Int("sorted", 1)
             .Results(2));
}

}  // namespace

void AddReductions(std::vector<OnnxSampler>* samplers) {
  samplers->push_back(
      {{"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare"},
       AddReduce,
       5});
  samplers->push_back({{"ArgMax", "ArgMin"}, AddArg, 2});
  samplers->push_back({{"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"},
                       AddAlongAxis,
                       3});
  samplers->push_back({{"CumSum", "CumProd"}, AddCumulative});
  samplers->push_back({{"TopK"}, AddTopK});
}

}  // namespace ingot::fuzz
