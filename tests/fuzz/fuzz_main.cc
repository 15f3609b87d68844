// Compares random models on targets with the interpreter, for a while:
//
//   bazel run //tests/fuzz -- --seconds=3600 --seed=1
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/fuzz/compare_targets.h"

ABSL_FLAG(uint64_t, seed, 1, "the first one");
ABSL_FLAG(int, seconds, 60, "how long");
ABSL_FLAG(int, operators, 8, "in a model, about");
ABSL_FLAG(std::vector<std::string>, targets,
          std::vector<std::string>({"llvm", "llvmjit", "c"}), "in turn");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const std::vector<std::string> targets = absl::GetFlag(FLAGS_targets);
  const absl::Time end =
      absl::Now() + absl::Seconds(absl::GetFlag(FLAGS_seconds));
  int models = 0, failed = 0;
  std::map<std::string, int> of_target;
  for (uint64_t seed = absl::GetFlag(FLAGS_seed); absl::Now() < end; ++seed) {
    ingot::fuzz::RandomModelOptions options;
    options.operators = absl::GetFlag(FLAGS_operators);
    options.symbolic = seed % 3 == 0;
    const int level = seed % 4 == 0 ? 0 : seed % 4 == 1 ? 1 : 2;
    // All targets get models of both kinds.
    const std::string& target = targets[seed / 3 % targets.size()];
    const absl::Status status =
        ingot::fuzz::CompareWithInterpreter(seed, options, target, level);
    ++models;
    ++of_target[target];
    if (!status.ok()) {
      ++failed;
      std::printf("FAILED %s\n", std::string(status.message()).c_str());
      std::fflush(stdout);
    }
    if (models % 100 == 0) {
      std::fprintf(stderr, "%d models, %d failed\n", models, failed);
    }
  }
  for (const auto& [target, count] : of_target) {
    std::printf("%s: %d models\n", target.c_str(), count);
  }
  std::printf("%d models, %d failed\n", models, failed);
  return failed == 0 ? 0 : 1;
}
