// Runtimes beside Ingot and ONNX Runtime that a machine may have.
#ifndef INGOT_BENCH_COMPARE_OTHER_PEERS_H_
#define INGOT_BENCH_COMPARE_OTHER_PEERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ingot::compare {

struct OtherPeer {
  std::string name;  // for people
  // The program, and what its command line has before the model.
  std::vector<std::string> command;
  // The target that Ingot compiles for, where the peer is Ingot. Else empty.
  std::string target;
  // The model's file in its folder, unless a target makes another of it.
  std::string model = "model.onnx";
  // Whether it takes inputs as NAME:FILE.npy and outputs' names as =NAME,
  // instead of inputs as test data has them.
  bool takes_npy = false;
};

// The programs that peers are started by.
struct PeerPrograms {
  std::string dnnl_peer;    // runs sets of the target dnnl
  std::string python_peer;  // python_peer.py
};

// Those of `names` that are installed:
//
//   dnnl     oneDNN, by Ingot's target for it
//   opencv   OpenCV's DNN module (Debian's python3-opencv)
//   torch    PyTorch (python3-torch), for folders that have a model.pt
//
// A line on stderr tells which are not. InvalidArgument for other names.
absl::StatusOr<std::vector<OtherPeer>> FindOtherPeers(
    absl::Span<const std::string> names, const PeerPrograms& programs);

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_OTHER_PEERS_H_
