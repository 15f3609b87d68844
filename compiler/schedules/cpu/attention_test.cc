// The loops of cpu.attention against sums in double over every pair of a query
// and a key.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::te::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);

// An attention with its operands; empty ones are left out.
struct Problem {
  int64_t batch = 2, heads = 2, kept = 1, queries = 20, keys = 130;
  int64_t size = 8, columns = 7;
  DataType type = kF32;
  std::vector<int64_t> bias;  // its shape
  bool bool_bias = false;
  std::vector<int64_t> places, lengths;
  bool sink = false;
  double loud = 1;  // the largest element of queries
  double softcap = 0;
  int64_t left = -1, right = -1;
  bool precise = false;   // softmax in f64
  bool symbolic = false;  // batch, queries and keys are symbols
};

double Element(const ingot::Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type == DataType::Float(64)) return t.data<double>()[i];
  if (type == DataType::Float(16)) return HalfToFloat(t.data<uint16_t>()[i]);
  if (type == DataType::BFloat16()) {
    return BFloat16ToFloat(t.data<uint16_t>()[i]);
  }
  if (type.is_bool()) return t.data<bool>()[i] ? 1 : 0;
  if (type == kI64) return static_cast<double>(t.data<int64_t>()[i]);
  return t.data<float>()[i];
}

void SetElement(ingot::Tensor* t, int64_t i, double value) {
  const DataType type = t->dtype();
  if (type == DataType::Float(64)) {
    t->mutable_data<double>()[i] = value;
  } else if (type == DataType::Float(16)) {
    t->mutable_data<uint16_t>()[i] = FloatToHalf(static_cast<float>(value));
  } else if (type == DataType::BFloat16()) {
    t->mutable_data<uint16_t>()[i] = FloatToBFloat16(static_cast<float>(value));
  } else {
    t->mutable_data<float>()[i] = static_cast<float>(value);
  }
}

// Numbers between -most and most.
ingot::Tensor Random(DataType type, const std::vector<int64_t>& shape,
                     uint32_t seed, double most = 1) {
  ingot::Tensor t = *ingot::Tensor::Empty(type, shape);
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    state = state * 1664525u + 1013904223u;
    SetElement(&t, i, ((state >> 8) / 8388608.0 - 1) * most);
  }
  return t;
}

ingot::Tensor Longs(const std::vector<int64_t>& values) {
  ingot::Tensor t =
      *ingot::Tensor::Empty(kI64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<int64_t>());
  return t;
}

// Every third score does not count, and none of query 2's.
ingot::Tensor Allowed(const std::vector<int64_t>& shape) {
  ingot::Tensor t = *ingot::Tensor::Empty(DataType::Bool(), shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    const int64_t query = i / shape.back() % shape[shape.size() - 2];
    t.mutable_data<bool>()[i] = i % 3 != 1 && query != 2;
  }
  return t;
}

// Operands by their index: queries, keys, values, bias, places, lengths, sink.
using Operands = std::map<int, ingot::Tensor>;

Operands MakeOperands(const Problem& p) {
  Operands in;
  in[0] = Random(p.type, {p.batch, p.heads, p.queries, p.size}, 1, p.loud);
  in[1] = Random(p.type, {p.batch, p.kept, p.keys, p.size}, 2);
  in[2] = Random(p.type, {p.batch, p.kept, p.keys, p.columns}, 3);
  if (!p.bias.empty()) {
    in[3] = p.bool_bias ? Allowed(p.bias) : Random(p.type, p.bias, 4);
  }
  if (!p.places.empty()) in[4] = Longs(p.places);
  if (!p.lengths.empty()) in[5] = Longs(p.lengths);
  if (p.sink) in[6] = Random(p.type, {p.heads}, 5);
  return in;
}

// The score of a query and a key; -inf where it does not count.
double Score(const Problem& p, const Operands& in, int64_t b, int64_t h,
             int64_t i, int64_t j) {
  const auto of_batch = [b](const std::vector<int64_t>& values) {
    return values[values.size() == 1 ? 0 : b];
  };
  const int64_t place = i + (p.places.empty() ? 0 : of_batch(p.places));
  if ((p.right >= 0 && j > place + p.right) ||
      (p.left >= 0 && j < place - p.left) ||
      (!p.lengths.empty() && j >= of_batch(p.lengths))) {
    return -kInfinity;
  }
  const int64_t kept = b * p.kept + h / (p.heads / p.kept);
  double score = 0;
  for (int64_t d = 0; d < p.size; ++d) {
    score +=
        Element(in.at(0), ((b * p.heads + h) * p.queries + i) * p.size + d) *
        Element(in.at(1), (kept * p.keys + j) * p.size + d);
  }
  score *= 0.5;
  if (p.softcap > 0) score = p.softcap * std::tanh(score / p.softcap);
  if (p.bias.empty()) return score;
  const int64_t at[] = {b, h, i, j};
  int64_t place_of_bias = 0;
  for (size_t d = 0; d < p.bias.size(); ++d) {
    place_of_bias = place_of_bias * p.bias[d] +
                    (p.bias[d] == 1 ? 0 : at[4 - p.bias.size() + d]);
  }
  const double bias = Element(in.at(3), place_of_bias);
  if (p.bool_bias) return bias != 0 ? score : -kInfinity;
  return score + bias;
}

