#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "tools/ingot/bench_inputs.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/machine_limits.h"
#include "tools/ingot/node_times.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

struct BenchFlags {
  OpenFlags open;
  std::string test_data;
  int64_t runs = 0;  // chosen by time
  int64_t seed = 0;
  bool per_node = false;
  bool json = false;
  bool quiet = false;
};

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Without --runs, as many as fit this time, but enough for a percentile.
constexpr double kEnough = 2;  // seconds
constexpr int64_t kFewest = 10;
constexpr int64_t kMost = 10000;

// The most memory this process has had at once, in bytes; 0 where unknown.
double PeakMemory() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (!absl::StartsWith(line, "VmHWM:")) continue;
    absl::string_view number = absl::string_view(line).substr(6);
    number = absl::StripAsciiWhitespace(number);
    int64_t kib = 0;
    if (absl::SimpleAtoi(number.substr(0, number.find(' ')), &kib)) {
      return static_cast<double>(kib) * 1024;
    }
  }
  return 0;
}

// Seconds of each run, in increasing order. The first runs, which bind shapes,
// fault pages in and fill caches, are not counted.
absl::StatusOr<std::vector<double>> Measure(const BenchFlags& flags,
                                            GraphExecutor* executor,
                                            Progress* progress) {
  const auto run = [&]() -> absl::StatusOr<double> {
    const Clock::time_point start = Clock::now();
    INGOT_RETURN_IF_ERROR(executor->Run());
    return SecondsSince(start);
  };
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < 3; ++i) {
    progress->Update("warming up", 0);
    if (absl::StatusOr<double> s = run(); !s.ok()) return s.status();
    if (SecondsSince(begin) > kEnough) break;
  }
  std::vector<double> seconds;
  begin = Clock::now();
  while (true) {
    const int64_t done = static_cast<int64_t>(seconds.size());
    const double spent = SecondsSince(begin);
    if (flags.runs > 0
            ? done >= flags.runs
            : done >= kMost || (done >= kFewest && spent > kEnough)) {
      break;
    }
    const double fraction =
        flags.runs > 0
            ? static_cast<double>(done) / static_cast<double>(flags.runs)
            : std::min(spent / kEnough, static_cast<double>(done) / kFewest);
    progress->Update(absl::StrCat("run ", done + 1), fraction);
    INGOT_ASSIGN_OR_RETURN(double s, run());
    seconds.push_back(s);
  }
  progress->Clear();
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// The smallest value that `fraction` of all are not above.
double Percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = fraction * static_cast<double>(sorted.size());
  const size_t above = static_cast<size_t>(rank);
  const size_t index =
      static_cast<double>(above) == rank && above > 0 ? above - 1 : above;
  return sorted[std::min(index, sorted.size() - 1)];
}

std::string RateText(double amount, double seconds) {
  if (amount == 0 || seconds == 0) return "";
  return absl::StrFormat("%.1f", amount / seconds * 1e-9);
}

// Prints where the time went, and adds it to `json`.
absl::Status ShowNodes(const std::vector<NodeTime>& times,
                       const MachineLimits& limits,
                       nlohmann::ordered_json* json) {
  double all = 0;
  for (const NodeTime& time : times) all += time.seconds;
  Table table({">TIME", ">SHARE", ">CALLS", ">GB/S", ">GFLOP/S", ">OF LIMIT",
               "FUNCTION", "NODES"});
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodeTime& time : times) {
    const double bytes = static_cast<double>(time.bytes);
    const double operations = static_cast<double>(time.operations);
    // The limits are the CPU's.
    const bool has_share = time.on_cpu && time.bytes > 0 && time.seconds > 0;
    table.Add({HumanTime(time.seconds),
               absl::StrFormat("%.1f %%", time.seconds / all * 100),
               absl::StrCat(time.calls), RateText(bytes, time.seconds),
               RateText(operations, time.seconds),
               has_share
                   ? absl::StrFormat("%.0f %%",
                                     100 * ShareOfLimit(limits, operations,
                                                        bytes, time.seconds))
                   : "",
               OneLine(time.source.empty() && time.bytes == 0
                           ? absl::StrCat(time.function, " (the executor)")
                           : time.function),
               OneLine(time.source)});
    nodes.push_back({{"nodes", time.source},
                     {"function", time.function},
                     {"calls", time.calls},
                     {"ms", time.seconds * 1e3},
                     {"bytes", time.bytes},
                     {"operations", time.operations}});
  }
  Print(absl::StrCat(
      "\n", table.ToString(),
      absl::StrFormat("\nOF LIMIT: of %.0f GFLOP/s of f32 and %.1f GB/s from "
                      "memory, whichever binds, as measured now.\n",
                      limits.operations * 1e-9, limits.bytes * 1e-9)));
  (*json)["limits"] = {{"gflop_per_s", limits.operations * 1e-9},
                       {"gb_per_s", limits.bytes * 1e-9}};
  (*json)["nodes"] = std::move(nodes);
  return absl::OkStatus();
}

