// Measures Ingot beside ONNX Runtime on models with test data:
//
//   bazel run //bench/compare -- [--threads=N] [--json=FILE] [--also=PEER,...]
//       FOLDER...
//
// A folder holds model.onnx and test_data_set_0, or folders that do. Models go
// the way that users' do: `ingot compile`, `ingot link`, and a program that
// loads and runs the library. Both peers run in processes of their own, by
// turns; a latency is the least median of all turns.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "bench/compare/measure.h"
#include "bench/compare/other_peers.h"
#include "bench/compare/summary.h"
#include "tools/ingot/machine_limits.h"
#include "tools/ingot/output.h"

ABSL_FLAG(std::string, ingot, "", "the command");
ABSL_FLAG(std::string, ingot_peer, "", "the program that runs its libraries");
ABSL_FLAG(std::string, onnxruntime_peer, "", "the program that runs models");
ABSL_FLAG(std::string, dnnl_peer, "",
          "the program that runs libraries of dnnl");
ABSL_FLAG(std::string, python_peer, "", "python_peer.py");
ABSL_FLAG(std::vector<std::string>, also, {},
          "other peers: dnnl, opencv, torch, where they are installed");
ABSL_FLAG(std::string, target, "", "what to compile for; empty: the default");
ABSL_FLAG(int, threads, 1, "of each peer");
ABSL_FLAG(int, rounds, 3, "turns that each peer has");
ABSL_FLAG(double, seconds, 0.3, "that a turn takes");
ABSL_FLAG(std::string, json, "", "a file for all figures");
ABSL_FLAG(std::string, chart, "", "a file for a picture (SVG)");

namespace ingot::compare {
namespace {

// Bazel starts programs elsewhere and says where the user is.
std::string UsersPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (path.empty() || folder == nullptr) return path;
  return (std::filesystem::path(folder) / path).string();
}

bool WriteFile(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream file(UsersPath(path));
  file << text;
  if (file.flush()) return true;
  Warn(absl::StrCat("compare: cannot write ", path));
  return false;
}

absl::StatusOr<std::vector<OtherPeer>> OthersOfFlags() {
  PeerPrograms programs;
  programs.dnnl_peer = absl::GetFlag(FLAGS_dnnl_peer);
  programs.python_peer = absl::GetFlag(FLAGS_python_peer);
  return FindOtherPeers(absl::GetFlag(FLAGS_also), programs);
}

int Main(std::vector<std::string> paths) {
  for (std::string& path : paths) path = UsersPath(path);
  const std::vector<std::string> folders = FindModels(paths);
  if (folders.empty()) {
    Warn("compare: name folders with model.onnx and test_data_set_0");
    return 2;
  }
  absl::StatusOr<std::vector<OtherPeer>> others = OthersOfFlags();
  if (!others.ok()) {
    Warn(absl::StrCat("compare: ", others.status().message()));
    return 2;
  }
  char folder[] = "/tmp/ingot_compare_XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    Warn("compare: cannot make a folder in /tmp");
    return 2;
  }
  Plan plan;
  plan.ingot = absl::GetFlag(FLAGS_ingot);
  plan.ingot_peer = absl::GetFlag(FLAGS_ingot_peer);
  plan.onnxruntime_peer = absl::GetFlag(FLAGS_onnxruntime_peer);
  plan.others = *std::move(others);
  plan.target = absl::GetFlag(FLAGS_target);
  plan.threads = absl::GetFlag(FLAGS_threads);
  plan.rounds = absl::GetFlag(FLAGS_rounds);
  plan.seconds = absl::GetFlag(FLAGS_seconds);
  plan.folder = folder;
  const double peak = MeasureMachineLimits(plan.threads).operations;
  std::vector<ModelResult> results;
  Progress progress;
  bool all_well = true;
  for (size_t i = 0; i < folders.size(); ++i) {
    progress.Update(std::filesystem::path(folders[i]).filename().string(),
                    static_cast<double>(i) / folders.size());
    results.push_back(MeasureModel(plan, folders[i]));
    all_well = all_well && results.back().problem.empty();
  }
  progress.Clear();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  Print(TableOf(results, peak));
  for (size_t i = 0; i < plan.others.size(); ++i) {
    Print(absl::StrCat("\n", TableOfOther(plan.others[i].name, results, i)));
  }
  all_well = WriteFile(absl::GetFlag(FLAGS_json),
                       JsonOf(plan, results).dump(2) + "\n") &&
             WriteFile(absl::GetFlag(FLAGS_chart), ChartOf(results)) &&
             all_well;
  return all_well ? 0 : 1;
}

}  // namespace
}  // namespace ingot::compare

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("compare [flags] FOLDER...");
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  return ingot::compare::Main({words.begin() + 1, words.end()});
}
