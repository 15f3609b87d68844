// Random models that are valid by construction, over the operators of relay.
#ifndef INGOT_TESTS_FUZZ_RANDOM_MODEL_H_
#define INGOT_TESTS_FUZZ_RANDOM_MODEL_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

struct RandomModelOptions {
  int operators = 8;  // about so many
  // Some inputs have the dimension `n`, which is 3 at run time.
  bool symbolic = false;
};

struct RandomModel {
  std::unique_ptr<relay::Module> module;
  std::vector<Tensor> inputs;
};

// The same seed and options give the same model. Its values stay where float
// arithmetic in another order gives nearly the same: operators that jump
// (floor, comparisons, argmax) only read what is computed without rounding.
RandomModel MakeRandomModel(uint64_t seed, const RandomModelOptions& options);

// The operators that MakeRandomModel may use.
std::set<std::string> CoveredOperators();

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_RANDOM_MODEL_H_
