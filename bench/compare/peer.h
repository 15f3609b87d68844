// A runtime that takes part in a comparison. It runs in a process of its own,
// so that memory is counted apart and no thread pool meets another.
#ifndef INGOT_BENCH_COMPARE_PEER_H_
#define INGOT_BENCH_COMPARE_PEER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/tensor.h"

namespace ingot::compare {

class Peer {
 public:
  virtual ~Peer() = default;

  // Reads the model at `path` and prepares it for `threads` threads.
  virtual absl::Status Load(const std::string& path, int threads) = 0;
  // In the model's order. Later runs read these.
  virtual absl::Status SetInputs(std::vector<Tensor> inputs) = 0;
  virtual absl::Status Run() = 0;
  // The outputs of the last run, in the model's order.
  virtual absl::StatusOr<std::vector<Tensor>> Outputs() = 0;
  // The arithmetic operations of a run; 0 where they are not known.
  virtual uint64_t Operations() const { return 0; }
};

// The main function of a peer's program, which is started as
//
//   PROGRAM MODEL THREADS [INPUT.pb ...]
//
// and answers each line of its input with one line:
//
//   (start)       loaded MS
//   run SECONDS   ran MEDIAN_US RUNS
//   save FOLDER   saved COUNT         outputs as 0.npy, 1.npy, ...
//   memory        memory KIB          the most that the process has had
//   work          work OPERATIONS     of a run; 0: not known
//
// An answer "error MESSAGE" is its last. The end of its input ends it.
int ServePeer(int argc, char** argv, Peer* peer);

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_PEER_H_
