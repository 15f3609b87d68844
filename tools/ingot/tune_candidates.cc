#include "tools/ingot/tune_candidates.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/profiler.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/node_times.h"
#include "tools/ingot/work_clock.h"

namespace ingot {
namespace {

constexpr char kCandidate[] = "candidate_";

// The text of main: a call of each candidate, whose results are all outputs.
std::string MainText(const relay::Function& kernel, size_t count) {
  std::vector<std::string> inputs, operands, types, outputs, calls;
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    operands.push_back(absl::StrCat("%operand", i));
    inputs.push_back(absl::StrCat(
        operands.back(), ": ", relay::ToString(kernel.inputs[i]->outputs[0])));
  }
  for (const relay::Value& output : kernel.outputs) {
    types.push_back(relay::ToString(output.type()));
  }
  const bool is_one = types.size() == 1;
  for (size_t c = 0; c < count; ++c) {
    for (size_t i = 0; i < types.size(); ++i) {
      outputs.push_back(absl::StrCat("%result", c, is_one ? "" : "#",
                                     is_one ? "" : absl::StrCat(i), ": \"", c,
                                     "_", i, "\""));
    }
    const std::string type = absl::StrJoin(types, ", ");
    calls.push_back(absl::StrCat(
        "    %result", c, " = @", kCandidate, c, "(",
        absl::StrJoin(operands, ", "),
        ") : ", is_one ? type : absl::StrCat("(", type, ")"), "\n"));
  }
  return absl::StrCat("  func @main(", absl::StrJoin(inputs, ", "), ") -> (",
                      absl::StrJoin(outputs, ", "), ") {\n",
                      absl::StrJoin(calls, ""), "  }\n");
}

// The kernel's text with another name.
std::string FunctionText(const relay::Function& kernel,
                         absl::string_view name) {
  relay::PrintOptions options;
  options.omit_sources = true;
  const std::string text = relay::Print(kernel, options);
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(text);
  absl::ConsumePrefix(&rest,
                      absl::StrCat("func @", relay::QuoteName(kernel.name)));
  return absl::StrCat("  func @", name, rest);
}

// The picker of a candidate: for each operation its point.
te::ParameterPicker PickerOf(const TunableKernel& kernel, KernelPoint point) {
  return [&kernel, point = std::move(point), next = size_t{0}](
             const te::ScheduleTemplate& t, const te::ScheduleSite& site,
             const te::ScheduleChoice& cheapest) mutable {
    // A choice decides what is open to later operations.
    const std::vector<te::ScheduleChoice> points = te::AllPoints(t, site);
    if (points.size() < 2) return cheapest;
    const size_t i = next++;
    const bool fits =
        i < point.size() && kernel.operations[i].schedule_template == t.name &&
        std::find(points.begin(), points.end(), point[i]) != points.end();
    return fits ? point[i] : cheapest;
  };
}

// Reads memory, so that caches hold it and not what they held before.
class CacheSweep {
 public:
  explicit CacheSweep(uint64_t bytes)
      : memory_(std::min<uint64_t>(bytes, kMost) / sizeof(uint64_t), 1) {}

  void Run(absl::Span<const Tensor> then) {
    uint64_t sum = Sum(memory_.data(), memory_.size());
    for (const Tensor& tensor : then) {
      sum += Sum(tensor.raw_data(), tensor.bytes() / sizeof(uint64_t));
    }
    sum_ = sum;
  }

 private:
  // More than most last-level caches give one core.
  static constexpr uint64_t kMost = 32 << 20;

  // One element of each line is enough.
  static uint64_t Sum(const void* from, size_t count) {
    uint64_t sum = 0, element = 0;
    for (size_t i = 0; i < count; i += 8) {
      std::memcpy(&element, static_cast<const char*>(from) + i * 8, 8);
      sum += element;
    }
    return sum;
  }

