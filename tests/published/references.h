// Published models, inputs for them, and what ONNX Runtime computed of these.
#ifndef INGOT_TESTS_PUBLISHED_REFERENCES_H_
#define INGOT_TESTS_PUBLISHED_REFERENCES_H_

#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/tensor.h"

namespace ingot {

// The runs in the file that $REFERENCES names, references.json: each has a
// "model", its "inputs" and its "outputs".
std::vector<nlohmann::json> References();

// The paths of models that the build gives in $MODELS: MODEL=PATH, in any
// number.
std::map<std::string, std::string> ModelPaths();

// The input that one of the "inputs" describes, by the formulas of
// make_references.mjs.
Tensor MakeInput(const nlohmann::json& input);

// Writes the inputs of a run to FOLDER/in0.npy, FOLDER/in1.npy, ...; returns
// these paths. A file that cannot be written fails the test.
std::vector<std::string> WriteInputs(const nlohmann::json& reference,
                                     const std::string& folder);

// The tensor in a .npy file. A file without one fails the test and gives an
// empty tensor.
Tensor ReadNpy(const std::string& path);

// Expects that `got` is near one of the "outputs": its shape, the mean of its
// magnitudes and some of its elements.
void ExpectReference(const Tensor& got, const nlohmann::json& expected);

}  // namespace ingot

#endif  // INGOT_TESTS_PUBLISHED_REFERENCES_H_
