// Random ONNX models with inputs for them, valid by ONNX Runtime's judgement.
#ifndef INGOT_TESTS_FUZZ_ONNX_RANDOM_ONNX_MODEL_H_
#define INGOT_TESTS_FUZZ_ONNX_RANDOM_ONNX_MODEL_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

struct OnnxModel {
  onnx::ModelProto proto;
  std::map<std::string, Tensor> inputs;  // by name
};

// Which models are made.
struct OnnxModelKinds {
  // Samplers are drawn for these operators alone, unless there are none; they
  // may add nodes of other operators, too.
  std::set<std::string> only;
  // So many of 100 models have large operands, which leave caches and are cut
  // into blocks; they are short.
  int large = 8;
};

// The same seed and kinds give the same model, which has at least one node and
// one output.
OnnxModel MakeOnnxModel(uint64_t seed, const OnnxModelKinds& kinds = {});

// The model with symbolic dimensions: each dimension of an input that `seed`
// picks gets a name, and equal extents sometimes get the same one.
onnx::ModelProto WithSymbols(const onnx::ModelProto& model, uint64_t seed);

// The model with a symbolic first dimension of each of its data inputs.
// `inputs` get twice as much along it: what they had, and the same in reverse.
onnx::ModelProto WithTwice(const onnx::ModelProto& model,
                           std::map<std::string, Tensor>* inputs);

// The model in which an input that is read more than once is read from a copy
// after the first time; `inputs` gets the copies.
onnx::ModelProto WithCopies(const onnx::ModelProto& model,
                            std::map<std::string, Tensor>* inputs);

// The operators that models may have.
std::set<std::string> SampledOnnxOperators();

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_RANDOM_ONNX_MODEL_H_
