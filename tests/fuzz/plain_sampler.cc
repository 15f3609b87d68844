// The sampler of operators that have none of their own.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/relay/op.h"
#include "tests/fuzz/left_out.h"
#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

// Operands are small, and results are taken to be as large as those of exp:
// nothing else is known here.
bool AddPlain(ModelBuilder* m, const std::string& op) {
  const relay::OpDef* def = relay::StandardOps().Find(op);
  const DataType t = m->FloatType();
  std::vector<Known> operands;
  double bound = 0;
  for (int i = 0; i < std::max(1, def->min_inputs); ++i) {
    const auto x = m->Pick(t, [](const Known& k) { return k.bound <= 6; });
    if (!x) return false;
    bound = std::max(bound, x->bound);
    operands.push_back(*x);
  }
  return m->Add(op, operands, {}, false, std::exp(bound));
}

}  // namespace

void AddPlainSampler(std::vector<OpSampler>* samplers) {
  std::set<std::string> sampled;
  for (const OpSampler& s : *samplers) {
    sampled.insert(s.ops.begin(), s.ops.end());
  }
  OpSampler plain = {{}, AddPlain};
  for (const relay::OpDef* def : relay::StandardOps().All()) {
    if (!def->TakesSequences() && sampled.count(def->name) == 0 &&
        LeftOutOperators().count(def->name) == 0) {
      plain.ops.push_back(def->name);
    }
  }
  if (!plain.ops.empty()) samplers->push_back(std::move(plain));
}

}  // namespace ingot::fuzz
