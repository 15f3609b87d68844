// Small ONNX models of different shapes.
#ifndef INGOT_TESTS_BISECT_MODELS_H_
#define INGOT_TESTS_BISECT_MODELS_H_

#include <string>
#include <vector>

namespace ingot {

// Writes them into `folder`, NAME.onnx each, and returns their names: a network
// of convolutions with a residual, a multi-layer perceptron, attention, a batch
// of any size, a decoder that grows an image, and a recurrent one.
std::vector<std::string> WriteBisectModels(const std::string& folder);

}  // namespace ingot

#endif  // INGOT_TESTS_BISECT_MODELS_H_
