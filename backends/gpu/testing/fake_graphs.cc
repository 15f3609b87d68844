// Work that a stream records and that is queued as a whole.
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backends/gpu/testing/fake_state.h"

using namespace fake_driver;  // NOLINT: the functions are no one else's

EXPORT int NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void* stream,
                                                                int mode) {
  BEGIN(cuStreamBeginCapture_v2, hipStreamBeginCapture, true);
  FakeStream* const records = StreamOf(stream);
  if (records == nullptr || records->recording != nullptr || mode != 1) {
    return kInvalidValue;
  }
  records->recording = std::make_unique<FakeGraph>();
  return kOk;
}

EXPORT int NAME(cuStreamEndCapture, hipStreamEndCapture)(void* stream,
                                                         void** graph) {
  BEGIN(cuStreamEndCapture, hipStreamEndCapture, true);
  FakeStream* const records = StreamOf(stream);
  if (records == nullptr || records->recording == nullptr) {
    return kInvalidValue;
  }
  std::unique_ptr<FakeGraph> made = std::move(records->recording);
  *graph = nullptr;
  if (made->is_broken) return kCannotBeRecorded;
  *graph = made.get();
  S().graphs[*graph] = std::move(made);
  return kOk;
}

EXPORT int NAME(cuGraphInstantiateWithFlags,
                hipGraphInstantiateWithFlags)(void** run, void* graph,
                                              unsigned long long flags) {
  BEGIN(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags, true);
  const auto found = S().graphs.find(graph);
  if (found == S().graphs.end() || flags != 0) return kInvalidValue;
  auto made = std::make_unique<FakeGraph>(*found->second);
  *run = made.get();
  S().graph_runs[*run] = std::move(made);
  return kOk;
}

EXPORT int NAME(cuGraphLaunch, hipGraphLaunch)(void* run, void* stream) {
  BEGIN(cuGraphLaunch, hipGraphLaunch, true);
  const auto found = S().graph_runs.find(run);
  FakeStream* const queue = StreamOf(stream);
  if (found == S().graph_runs.end() || queue == nullptr) return kInvalidValue;
  queue->Add([count = found->second->work.size()] {
    S().log += "graph of " + std::to_string(count) + "\n";
    return int{kOk};
  });
  for (const auto& work : found->second->work) queue->Add(work);
  return kOk;
}

EXPORT int NAME(cuGraphDestroy, hipGraphDestroy)(void* graph) {
  BEGIN(cuGraphDestroy, hipGraphDestroy, true);
  return S().graphs.erase(graph) == 1 ? kOk : kInvalidValue;
}

EXPORT int NAME(cuGraphExecDestroy, hipGraphExecDestroy)(void* run) {
  BEGIN(cuGraphExecDestroy, hipGraphExecDestroy, true);
  return S().graph_runs.erase(run) == 1 ? kOk : kInvalidValue;
}
