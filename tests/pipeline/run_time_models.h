// Helpers that the tests of models that data decides have in common.
#ifndef INGOT_TESTS_PIPELINE_RUN_TIME_MODELS_H_
#define INGOT_TESTS_PIPELINE_RUN_TIME_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {

inline constexpr int kFloat = onnx::TensorProto::FLOAT;
inline constexpr int kInt64 = onnx::TensorProto::INT64;
inline constexpr int kBool = onnx::TensorProto::BOOL;

// The graph of an empty model of operator set 15.
onnx::GraphProto* StartModel(onnx::ModelProto* model);

onnx::GraphProto* AddGraph(onnx::NodeProto* node, const std::string& name);
onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);
void AddOutputs(onnx::GraphProto* graph, const std::vector<std::string>& names);
void AddInt(onnx::NodeProto* node, const std::string& name, int64_t value);
void AddConstant(onnx::GraphProto* graph, const std::string& name,
                 const std::vector<int64_t>& dims,
                 const std::vector<int64_t>& values);
void AddFloat(onnx::GraphProto* graph, const std::string& name, float value);
void AddValue(onnx::ValueInfoProto* info, const std::string& name, int type);
// x[N], of floats.
void AddVector(onnx::ValueInfoProto* info, const std::string& name);

// The parameter is a target.
class RunTimeTest : public CliTest,
                    public testing::WithParamInterface<const char*> {
 protected:
  std::string Target() const { return std::string("--target=") + GetParam(); }

  // Compiles m.onnx, optimised and not, and compares it with the data sets in
  // data, so many outputs in all.
  void ExpectVerified(size_t sets, size_t outputs);
};

}  // namespace ingot

#endif  // INGOT_TESTS_PIPELINE_RUN_TIME_MODELS_H_
