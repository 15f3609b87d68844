// All ways of one random model, in a process of their own.
#ifndef INGOT_TESTS_FUZZ_ONNX_CHECK_SEED_H_
#define INGOT_TESTS_FUZZ_ONNX_CHECK_SEED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/onnx/check_model.h"
#include "tests/fuzz/onnx/child_pool.h"

namespace ingot::fuzz {

struct WayResult {
  Way way;
  bool refused = false;
  // ONNX Runtime, which makes models and what is expected of them, ended the
  // process or did not come back. No code of Ingot had run.
  bool without_reference = false;
  std::string message;  // empty: all is well
  bool failed() const {
    return !refused && !without_reference && !message.empty();
  }
};

// Makes MakeOnnxModel(seed, kinds) and checks it in each of WaysOf(seed), in a
// child of `pool`, under the id `seed`. Folders are made below `folder`.
void StartSeed(uint64_t seed, const OnnxModelKinds& kinds,
               const std::string& folder, ChildPool* pool);

// The same for a model at hand and these ways.
void StartModel(int64_t id, const OnnxModel& model,
                const std::vector<Way>& ways, const std::string& folder,
                ChildPool* pool);

// Reads the child's findings, way by way, up to the one that it died of.
std::vector<WayResult> ResultsOf(const Ended& ended,
                                 const std::vector<Way>& ways);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_CHECK_SEED_H_
