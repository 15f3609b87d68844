// Writes language models with random weights, in architectures and sizes of
// public ones and in sizes for tests.
//
//   write_model gpt2|gpt2_tiny|llama|llama_tiny MODEL.onnx
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "examples/generate/decoder_graph.h"

namespace {

using ingot::generate::DecoderSizes;

struct Architecture {
  onnx::ModelProto (*make)(const DecoderSizes& sizes);
  // vocabulary, width, layers, heads, kept heads, hidden, most tokens
  DecoderSizes sizes;
};

const std::map<std::string, Architecture>& Architectures() {
  using ingot::generate::MakeGpt2;
  using ingot::generate::MakeLlama;
  static const auto* const kAll = new std::map<std::string, Architecture>{
      // openai-community/gpt2: 124 million weights.
      {"gpt2", {&MakeGpt2, {50257, 768, 12, 12, 12, 3072, 1024}}},
      {"gpt2_tiny", {&MakeGpt2, {256, 48, 2, 3, 3, 160, 128}}},
      // TinyLlama/TinyLlama-1.1B-Chat-v1.0.
      {"llama", {&MakeLlama, {32000, 2048, 22, 32, 4, 5632, 2048}}},
      {"llama_tiny", {&MakeLlama, {256, 64, 2, 4, 2, 176, 128}}},
  };
  return *kAll;
}

}  // namespace

int main(int argc, char** argv) {
  const auto& all = Architectures();
  if (argc != 3 || all.count(argv[1]) == 0) {
    fprintf(stderr,
            "usage: write_model gpt2|gpt2_tiny|llama|llama_tiny MODEL.onnx\n");
    return 2;
  }
  const Architecture& chosen = all.at(argv[1]);
  std::ofstream file(argv[2], std::ios::binary);
  if (chosen.make(chosen.sizes).SerializeToOstream(&file) && file.flush()) {
    return 0;
  }
  fprintf(stderr, "write_model: cannot write %s\n", argv[2]);
  return 1;
}
