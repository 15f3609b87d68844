// Small ONNX models, made on the spot, and what they compute.

#ifndef INGOT_TESTS_PIPELINE_MODELS_H_
#define INGOT_TESTS_PIPELINE_MODELS_H_

#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace ingot {

// Builds an ONNX graph node by node.
class ModelMaker {
 public:
  explicit ModelMaker(const std::string& name);

  // A negative dimension becomes a symbol: -1 is "N", -2 "N2", -3 "N3".
  ModelMaker& Input(const std::string& name, const std::vector<int64_t>& shape);
  ModelMaker& Output(const std::string& name,
                     const std::vector<int64_t>& shape);
  ModelMaker& Weights(const std::string& name,
                      const std::vector<int64_t>& shape,
                      const std::vector<float>& values);
  // Made of `name`, so that the same name is the same weights.
  ModelMaker& RandomWeights(const std::string& name,
                            const std::vector<int64_t>& shape);
  // Attributes are added to the node that is returned.
  onnx::NodeProto& Node(const std::string& op, const std::string& name,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs);

  void Write(const std::string& path) const;

 private:
  onnx::ModelProto model_;
};

void AddInts(onnx::NodeProto* node, const std::string& name,
             const std::vector<int64_t>& values);

// x[2,16] -> MatMul, Add, Relu, MatMul -> y[2,4].
void WriteMlp(const std::string& path);
// Folder `dir` with test_data_set_0 of the above, computed here in plain C++.
void WriteMlpTestData(const std::string& dir);

// image[1,3,16,16] -> Conv, Relu, MaxPool, Flatten, Gemm -> scores[1,10].
void WriteConvNet(const std::string& path);

// x[N,4] -> Relu -> y[N,4].
void WriteSymbolic(const std::string& path);

void WriteTensorProto(const std::string& path, const std::string& name,
                      const std::vector<int64_t>& shape,
                      const std::vector<float>& values);

// Numbers in [-1, 1) that follow from `seed`.
std::vector<float> Numbers(const std::string& seed, size_t count);

}  // namespace ingot

#endif  // INGOT_TESTS_PIPELINE_MODELS_H_
