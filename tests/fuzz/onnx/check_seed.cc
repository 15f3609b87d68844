#include "tests/fuzz/onnx/check_seed.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/fuzz/onnx/refusals.h"

namespace ingot::fuzz {
namespace {

// Lines between child and parent: '>' begins a way, '-' says that it was
// refused, '!' that it failed.
std::string OneLine(char kind, absl::string_view message) {
  return absl::StrCat(absl::string_view(&kind, 1),
                      absl::StrReplaceAll(message, {{"\n", " | "}}), "\n");
}

void CheckWays(const OnnxModel& model, const std::vector<Way>& ways,
               const std::string& folder, const ChildPool::Write& write) {
  const std::string own = absl::StrCat(folder, "/work_", getpid());
  mkdir(own.c_str(), 0755);
  // Libraries are opened from here.
  setenv("TEST_TMPDIR", own.c_str(), 1);
  const absl::StatusOr<Scope> expected = ExpectedOf(model);
  for (const Way& way : ways) {
    write(">\n");
    const absl::Status status = expected.ok()
                                    ? CheckModel(model, *expected, way, own)
                                    : expected.status();
    if (status.ok()) continue;
    // Static models are only refused as not supported; a symbol can make a
    // model invalid that is not. A name with a question mark is one of them:
    // the dimension of a value whose shape the run computes.
    const bool symbolic = way.symbols != 0 || way.twice ||
                          absl::StrContains(status.message(), "\"?");
    const bool refused = (absl::IsUnimplemented(status) ||
                          (symbolic && absl::IsInvalidArgument(status))) &&
                         IsExplained(status.message());
    write(OneLine(refused ? '-' : '!', status.ToString()));
  }
  std::error_code ignored;
  std::filesystem::remove_all(own, ignored);
}

}  // namespace

void StartModel(int64_t id, const OnnxModel& model,
                const std::vector<Way>& ways, const std::string& folder,
                ChildPool* pool) {
  pool->Start(id, [&](const ChildPool::Write& write) {
    CheckWays(model, ways, folder, write);
  });
}

void StartSeed(uint64_t seed, const OnnxModelKinds& kinds,
               const std::string& folder, ChildPool* pool) {
  pool->Start(static_cast<int64_t>(seed), [&](const ChildPool::Write& write) {
    CheckWays(MakeOnnxModel(seed, kinds), WaysOf(seed), folder, write);
  });
}

std::vector<WayResult> ResultsOf(const Ended& ended,
                                 const std::vector<Way>& ways) {
  std::vector<WayResult> results;
  for (absl::string_view line : absl::StrSplit(ended.text, '\n')) {
    if (line == ">" && results.size() < ways.size()) {
      results.push_back({ways[results.size()]});
    } else if (!results.empty() && absl::ConsumePrefix(&line, "-")) {
      results.back().refused = true;
      results.back().message = std::string(line);
    } else if (!results.empty() && absl::ConsumePrefix(&line, "!")) {
      results.back().message = std::string(line);
    }
  }
  if (!ended.trouble.empty()) {
    if (results.empty()) {
      results.push_back({});
      results.back().without_reference = true;
    }
    results.back().refused = false;
    results.back().message = ended.trouble;
  }
  return results;
}

}  // namespace ingot::fuzz
