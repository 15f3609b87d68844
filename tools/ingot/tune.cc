#include <algorithm>
#include <atomic>
#include <csignal>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "tools/ingot/bench_inputs.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/node_times.h"
#include "tools/ingot/output.h"
#include "tools/ingot/tune_kernel.h"
#include "tools/ingot/tune_report.h"
#include "tools/ingot/tune_subject.h"
#include "tools/ingot/work_clock.h"

namespace ingot {
namespace {

struct TuneFlags {
  CompileFlags compile;
  std::string output;
  std::string test_data;
  int64_t seconds = 120;
  int64_t trials = 48;
  int64_t threads = 1;
  int64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

// From the first Ctrl-C on, and while it lives, says that the work should end;
// a second one ends the process.
class Interruption {
 public:
  Interruption() {
    asked_ = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { asked_ = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interruption() { sigaction(SIGINT, &before_, nullptr); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool IsAsked() { return asked_; }

 private:
  static inline std::atomic<bool> asked_ = false;
  struct sigaction before_ = {};
};

// A kernel that takes less of a run is not worth its measurements.
constexpr double kLeastShare = 0.002;

// The tuning of one model.
class Tuning {
 public:
  Tuning(const TuneFlags& flags, TuneSubject* subject,
         std::vector<TensorOrSequence> inputs, Progress* progress)
      : flags_(flags),
        subject_(*subject),
        inputs_(std::move(inputs)),
        progress_(*progress) {}

  const TuneReport& report() const { return report_; }
  const tuning::TuningLog& log() const { return log_; }

  // Measures one kernel after the other, and writes the log after each.
  absl::Status Run() {
    INGOT_ASSIGN_OR_RETURN(
        std::vector<TunableKernel> kernels,
        subject_.MeasureKernels(inputs_, &report_.run_seconds));
    report_.kernels = kernels.size();
    while (!kernels.empty() &&
           kernels.back().seconds < kLeastShare * report_.run_seconds) {
      kernels.pop_back();
    }
    double left = 0;
    for (const TunableKernel& kernel : kernels) left += kernel.seconds;
    const absl::Time end = absl::Now() + absl::Seconds(flags_.seconds);
    for (size_t k = 0; k < kernels.size() && !Interruption::IsAsked(); ++k) {
      const absl::Duration time = end - absl::Now();
      if (time <= absl::ZeroDuration()) break;
      // Time by the time that each takes; what one leaves is for the others.
      TuneLimits limits;
      limits.trials = flags_.trials;
      limits.deadline = absl::Now() + time * (kernels[k].seconds / left);
      limits.should_stop = Interruption::IsAsked;
      left -= kernels[k].seconds;
      INGOT_RETURN_IF_ERROR(Tune(kernels[k], k, kernels.size(), limits, end));
    }
    progress_.Clear();
    const bool is_written = !report_.rows.empty();
    return is_written || Interruption::IsAsked() ? absl::OkStatus()
                                                 : WriteLog();
  }

 private:
  absl::Status WriteLog() const {
    return WriteFile(flags_.output, log_.ToString());
  }

  absl::Status Tune(const TunableKernel& kernel, size_t index, size_t count,
                    const TuneLimits& limits, absl::Time end) {
    const OnPoints on_points = [&](int64_t measured, double best) {
      const double left =
          std::max(0.0, absl::ToDoubleSeconds(end - absl::Now()));
      progress_.Update(
          absl::StrFormat("kernel %d of %d: %d points, best %.2f of the cost "
                          "model's time, at most %.0f s left",
                          index + 1, count, measured, best, left),
          1 - left / static_cast<double>(flags_.seconds));
    };
    on_points(0, 1);
    absl::StatusOr<TunedKernel> tuned =
        TuneKernel(kernel, inputs_, limits, &subject_, on_points);
    if (!tuned.ok()) {
      // A linker that the same Ctrl-C ended, perhaps.
      if (Interruption::IsAsked()) return absl::OkStatus();
      progress_.Clear();
      Warn(absl::StrCat("warning: ", OneLine(kernel.function),
                        " is not tuned: ", OneLine(tuned.status().message())));
      return absl::OkStatus();
    }
    for (const std::string& wrong : tuned->wrong) {
      progress_.Clear();
      Warn(absl::StrCat("warning: ", OneLine(kernel.function),
                        " computes something else at ", OneLine(wrong)));
    }
    AddToLog(kernel, *tuned, flags_.threads, &log_);
    report_.rows.push_back({kernel, *std::move(tuned)});
    return WriteLog();
  }

  const TuneFlags& flags_;
  TuneSubject& subject_;
  const std::vector<TensorOrSequence> inputs_;
  Progress& progress_;
  TuneReport report_;
  tuning::TuningLog log_;
};

// Runs the two by turns for some seconds; each is the first every other time.
absl::StatusOr<LatencyBeside> MeasureBeside(
    const LoadedModel& before, const LoadedModel& after,
    absl::Span<const TensorOrSequence> inputs, int threads, bool uses_devices,
    Progress* progress) {
  constexpr double kEnough = 5;  // seconds
  constexpr size_t kFewest = 10, kMost = 2000;
  const LoadedModel* const models[] = {&before, &after};
  std::unique_ptr<GraphExecutor> executors[2];
  std::vector<double> seconds[2];
  ExecutorOptions options;
  options.threads = threads;
  for (int m = 0; m < 2; ++m) {
    INGOT_ASSIGN_OR_RETURN(executors[m], CreateExecutor(*models[m], options));
    INGOT_RETURN_IF_ERROR(SetInputs(inputs, executors[m].get()));
    for (int i = 0; i < 3; ++i) INGOT_RETURN_IF_ERROR(executors[m]->Run());
  }
  const WorkClock clock(threads, uses_devices);
  const absl::Time begin = absl::Now();
  double spent = 0;
  std::vector<double> ratios;
  while (ratios.size() < kMost &&
         (ratios.size() < kFewest || spent < kEnough)) {
    for (size_t turn = 0; turn < 2; ++turn) {
      const size_t m = (turn + ratios.size()) % 2;
      const double start = clock.Now();
      INGOT_RETURN_IF_ERROR(executors[m]->Run());
      seconds[m].push_back(clock.Now() - start);
    }
    ratios.push_back(seconds[1].back() / seconds[0].back());
    spent = absl::ToDoubleSeconds(absl::Now() - begin);
    progress->Update("measuring the whole model",
                     std::min(1.0, spent / kEnough));
  }
  progress->Clear();
  return LatencyBeside{Median(seconds[0]), Median(seconds[1]), Median(ratios),
                       static_cast<int64_t>(ratios.size())};
}

absl::Status Tune(const std::string& path, const TuneFlags& flags,
                  const CompilerBackends& backends, Progress* progress) {
  INGOT_RETURN_IF_ERROR(CheckWritable(flags.output));
  INGOT_RETURN_IF_ERROR(CheckIsOther(flags.output, path));
  INGOT_ASSIGN_OR_RETURN(
      const CompilerBuiltins builtins,
      MakeCompilerBuiltins(backends, flags.compile.backends));
  const int threads = static_cast<int>(flags.threads);
  INGOT_ASSIGN_OR_RETURN(
      std::unique_ptr<TuneSubject> subject,
      TuneSubject::Compile(path, flags.compile, builtins, threads, progress));
  progress->Clear();
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(subject->model()));
  std::string note;
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<TensorOrSequence> inputs,
      GetBenchInputs({flags.test_data, flags.compile.input_shapes, flags.seed},
                     executor->inputs(), &note));
  executor = nullptr;
  if (!note.empty() && !flags.quiet) Print(absl::StrCat(OneLine(note), "\n"));

  const Interruption interruption;
  Tuning tuning(flags, subject.get(), inputs, progress);
  INGOT_RETURN_IF_ERROR(tuning.Run());
  if (!flags.quiet) Print(ReportText(tuning.report()));
  if (Interruption::IsAsked()) {
    return absl::CancelledError(
        absl::StrCat("interrupted: ", flags.output, " has the ",
                     tuning.report().rows.size(), " kernels tuned so far"));
  }
  progress->Update("compiling with the log", 0);
  INGOT_ASSIGN_OR_RETURN(const LoadedModel after,
                         subject->CompileWith(tuning.log()));
  INGOT_ASSIGN_OR_RETURN(const LatencyBeside latency,
                         MeasureBeside(subject->model(), after, inputs, threads,
                                       subject->UsesDevices(), progress));
  if (!flags.quiet) Print(LatencyText(latency));
  if (flags.json) {
    PrintJson({{"kernels", ReportJson(tuning.report())},
               {"before_ms", latency.before_seconds * 1e3},
               {"after_ms", latency.after_seconds * 1e3},
               {"ratio", latency.ratio},
               {"threads", flags.threads}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTune(Args args, const CompilerBackends& backends) {
  FlagSet flags(
      "tune", {"MODEL"},
      "Measures on this machine which parameters of their schedules run a "
      "model's kernels fastest, the slowest\nkernels first, and writes them as "
      "a log for --tuning-log of the commands that compile. Interrupted, it\n"
      "keeps what it found. Logs of several models or machines are merged by "
      "appending one to the other.");
  TuneFlags tune;
  flags.String("o", "LOG", "the file to write", &tune.output);
  flags.Required();
  flags.Int("seconds", "N", "the time for all kernels together", 1, 1000000,
            &tune.seconds);
  flags.Int("trials", "N", "the most points to measure of each operation", 1,
            1000000, &tune.trials);
  flags.Int("threads", "N", "threads to use", 1, 1024, &tune.threads);
  flags.String("test-data", "DIR", "inputs from test data, otherwise random",
               &tune.test_data);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &tune.seed);
  tune.compile.AddTo(&flags);
  flags.Bool("json", "end with one JSON object", &tune.json);
  flags.Bool("quiet", "show no progress and no table", &tune.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  Progress::Options options;
  options.quiet = tune.quiet;
  Progress progress(options);
  return Where(Tune(flags.word(0), tune, backends, &progress), flags.word(0));
}

}  // namespace ingot