std::vector<double> Expected(const Problem& p, const Operands& in) {
  std::vector<double> y;
  for (int64_t row = 0; row < p.batch * p.heads * p.queries; ++row) {
    const int64_t i = row % p.queries, h = row / p.queries % p.heads;
    const int64_t b = row / p.queries / p.heads;
    const int64_t kept = b * p.kept + h / (p.heads / p.kept);
    const double sink = p.sink ? Element(in.at(6), h) : -kInfinity;
    double top = sink;
    std::vector<double> scores;
    for (int64_t j = 0; j < p.keys; ++j) {
      scores.push_back(Score(p, in, b, h, i, j));
      top = std::max(top, scores.back());
    }
    if (top == -kInfinity) top = 0;  // all weights are 0
    double whole = std::exp(sink - top);
    std::vector<double> sums(p.columns, 0);
    for (int64_t j = 0; j < p.keys; ++j) {
      const double weight = std::exp(scores[j] - top);
      whole += weight;
      for (int64_t c = 0; c < p.columns; ++c) {
        sums[c] +=
            weight * Element(in.at(2), (kept * p.keys + j) * p.columns + c);
      }
    }
    for (const double sum : sums) y.push_back(whole == 0 ? 0 : sum / whole);
  }
  return y;
}

// The kernel, of which `dims` gets the symbols' values.
void Define(const Problem& p, const Operands& operands, Kernel* kernel,
            DimValues* dims) {
  std::map<int64_t, Expr> symbols;
  const auto dim = [&](int operand, size_t d) -> Expr {
    const int64_t extent = operands.at(operand).shape()[d];
    const bool named = p.symbolic && operand < 3 && (d == 0 || d == 2);
    if (!named) return tir::MakeInt(extent);
    Expr& symbol = symbols[d == 0 ? 0 : operand == 0 ? 1 : 2];
    if (symbol == nullptr) {
      const tir::VarPtr var = tir::MakeVar("n");
      symbol = var;
      (*dims)[var.get()] = extent;
    }
    return symbol;
  };
  relay::Function function("main");
  std::vector<relay::Value> values;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 7; ++i) {
    values.emplace_back();
    tensors.emplace_back();
    if (operands.count(i) == 0) continue;
    std::vector<Expr> shape;
    for (size_t d = 0; d < operands.at(i).shape().size(); ++d) {
      shape.push_back(dim(i, d));
    }
    const DataType type = operands.at(i).dtype();
    values[i] =
        relay::Value{function.AddInput("x" + std::to_string(i), {type, shape})};
    tensors[i] = kernel->graph.Placeholder("x", type, shape);
    kernel->inputs.push_back(tensors[i]);
  }
  relay::Attrs attrs;
  attrs.Set("scale", 0.5);
  attrs.Set("softcap", p.softcap);
  attrs.Set("left", p.left);
  attrs.Set("right", p.right);
  attrs.Set("masked_zero", int64_t{1});
  if (p.precise) attrs.Set("precision", DataType::Float(64));
  const auto node = function.AddOp("attention", "y", values, attrs);
  ASSERT_TRUE(node.ok()) << node.status();
  const auto results = (*node)->op->compute(relay::ComputeContext{
      kernel->graph, tensors, (*node)->attrs, (*node)->outputs, "y"});
  ASSERT_TRUE(results.ok()) << results.status();
  kernel->outputs = *results;
}

// Runs the problem at a point of the template's space; `expects_template`:
// whether it is the template that schedules it.
void Check(const Problem& p, int vector_bits, const std::string& name,
           bool expects_template = true,
           const std::function<ScheduleChoice(const ScheduleChoice&)>& change =
               nullptr) {
  SCOPED_TRACE(name + " with vectors of " + std::to_string(vector_bits));
  const Operands operands = MakeOperands(p);
  Kernel kernel;
  DimValues dims;
  Define(p, operands, &kernel, &dims);
  if (testing::Test::HasFatalFailure()) return;
  bool used = false;
  const auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs, CpuTemplates(), TestCpu(vector_bits),
      [&](const ScheduleTemplate& t, const ScheduleSite&,
          const ScheduleChoice& cheapest) {
        const bool is_attention = t.name == "cpu.attention";
        used = used || is_attention;
        return is_attention && change ? change(cheapest) : cheapest;
      });
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(used, expects_template);
  std::vector<ingot::Tensor> inputs;
  for (const auto& [place, operand] : operands) inputs.push_back(operand);
  const auto results = RunSchedule(kernel, *schedule, inputs, dims, true);
  ASSERT_EQ(results.size(), 1u);
  const std::vector<double> expected = Expected(p, operands);
  ASSERT_EQ(results[0].NumElements(), static_cast<int64_t>(expected.size()));
  const double tolerance = p.type == DataType::Float(16)    ? 2e-3
                           : p.type == DataType::BFloat16() ? 1e-2
                           : p.type == DataType::Float(64)  ? 1e-12
                                                            : 1e-5 * p.loud;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(Element(results[0], static_cast<int64_t>(i)), expected[i],
                tolerance)
        << i;
  }
}

