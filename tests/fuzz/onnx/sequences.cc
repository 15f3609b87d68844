// Sequences and optional values, which only live between operators here: what
// is compared are the tensors that come out.
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

std::string Index(Grower* g, int64_t k) {
  return g->ScalarParameter(static_cast<double>(k), DataType::Int(64));
}

// Tensors in, one way or another a tensor out.
void AddSequence(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.Chance(70) ? DataType::Float(32) : DataType::Int(64);
  const std::string x = g->Some(t, 1, 3);
  const std::string y = g->Like(t, g->ShapeOf(x));
  std::vector<Call> calls;
  if (op == "SequenceEmpty") {
    calls.push_back(Call(op, {}).Int("dtype", OnnxTypeOf(t)));
    calls.push_back(Call("SequenceInsert", {"#0", x}));
    calls.push_back(Call("SequenceInsert", {"#1", y, Index(g, 0)}));
  } else {
    calls.push_back(Call("SequenceConstruct", {x, y, x}));
    if (op == "SequenceErase") {
      calls.push_back(Call(op, {"#0", Index(g, r.Between(-2, 2))}));
    } else {
      calls.push_back(Call("SequenceInsert", {"#0", y, Index(g, r.Next(3))}));
    }
  }
  const std::string last = "#" + std::to_string(calls.size() - 1);
  if (op == "SequenceLength") {
    calls.push_back(Call(op, {last}));
  } else if (op == "ConcatFromSequence") {
    calls.push_back(Call(op, {last})
                        .Int("axis", r.Next(g->RankOf(x)))
                        .Int("new_axis", r.Next(2)));
  } else {
    calls.push_back(Call("SequenceAt", {last, Index(g, r.Between(-2, 1))}));
  }
  g->AddTogether(calls);
}

void AddSplitToSequence(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 1, 3);
  const int64_t axis = g->Axis(x);
  Call split(op, {x});
  if (r.Chance(50)) split.operands.push_back(Index(g, 1 + r.Next(3)));
  split.Int("axis", axis);
  const bool at = r.Chance(50);
  g->AddTogether(
      {split, at ? Call("SequenceAt", {"#0", Index(g, 0)})
                 : Call("ConcatFromSequence", {"#0"}).Int("axis", 0)});
}

}  // namespace

void AddSequences(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"SequenceEmpty", "SequenceErase", "SequenceLength",
                        "ConcatFromSequence", "SequenceAt", "SequenceConstruct",
                        "SequenceInsert"},
                       AddSequence});
  samplers->push_back({{"SplitToSequence"}, AddSplitToSequence});
}

}  // namespace ingot::fuzz
