#include "tools/ingot/node_times.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/inputs.h"

namespace ingot {
namespace {

using Key = std::pair<std::string, std::string>;  // nodes and function

Key KeyOf(const NodeTime& time) { return {time.source, time.function}; }

uint64_t BytesOf(const DLTensor& tensor) {
  uint64_t bits = tensor.dtype.bits;
  for (int d = 0; d < tensor.ndim; ++d) {
    bits *= static_cast<uint64_t>(tensor.shape[d]);
  }
  return (bits + 7) / 8;
}

// What the calls of one run do.
struct Work {
  uint64_t bytes = 0;  // read and written
  uint64_t operations = 0;
  bool on_cpu = true;
};

absl::StatusOr<std::map<Key, Work>> CountWork(
    const LoadedModel& model, absl::Span<const TensorOrSequence> inputs) {
  std::map<Key, Work> work;
  ExecutorOptions options;
  options.observer = [&work](const PlanCall& call,
                             absl::Span<const DLTensor* const> args) {
    Work& of_call = work[{call.source(), call.function()}];
    for (const DLTensor* arg : args) of_call.bytes += BytesOf(*arg);
    of_call.operations += call.operations();
    of_call.on_cpu = call.device() == 0;
    return absl::OkStatus();
  };
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, options));
  INGOT_RETURN_IF_ERROR(SetInputs(inputs, executor.get()));
  INGOT_RETURN_IF_ERROR(executor->Run());
  return work;
}

}  // namespace

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

std::vector<NodeTime> TimesOfRun(absl::Span<const Profiler::Event> events) {
  // Those that lie inside of another one come after it.
  std::vector<const Profiler::Event*> order;
  for (const Profiler::Event& event : events) order.push_back(&event);
  std::sort(order.begin(), order.end(),
            [](const Profiler::Event* a, const Profiler::Event* b) {
              if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns;
              if (a->duration_ns != b->duration_ns) {
                return a->duration_ns > b->duration_ns;
              }
              return a > b;  // what was recorded later is around the other
            });
  std::vector<NodeTime> times;
  std::map<Key, size_t> known;
  struct Open {
    int64_t end_ns;
    size_t index;  // in times
  };
  std::vector<Open> open;
  for (const Profiler::Event* event : order) {
    while (!open.empty() && open.back().end_ns <= event->start_ns) {
      open.pop_back();
    }
    const double seconds = static_cast<double>(event->duration_ns) * 1e-9;
    if (!open.empty()) times[open.back().index].seconds -= seconds;
    const auto [it, is_new] =
        known.emplace(Key(event->source, event->name), times.size());
    if (is_new) times.push_back({event->source, event->name});
    NodeTime& time = times[it->second];
    ++time.calls;
    time.seconds += seconds;
    open.push_back({event->start_ns + event->duration_ns, it->second});
  }
  return times;
}

absl::StatusOr<std::vector<NodeTime>> MeasureNodes(
    const LoadedModel& model, absl::Span<const TensorOrSequence> inputs,
    int threads, int64_t runs, Progress* progress) {
  Profiler profiler;
  ExecutorOptions options;
  options.threads = threads;
  options.profiler = &profiler;
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, options));
  INGOT_RETURN_IF_ERROR(SetInputs(inputs, executor.get()));
  for (int i = 0; i < 3; ++i) INGOT_RETURN_IF_ERROR(executor->Run());
  std::map<Key, std::vector<double>> seconds;
  std::vector<NodeTime> times;
  for (int64_t run = 0; run < runs; ++run) {
    progress->Update(absl::StrCat("run ", run + 1, " with a clock"),
                     static_cast<double>(run) / static_cast<double>(runs));
    profiler.Clear();
    INGOT_RETURN_IF_ERROR(executor->Run());
    const std::vector<Profiler::Event> events = profiler.Events();
    times = TimesOfRun(events);
    for (const NodeTime& time : times) {
      seconds[KeyOf(time)].push_back(time.seconds);
    }
  }
  progress->Clear();
  INGOT_ASSIGN_OR_RETURN(const auto work, CountWork(model, inputs));
  for (NodeTime& time : times) {
    time.seconds = Median(seconds[KeyOf(time)]);
    const auto known = work.find(KeyOf(time));
    if (known == work.end()) continue;
    time.bytes = known->second.bytes;
    time.operations = known->second.operations;
    time.on_cpu = known->second.on_cpu;
  }
  std::sort(times.begin(), times.end(),
            [](const NodeTime& a, const NodeTime& b) {
              return a.seconds != b.seconds ? a.seconds > b.seconds
                                            : KeyOf(a) < KeyOf(b);
            });
  return times;
}

}  // namespace ingot