class AttentionTest : public testing::TestWithParam<int> {};

TEST_P(AttentionTest, BlocksAndTails) {
  for (const int64_t queries : {16, 33, 150}) {
    for (const int64_t keys : {1, 96, 97, 210}) {
      Problem p;
      p.batch = 1;
      p.queries = queries;
      p.keys = keys;
      Check(p, GetParam(), std::to_string(queries * 1000 + keys));
    }
  }
}

// Vectors of columns, and some that are left; queries likewise, known and not.
TEST_P(AttentionTest, ManyColumns) {
  for (const int64_t queries : {64, 70, 197}) {
    for (const bool symbolic : {false, true}) {
      Problem p;
      p.batch = 1;
      p.queries = queries;
      p.keys = 101;
      p.size = 10;
      p.columns = 37;
      p.symbolic = symbolic;
      Check(p, GetParam(), std::to_string(queries));
    }
  }
}

TEST_P(AttentionTest, FewQueriesHaveTheirScores) {
  for (const int64_t queries : {1, 3}) {
    Problem p;
    p.heads = 8;
    p.queries = queries;
    p.places = {120, 77};
    p.right = 0;
    p.size = 32;
    Check(p, GetParam(), "few", /*expects_template=*/false);
  }
}

TEST_P(AttentionTest, GroupsOfHeads) {
  for (const int64_t kept : {8, 2, 1}) {
    Problem p;
    p.heads = 8;
    p.kept = kept;
    Check(p, GetParam(), std::to_string(kept));
  }
}

TEST_P(AttentionTest, KeysByPlace) {
  Problem causal;
  causal.right = 0;
  Check(causal, GetParam(), "causal");
  Problem past = causal;
  past.places = {90};
  Check(past, GetParam(), "causal, after others");
  past.places = {90, 17};
  Check(past, GetParam(), "each batch after others");
  Problem window = past;
  window.left = 20;
  window.right = 3;
  Check(window, GetParam(), "window");
  window.keys = 400;
  window.places = {250, 0};
  Check(window, GetParam(), "window far from both ends");
  window.places = {1000, -1000};
  Check(window, GetParam(), "no keys in the window");
  Problem lengths;
  lengths.lengths = {100, 0};
  Check(lengths, GetParam(), "lengths");
  lengths.right = 0;
  lengths.places = {60, -40};
  Check(lengths, GetParam(), "lengths, causal");
}

TEST_P(AttentionTest, Biases) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {20, 130}, {130}, {2, 1, 1, 130}, {1, 2, 20, 130}, {2, 2, 20, 1}}) {
    Problem p;
    p.bias = shape;
    p.softcap = 2;
    Check(p, GetParam(), "floats");
    if (shape.size() < 2) continue;
    p.bool_bias = true;
    p.right = 50;
    Check(p, GetParam(), "bools");
  }
}

TEST_P(AttentionTest, SinksBelongToNoKey) {
  Problem p;
  p.heads = 4;
  p.sink = true;
  Check(p, GetParam(), "sink");
  p.lengths = {0, 3};
  Check(p, GetParam(), "nothing but the sink");
}

// Exponentials of these scores are too large for f32.
TEST_P(AttentionTest, LargeScores) {
  Problem p;
  p.loud = 300;
  Check(p, GetParam(), "loud");
}

TEST_P(AttentionTest, Types) {
  Problem p;
  p.right = 0;
  for (const DataType type :
       {DataType::Float(16), DataType::BFloat16(), DataType::Float(64)}) {
    p.type = type;
    Check(p, GetParam(), type.ToString());
  }
  p.type = kF32;
  p.precise = true;
  Check(p, GetParam(), "softmax in f64");
}

TEST_P(AttentionTest, Symbols) {
  for (const int64_t queries : {1, 33, 70}) {
    for (const int64_t keys : {0, 33, 140}) {
      Problem p;
      p.symbolic = true;
      p.queries = queries;
      p.keys = keys;
      p.right = 0;
      p.places = {std::max<int64_t>(keys - queries, 0)};
      Check(p, GetParam(), std::to_string(queries * 1000 + keys));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, AttentionTest,
                         testing::Values(0, 256, 512));

// Every point of the space whose parts go together is right.
TEST(AttentionSpaceTest, AllPoints) {
  Problem p;
  p.batch = 1;
  p.queries = 50;
  p.keys = 100;
  p.columns = 5;
  p.right = 20;
  for (const int64_t keys : {6, 4, 8, 12, 3, 2, 1}) {
    for (const int64_t vectors : {1, 2, 3}) {
      for (const int64_t panels : {1, 2}) {
        Check(p, 128, "a point", true, [&](ScheduleChoice choice) {
          choice.Set("keys", keys);
          choice.Set("vectors", vectors);
          choice.Set("panels", panels);
          return choice;
        });
      }
    }
  }
}

}  // namespace
}  // namespace ingot::te::cpu
