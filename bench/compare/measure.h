// The measurements of one model: every peer on the same inputs, by turns.
#ifndef INGOT_BENCH_COMPARE_MEASURE_H_
#define INGOT_BENCH_COMPARE_MEASURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/compare/other_peers.h"

namespace ingot::compare {

struct Plan {
  std::string ingot;  // the command
  std::string ingot_peer, onnxruntime_peer;
  std::vector<OtherPeer> others;
  std::string target;  // empty: the command's own
  int threads = 1;
  int rounds = 3;
  double seconds = 0.3;  // a peer's turn
  std::string folder;    // for what is compiled
};

// Times in seconds.
struct PeerResult {
  double load = 0;
  double latency = 0;           // the least median of a turn
  std::vector<double> medians;  // of the turns
  double peak_mib = 0;
};

// Another peer's result with a model.
struct OtherResult {
  std::string problem;  // why it has none; else empty
  PeerResult measured;
  double difference = 0;  // from ONNX Runtime's outputs, as below
};

struct ModelResult {
  std::string name;
  std::string problem;  // why it could not be measured; else empty
  double compile = 0, link = 0, compile_peak_mib = 0;
  PeerResult ingot, onnxruntime;
  double operations = 0;  // that Ingot's kernels make in a run; 0: not known
  // The largest difference between an output of both, as a part of the largest
  // element of that output.
  double difference = 0;
  std::vector<OtherResult> others;  // in the order of Plan.others

  double SpeedUp() const { return onnxruntime.latency / ingot.latency; }
};

// Compiles, links and measures the model in `folder`, which has model.onnx and
// test_data_set_0. Failures stand in the result.
ModelResult MeasureModel(const Plan& plan, const std::string& folder);

// The folders among `paths`, and directly below them, that hold a model.
std::vector<std::string> FindModels(const std::vector<std::string>& paths);

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_MEASURE_H_
