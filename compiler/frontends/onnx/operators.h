// A list of the operators that the importer knows, for documentation.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_OPERATORS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_OPERATORS_H_

#include <string>
#include <vector>

namespace ingot {

// The newest operator set of ONNX's own domain that the importer takes.
int NewestOnnxOpset();

struct OnnxOperator {
  std::string domain;  // "": ONNX's own
  std::string name;
  // The operator set of its domain that it came with.
  int since = 0;
};

// Every operator that has a converter, by domain and name.
std::vector<OnnxOperator> ImportedOperators();

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_OPERATORS_H_