  std::vector<uint64_t> memory_;
  volatile uint64_t sum_ = 0;  // so that reading is not left out
};

// Adds how long each candidate took in a run, of kernels that a device runs.
void AddTimes(const std::vector<Profiler::Event>& events,
              std::vector<std::vector<double>>* seconds) {
  for (const Profiler::Event& event : events) {
    const size_t at = event.name.rfind(kCandidate);
    size_t c = 0;
    if (at == std::string::npos ||
        !absl::SimpleAtoi(event.name.substr(at + std::strlen(kCandidate)),
                          &c) ||
        c >= seconds->size()) {
      continue;  // a copy to or from the device
    }
    (*seconds)[c].push_back(static_cast<double>(event.duration_ns) * 1e-9);
  }
}

// Compares the results of all candidates with those of the first.
absl::Status CompareResults(const GraphExecutor& executor,
                            std::vector<CandidateTime>* times) {
  const size_t each = executor.outputs().size() / times->size();
  // Sums in another order differ by a little.
  Tolerance tolerance;
  tolerance.rtol_max = 1e-4;
  for (size_t c = 1; c < times->size(); ++c) {
    for (size_t i = 0; i < each; ++i) {
      INGOT_ASSIGN_OR_RETURN(const Tensor first, executor.GetOutput(i));
      INGOT_ASSIGN_OR_RETURN(const Tensor other,
                             executor.GetOutput(c * each + i));
      INGOT_ASSIGN_OR_RETURN(const Comparison comparison,
                             Compare(other, first, tolerance));
      CandidateTime& time = (*times)[c];
      if (time.wrong.empty()) time.wrong = comparison.problem;
    }
  }
  return absl::OkStatus();
}

// Whether one of the others may still turn out to be as fast as the first.
bool OneIsClose(const std::vector<std::vector<double>>& seconds) {
  constexpr double kClose = 1.1;
  const auto fastest = [](const std::vector<double>& of) {
    return *std::min_element(of.begin(), of.end());
  };
  for (size_t c = 1; c < seconds.size(); ++c) {
    if (fastest(seconds[c]) < kClose * fastest(seconds[0])) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<LoadedModel> CompileCandidates(
    const TunableKernel& kernel, absl::Span<const KernelPoint> points,
    TuneSubject* subject) {
  const relay::Function& function = subject->FunctionOf(kernel);
  std::string text =
      absl::StrCat("module {\n", MainText(function, points.size()));
  for (size_t c = 0; c < points.size(); ++c) {
    absl::StrAppend(&text, FunctionText(function, absl::StrCat(kCandidate, c)));
  }
  absl::StrAppend(&text, "}\n");
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<relay::Module> module,
                         relay::ReadModule(text));
  return subject->CompileKernels(
      module.get(), kernel.target,
      [&](const tuning::KernelToSchedule& compiled) {
        absl::string_view name = compiled.function;
        size_t c = 0;
        const bool is_candidate = absl::ConsumePrefix(&name, kCandidate) &&
                                  absl::SimpleAtoi(name, &c) &&
                                  c < points.size();
        return is_candidate ? PickerOf(kernel, points[c]) : nullptr;
      });
}

absl::StatusOr<std::vector<CandidateTime>> TimeCandidates(
    const LoadedModel& model, size_t count,
    absl::Span<const KernelOperand> operands, const CandidateRuns& runs,
    const TuneSubject& subject) {
  CacheSweep sweep(subject.constant_bytes());
  // Constants stay where the sweep leaves them.
  std::vector<Tensor> data;
  for (const KernelOperand& operand : operands) {
    if (!operand.is_constant) data.push_back(operand.tensor);
  }
  std::vector<std::vector<double>> seconds(count);
  size_t next = 0;
  const WorkClock clock(subject.threads());
  double start = 0;
  ExecutorOptions options;
  options.threads = subject.threads();
  // Observers of devices get copies of what is there, which takes time.
  Profiler profiler;
  const bool on_device = model.devices.size() > 1;
  if (on_device) {
    options.profiler = &profiler;
  } else {
    options.observer = [&](const PlanCall&, absl::Span<const DLTensor* const>) {
      const double end = clock.Now();
      if (next < count) seconds[next++].push_back(end - start);
      sweep.Run(data);
      start = clock.Now();
      return absl::OkStatus();
    };
  }
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, options));
  for (size_t i = 0; i < operands.size(); ++i) {
    INGOT_RETURN_IF_ERROR(executor->SetInput(i, operands[i].tensor));
  }
  const auto run = [&]() -> absl::Status {
    if (on_device) {
      profiler.Clear();
      INGOT_RETURN_IF_ERROR(executor->Run());
      AddTimes(profiler.Events(), &seconds);
      return absl::OkStatus();
    }
    next = 0;
    sweep.Run(data);
    start = clock.Now();
    return executor->Run();
  };
  std::vector<CandidateTime> times(count);
  INGOT_RETURN_IF_ERROR(run());
  INGOT_RETURN_IF_ERROR(CompareResults(*executor, &times));
  for (std::vector<double>& of : seconds) of.clear();
  const absl::Time begin = absl::Now();
  for (int done = 0; done < runs.most; ++done) {
    if (done >= runs.few &&
        (absl::ToDoubleSeconds(absl::Now() - begin) > runs.seconds ||
         !OneIsClose(seconds))) {
      break;
    }
    INGOT_RETURN_IF_ERROR(run());
  }
  for (size_t c = 0; c < count; ++c) {
    std::vector<double> relative;
    for (size_t r = 0; r < seconds[c].size(); ++r) {
      relative.push_back(seconds[c][r] / seconds[0][r]);
    }
    times[c].seconds = Median(seconds[c]);
    times[c].relative = times[c].wrong.empty()
                            ? Median(relative)
                            : std::numeric_limits<double>::infinity();
  }
  return times;
}

}  // namespace ingot
