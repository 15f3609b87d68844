// Compares random ONNX models with ONNX Runtime:
//
//   bazel run //tests/fuzz/onnx:onnx_fuzz -- --seed=1 --models=3000 --jobs=2
//
// Each failure is printed at once and saved, shrunk, as a test case of ONNX's
// layout below --failures.
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/fuzz/onnx/check_seed.h"
#include "tests/fuzz/onnx/reduce.h"
#include "tests/fuzz/onnx/save_case.h"

ABSL_FLAG(uint64_t, seed, 1, "the first one");
ABSL_FLAG(int, models, 3000, "how many");
ABSL_FLAG(int, jobs, 2, "models at a time");
ABSL_FLAG(int, limit, 120, "seconds that one model may take");
ABSL_FLAG(std::string, failures, "/tmp/ingot_onnx_fuzz",
          "where models that fail are saved");
ABSL_FLAG(bool, reduce, true, "shrink models that fail");
ABSL_FLAG(bool, refusals, false, "print what is not supported");
ABSL_FLAG(std::vector<std::string>, only, {},
          "operators that models are made of; empty: all");
ABSL_FLAG(int, large, ingot::fuzz::OnnxModelKinds().large,
          "of 100 models, how many have large operands");
ABSL_FLAG(bool, describe, false, "print the models and check nothing");

namespace ingot::fuzz {
namespace {

OnnxModelKinds Kinds() {
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  return {{only.begin(), only.end()}, absl::GetFlag(FLAGS_large)};
}

OnnxModel ModelOf(uint64_t seed) { return MakeOnnxModel(seed, Kinds()); }

struct Tally {
  int models = 0, failed = 0, ways = 0, refused = 0, without_reference = 0;
};

void ReduceAndSave(uint64_t seed, const WayResult& result,
                   const std::string& folder) {
  OnnxModel model = ModelOf(seed);
  if (absl::GetFlag(FLAGS_reduce)) model = Reduce(model, result.way, folder);
  const std::string dir = absl::StrCat(folder, "/seed_", seed);
  const absl::Status saved =
      SaveCase(model, result.way,
               absl::StrCat("seed ", seed, ", ", result.way.ToString(), "\n",
                            result.message),
               dir);
  std::printf("%s  %s\n", Describe(model).c_str(),
              saved.ok() ? dir.c_str() : saved.ToString().c_str());
  std::fflush(stdout);
}

void Report(uint64_t seed, const WayResult& result, const std::string& folder) {
  std::printf("FAILED seed %llu, %s: %s\n",
              static_cast<unsigned long long>(seed),
              result.way.ToString().c_str(), result.message.c_str());
  // Making a model starts ONNX Runtime's threads, and a process that forks
  // should have none: a child may inherit a lock that one of them held.
  ChildPool pool(absl::InfiniteDuration());
  pool.Start(
      0, [&](const ChildPool::Write&) { ReduceAndSave(seed, result, folder); });
  const Ended ended = pool.Next();
  if (!ended.trouble.empty()) {
    std::printf("  reducing it %s\n", ended.trouble.c_str());
  }
}

void Count(const Ended& ended, const std::string& folder, Tally* tally) {
  const uint64_t seed = static_cast<uint64_t>(ended.id);
  bool failed = false;
  for (const WayResult& result : ResultsOf(ended, WaysOf(seed))) {
    if (result.without_reference) {
      ++tally->without_reference;
      std::printf("no reference for seed %llu: ONNX Runtime %s\n",
                  static_cast<unsigned long long>(seed),
                  result.message.c_str());
      continue;
    }
    ++tally->ways;
    if (result.refused) {
      ++tally->refused;
      if (absl::GetFlag(FLAGS_refusals)) {
        std::printf("refused seed %llu, %s: %s\n",
                    static_cast<unsigned long long>(seed),
                    result.way.ToString().c_str(), result.message.c_str());
      }
    } else if (result.failed() && !failed) {
      failed = true;
      Report(seed, result, folder);
    }
  }
  ++tally->models;
  tally->failed += failed;
}

int Main() {
  const std::string folder = absl::GetFlag(FLAGS_failures);
  const uint64_t first = absl::GetFlag(FLAGS_seed);
  const uint64_t end =
      first + static_cast<uint64_t>(absl::GetFlag(FLAGS_models));
  if (absl::GetFlag(FLAGS_describe)) {
    for (uint64_t seed = first; seed < end; ++seed) {
      std::printf("seed %llu, %s\n", static_cast<unsigned long long>(seed),
                  Describe(ModelOf(seed)).c_str());
    }
    return 0;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    std::fprintf(stderr, "cannot make %s: %s\n", folder.c_str(),
                 error.message().c_str());
    return 2;
  }
  ChildPool pool(absl::Seconds(absl::GetFlag(FLAGS_limit)));
  Tally tally;
  const absl::Time start = absl::Now();
  for (uint64_t seed = first; seed < end || pool.running() > 0;) {
    while (seed < end &&
           static_cast<int>(pool.running()) < absl::GetFlag(FLAGS_jobs)) {
      StartSeed(seed++, Kinds(), folder, &pool);
    }
    Count(pool.Next(), folder, &tally);
    if (tally.models % 50 == 0) {
      std::fprintf(stderr, "%d models in %.0f s, %d failed\n", tally.models,
                   absl::ToDoubleSeconds(absl::Now() - start), tally.failed);
    }
  }
  std::printf(
      "%d models in %d ways, %d ways not supported, %d models without a "
      "reference, %d models failed, %.0f s\n",
      tally.models, tally.ways, tally.refused, tally.without_reference,
      tally.failed, absl::ToDoubleSeconds(absl::Now() - start));
  // More of them than this, and the generator makes what cannot be checked.
  const bool checked = tally.without_reference <= 1 + tally.models / 100;
  return tally.failed == 0 && checked ? 0 : 1;
}

}  // namespace
}  // namespace ingot::fuzz

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return ingot::fuzz::Main();
}
