#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "bench/compare/peer.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tools/ingot/npy.h"

namespace ingot::compare {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Answer(absl::string_view line) {
  absl::PrintF("%s\n", absl::StrReplaceAll(line, {{"\n", " | "}}));
  std::fflush(stdout);
}

absl::StatusOr<std::string> RunFor(double seconds, Peer* peer) {
  constexpr int kWarmUps = 3, kFewest = 5;
  // The first runs bind shapes, fault pages in and fill caches.
  for (int i = 0; i < kWarmUps; ++i) INGOT_RETURN_IF_ERROR(peer->Run());
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < kFewest || SecondsSince(begin) < seconds) {
    const Clock::time_point start = Clock::now();
    INGOT_RETURN_IF_ERROR(peer->Run());
    times.push_back(SecondsSince(start));
  }
  const auto median = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), median, times.end());
  return absl::StrFormat("ran %.4f %d", *median * 1e6, times.size());
}

absl::StatusOr<std::string> Save(const std::string& folder, Peer* peer) {
  INGOT_RETURN_IF_ERROR(peer->Run());
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, peer->Outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(outputs[i]));
    const std::string path = absl::StrCat(folder, "/", i, ".npy");
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    if (!file.flush()) return absl::UnavailableError("cannot write " + path);
  }
  return absl::StrCat("saved ", outputs.size());
}

absl::StatusOr<std::string> PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, "VmHWM:")) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() > 1) return absl::StrCat("memory ", words[1]);
  }
  return absl::UnavailableError("/proc/self/status has no VmHWM");
}

absl::StatusOr<std::string> Obey(const std::string& line, Peer* peer) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  double seconds = 0;
  if (words[0] == "run" && words.size() == 2 &&
      absl::SimpleAtod(words[1], &seconds)) {
    return RunFor(seconds, peer);
  }
  if (words[0] == "save" && words.size() == 2) return Save(words[1], peer);
  if (line == "memory") return PeakMemory();
  if (line == "work") return absl::StrCat("work ", peer->Operations());
  return absl::InvalidArgumentError("unknown command: " + line);
}

absl::Status Serve(int argc, char** argv, Peer* peer) {
  int threads = 0;
  if (argc < 3 || !absl::SimpleAtoi(argv[2], &threads)) {
    return absl::InvalidArgumentError("usage: MODEL THREADS [INPUT.pb ...]");
  }
  const Clock::time_point start = Clock::now();
  INGOT_RETURN_IF_ERROR(peer->Load(argv[1], threads));
  const double load_ms = SecondsSince(start) * 1e3;
  std::vector<Tensor> inputs;
  for (int i = 3; i < argc; ++i) {
    INGOT_ASSIGN_OR_RETURN(Tensor input, ReadOnnxTensorFile(argv[i]));
    inputs.push_back(std::move(input));
  }
  INGOT_RETURN_IF_ERROR(peer->SetInputs(std::move(inputs)));
  Answer(absl::StrFormat("loaded %.4f", load_ms));
  for (std::string line; std::getline(std::cin, line);) {
    INGOT_ASSIGN_OR_RETURN(const std::string answer, Obey(line, peer));
    Answer(answer);
  }
  return absl::OkStatus();
}

}  // namespace

int ServePeer(int argc, char** argv, Peer* peer) {
  const absl::Status status = Serve(argc, argv, peer);
  if (status.ok()) return 0;
  Answer(absl::StrCat("error ", status.message()));
  return 1;
}

}  // namespace ingot::compare
