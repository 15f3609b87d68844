// How fast ONNX Runtime reads a text and goes on with it: the peer of
// examples/generate, which says the same of Ingot.
//
//   onnxruntime_decode MODEL.onnx PROMPT_LENGTH TOKENS THREADS
//
// Each run's keys and values are given to the next one as they are, uncopied.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "third_party/onnxruntime/onnxruntime_c_api.h"

namespace {

const OrtApi& Api() {
  static const OrtApi* const kApi = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *kApi;
}

void Check(OrtStatus* status) {
  if (status == nullptr) return;
  fprintf(stderr, "ONNX Runtime: %s\n", Api().GetErrorMessage(status));
  std::exit(1);
}

// A model, its inputs of the next run, and how many words it has seen.
class Decoder {
 public:
  Decoder(const char* path, int threads) {
    OrtSessionOptions* options;
    Check(Api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "decode", &env_));
    Check(Api().CreateSessionOptions(&options));
    Check(Api().SetIntraOpNumThreads(options, threads));
    Check(Api().SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
    Check(Api().CreateSession(env_, path, options, &session_));
    Check(Api().GetAllocatorWithDefaultOptions(&allocator_));
    Check(Api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault,
                                    &memory_));
    size_t count;
    char* name;
    Check(Api().SessionGetInputCount(session_, &count));
    for (size_t i = 0; i < count; ++i) {
      Check(Api().SessionGetInputName(session_, i, allocator_, &name));
      inputs_.push_back(name);
      values_.push_back(IsPast(name) ? Nothing(i) : nullptr);
    }
    Check(Api().SessionGetOutputCount(session_, &count));
    for (size_t i = 0; i < count; ++i) {
      Check(Api().SessionGetOutputName(session_, i, allocator_, &name));
      outputs_.push_back(name);
    }
  }

  void Read(std::vector<int64_t> words) {
    const auto count = static_cast<int64_t>(words.size());
    std::vector<int64_t> places(count), mask(past_ + count, 1);
    std::iota(places.begin(), places.end(), past_);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string name = inputs_[i];
      if (name == "input_ids") values_[i] = Numbers(&words);
      if (name == "position_ids") values_[i] = Numbers(&places);
      if (name == "attention_mask") values_[i] = Numbers(&mask);
    }
    std::vector<OrtValue*> results(outputs_.size());
    Check(Api().Run(session_, nullptr, inputs_.data(), values_.data(),
                    values_.size(), outputs_.data(), outputs_.size(),
                    results.data()));
    Api().ReleaseValue(results[0]);
    size_t next = 1;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Api().ReleaseValue(values_[i]);
      values_[i] = IsPast(inputs_[i]) ? results[next++] : nullptr;
    }
    past_ += count;
  }

 private:
  static bool IsPast(const std::string& name) {
    return name.rfind("past_key_values", 0) == 0;
  }

  // No words' keys or values.
  OrtValue* Nothing(size_t input) {
    OrtTypeInfo* type;
    const OrtTensorTypeAndShapeInfo* info;
    int64_t dims[4];
    Check(Api().SessionGetInputTypeInfo(session_, input, &type));
    Check(Api().CastTypeInfoToTensorInfo(type, &info));
    Check(Api().GetDimensions(info, dims, 4));
    dims[0] = 1;
    dims[2] = 0;
    OrtValue* value;
    Check(Api().CreateTensorAsOrtValue(
        allocator_, dims, 4, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    return value;
  }

  OrtValue* Numbers(std::vector<int64_t>* numbers) {
    const int64_t shape[] = {1, static_cast<int64_t>(numbers->size())};
    OrtValue* value;
    Check(Api().CreateTensorWithDataAsOrtValue(
        memory_, numbers->data(), numbers->size() * sizeof(int64_t), shape, 2,
        ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &value));
    return value;
  }

  OrtEnv* env_;
  OrtSession* session_;
  OrtAllocator* allocator_;
  OrtMemoryInfo* memory_;
  std::vector<const char*> inputs_, outputs_;
  std::vector<OrtValue*> values_;
  int64_t past_ = 0;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s MODEL.onnx PROMPT_LENGTH TOKENS THREADS\n",
            argv[0]);
    return 2;
  }
  const int length = std::atoi(argv[2]), tokens = std::atoi(argv[3]);
  Decoder decoder(argv[1], std::atoi(argv[4]));
  auto start = std::chrono::steady_clock::now();
  decoder.Read(std::vector<int64_t>(std::max(length, 1), 32));
  const double prefill = SecondsSince(start);
  start = std::chrono::steady_clock::now();
  for (int i = 0; i < tokens; ++i) decoder.Read({32 + i % 90});
  printf("prefill: %.1f tokens/s, decode: %.1f tokens/s\n", length / prefill,
         tokens / SecondsSince(start));
}
