#include "bench/compare/other_peers.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/compare/process.h"
#include "tools/ingot/output.h"

namespace ingot::compare {
namespace {

// Debian's own, which has Debian's packages.
constexpr char kPython[] = "/usr/bin/python3";

bool HasModule(const std::string& module) {
  absl::StatusOr<std::unique_ptr<Process>> python =
      Process::Start({kPython, "-c",
                      absl::StrCat("import importlib.util, sys; "
                                   "sys.exit(importlib.util.find_spec('",
                                   module, "') is None)")});
  return python.ok() && (*python)->Finish().ok();
}

}  // namespace

absl::StatusOr<std::vector<OtherPeer>> FindOtherPeers(
    absl::Span<const std::string> names, const PeerPrograms& programs) {
  std::vector<OtherPeer> peers;
  for (const std::string& name : names) {
    OtherPeer peer;
    peer.name = name;
    if (name == "dnnl") {
      peer.command = {programs.dnnl_peer};
      peer.target = "dnnl,llvm";
      peers.push_back(std::move(peer));
      continue;
    }
    if (name != "opencv" && name != "torch") {
      return absl::InvalidArgumentError(absl::StrCat(
          "no peer is called '", name, "'; there are dnnl, opencv and torch"));
    }
    if (!HasModule(name == "opencv" ? "cv2" : name)) {
      Warn(absl::StrCat("compare: ", name, " is left out: python3-", name,
                        " is not installed"));
      continue;
    }
    peer.command = {kPython, programs.python_peer, name};
    peer.takes_npy = true;
    if (name == "torch") peer.model = "model.pt";
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace ingot::compare
