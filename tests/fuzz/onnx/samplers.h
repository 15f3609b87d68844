// Samplers make random nodes of each ONNX operator. Private to this folder.
#ifndef INGOT_TESTS_FUZZ_ONNX_SAMPLERS_H_
#define INGOT_TESTS_FUZZ_ONNX_SAMPLERS_H_

#include <string>
#include <vector>

#include "tests/fuzz/onnx/grower.h"

namespace ingot::fuzz {

struct OnnxSampler {
  // The operators that it makes nodes of.
  std::vector<std::string> ops;
  // Tries to add a node of `op` with random operands and attributes, and what
  // it needs before it. Adding nothing is not an error.
  void (*add)(Grower* grower, const std::string& op);
  // The frequency with which it is drawn, compared with others.
  int weight = 1;
};

const std::vector<OnnxSampler>& OnnxSamplers();

// Parts of it, a file each.
void AddElementwise(std::vector<OnnxSampler>* samplers);
void AddProducts(std::vector<OnnxSampler>* samplers);
void AddConvolutions(std::vector<OnnxSampler>* samplers);
void AddPools(std::vector<OnnxSampler>* samplers);
void AddReductions(std::vector<OnnxSampler>* samplers);
void AddNormalizations(std::vector<OnnxSampler>* samplers);
void AddMoves(std::vector<OnnxSampler>* samplers);
void AddIndexing(std::vector<OnnxSampler>* samplers);
void AddRecurrent(std::vector<OnnxSampler>* samplers);
void AddAttention(std::vector<OnnxSampler>* samplers);
void AddQuantized(std::vector<OnnxSampler>* samplers);
void AddControlFlow(std::vector<OnnxSampler>* samplers);
void AddGenerators(std::vector<OnnxSampler>* samplers);
void AddImages(std::vector<OnnxSampler>* samplers);
void AddState(std::vector<OnnxSampler>* samplers);
void AddStored(std::vector<OnnxSampler>* samplers);
void AddSignals(std::vector<OnnxSampler>* samplers);
void AddSequences(std::vector<OnnxSampler>* samplers);
void AddLosses(std::vector<OnnxSampler>* samplers);
void AddClassical(std::vector<OnnxSampler>* samplers);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_SAMPLERS_H_