absl::Status Bench(const std::string& path, const BenchFlags& flags,
                   const Backends& backends, Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  INGOT_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(path, flags.open, builtins, progress));
  ExecutorOptions options;
  options.threads = static_cast<int>(flags.open.threads);
  const Clock::time_point start = Clock::now();
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(opened.model, options);
  if (!executor.ok()) return Where(executor.status(), path);
  const double load_ms = (opened.load_seconds + SecondsSince(start)) * 1e3;

  std::string note;
  absl::StatusOr<std::vector<TensorOrSequence>> inputs = GetBenchInputs(
      {flags.test_data, flags.open.compile.input_shapes, flags.seed},
      (*executor)->inputs(), &note);
  if (!inputs.ok()) return Where(inputs.status(), path);
  if (!note.empty()) Print(absl::StrCat(OneLine(note), "\n"));
  if (absl::Status s = SetInputs(*inputs, executor->get()); !s.ok()) {
    return Where(s, path);
  }
  absl::StatusOr<std::vector<double>> seconds =
      Measure(flags, executor->get(), progress);
  if (!seconds.ok()) return Where(seconds.status(), path);

  const double min = seconds->front(), median = Median(*seconds);
  const double p90 = Percentile(*seconds, 0.9);
  const double peak_mb = PeakMemory() / (1 << 20);
  Table table(
      {"LOAD", ">MIN", ">MEDIAN", ">P90", ">RUNS", ">THREADS", ">PEAK MEMORY"});
  table.Add({HumanTime(load_ms / 1e3), HumanTime(min), HumanTime(median),
             HumanTime(p90), absl::StrCat(seconds->size()),
             absl::StrCat(flags.open.threads),
             absl::StrFormat("%.1f MiB", peak_mb)});
  Print(table.ToString());
  nlohmann::ordered_json json = {
      {"load_ms", load_ms},
      {"latency_ms",
       {{"min", min * 1e3}, {"median", median * 1e3}, {"p90", p90 * 1e3}}},
      {"peak_rss_mb", peak_mb},
      {"runs", seconds->size()},
      {"threads", flags.open.threads}};
  if (IsModel(path, builtins)) {
    json["compile_ms"] = opened.compile_seconds * 1e3;
  }
  if (flags.per_node) {
    const absl::StatusOr<std::vector<NodeTime>> times = MeasureNodes(
        opened.model, *inputs, static_cast<int>(flags.open.threads),
        static_cast<int64_t>(seconds->size()), progress);
    if (!times.ok()) return Where(times.status(), path);
    INGOT_RETURN_IF_ERROR(ShowNodes(
        *times, MeasureMachineLimits(static_cast<int>(flags.open.threads)),
        &json));
  }
  if (flags.json) PrintJson(json);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunBench(Args args, const Backends& backends) {
  FlagSet flags("bench", {"SET|SO|MODEL"},
                "Measures a model: how long it takes to load, without linking, "
                "and to run, after a warm-up. The peak\nof memory is this "
                "whole process's, and includes compiling when a MODEL is "
                "measured.");
  BenchFlags bench;
  flags.Int("threads", "N", "threads to use", 1, 1024, &bench.open.threads);
  flags.Int("runs", "N", "how often; 0: for about two seconds", 0,
            std::numeric_limits<int32_t>::max(), &bench.runs);
  flags.String("test-data", "DIR", "inputs from test data, otherwise random",
               &bench.test_data);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &bench.seed);
  flags.Bool("per-node",
             "then run as often again with a clock, and show the time of each "
             "of the model's nodes",
             &bench.per_node);
  bench.open.AddTo(&flags);
  flags.Bool("json", "end with one JSON object", &bench.json);
  flags.Bool("quiet", "show no progress", &bench.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  Progress::Options options;
  options.quiet = bench.quiet;
  Progress progress(options);
  return Bench(flags.word(0), bench, backends, &progress);
}

}  // namespace ingot
