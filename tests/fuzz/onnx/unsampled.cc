// The operators that random models have none of.
#include "tests/fuzz/onnx/deviations.h"

namespace ingot::fuzz {

const std::map<std::string, std::string>& UnsampledOperators() {
  const char* const kRandom = "its numbers are each implementation's own";
  const char* const kText = "of text, which random models have none of";
  const char* const kOld = "not in the operator sets that models have";
  static const auto* const kUnsampled = new std::map<std::string, std::string>{
      {"Bernoulli", kRandom},
      {"Multinomial", kRandom},
      {"RandomNormal", kRandom},
      {"RandomNormalLike", kRandom},
      {"RandomUniform", kRandom},
      {"RandomUniformLike", kRandom},
      {"RegexFullMatch", kText},
      {"StringConcat", kText},
      {"StringNormalizer", kText},
      {"StringSplit", kText},
      {"TfIdfVectorizer", kText},
      {"Scatter", kOld},
      {"Upsample", kOld},
      {"SwiGLU", "ONNX Runtime does not know operator set 28 yet"},
      {"ImageDecoder", "ONNX Runtime has no kernel for it"},
      {"SimplifiedLayerNormalization", "not an operator of ONNX's own"},
      {"CategoryMapper", kText},
      {"TreeEnsemble", kOld},
      {"ZipMap", "gives maps, which are tensors in Ingot"},
      {"Optional", "values that may be missing are not sampled"},
      {"OptionalGetElement", "values that may be missing are not sampled"},
      {"OptionalHasElement", "values that may be missing are not sampled"},
      {"SequenceMap", "ONNX Runtime expands it by its optimiser only"},
  };
  return *kUnsampled;
}

}  // namespace ingot::fuzz
