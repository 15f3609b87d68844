#include "backends/dnnl/loader.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/dnnl/graph.h"
#include "backends/dnnl/program.h"
#include "backends/dnnl/program_builder.h"
#include "backends/dnnl/threads.h"
#include "backends/dnnl/weights.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"
#include "runtime/plan/call_spec.h"

namespace ingot {
namespace dnnl_backend {
namespace {

// State that all graphs of one set share.
struct Shared {
  Shared(const dnnl::engine& e, std::map<std::string, Tensor> constants)
      : engine(e), weights(e, std::move(constants)) {}

  const dnnl::engine engine;
  absl::Mutex mutex;  // of weights
  Weights weights;
};

// One graph, with a program for each number of threads that was asked for.
class PreparedGraph {
 public:
  PreparedGraph(Graph graph, std::shared_ptr<Shared> shared)
      : graph_(std::move(graph)), shared_(std::move(shared)) {}

  absl::Status Prepare(int threads) { return Find(threads).status(); }

  absl::Status Call(absl::Span<void* const> tensors) {
    absl::StatusOr<Program*> program = Find(AllowedThreads());
    return program.ok() ? (*program)->Run(tensors) : program.status();
  }

 private:
  absl::StatusOr<Program*> Find(int threads) {
    absl::MutexLock lock(&mutex_);
    for (const auto& program : programs_) {
      if (program->threads() == threads) return program.get();
    }
    absl::MutexLock weights_lock(&shared_->mutex);
    INGOT_ASSIGN_OR_RETURN(
        std::unique_ptr<Program> program,
        BuildProgram(graph_, shared_->engine, threads, &shared_->weights));
    INGOT_RETURN_IF_ERROR(program->Warm());
    programs_.push_back(std::move(program));
    return programs_.back().get();
  }

  const Graph graph_;
  const std::shared_ptr<Shared> shared_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
};

absl::StatusOr<LoadedFunction> LoadRegion(
    const Artifact& artifact, int threads,
    const std::shared_ptr<Shared>& shared) {
  INGOT_ASSIGN_OR_RETURN(Graph graph, ReadGraph(artifact.content.view()));
  INGOT_RETURN_IF_ERROR(CheckConstants(graph, shared->weights));
  const std::string symbol = graph.symbol;
  CallSpec spec;
  for (const std::string& name : graph.inputs) {
    spec.inputs.push_back({DataType::Float(32), graph.shape(name)});
  }
  for (const std::string& name : graph.outputs) {
    spec.outputs.push_back({DataType::Float(32), graph.shape(name)});
  }
  auto prepared = std::make_shared<PreparedGraph>(std::move(graph), shared);
  INGOT_RETURN_IF_ERROR(prepared->Prepare(threads));
  return CheckedFunction(symbol, std::move(spec),
                         [prepared](absl::Span<void* const> tensors) {
                           return prepared->Call(tensors);
                         });
}

}  // namespace
}  // namespace dnnl_backend

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryDnnl(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.empty()) return std::shared_ptr<Module>();
  // A run without a pool is a run of one thread.
  const int threads = std::max(1, context.threads);
  std::shared_ptr<dnnl_backend::Shared> shared;
  try {
    shared = std::make_shared<dnnl_backend::Shared>(
        dnnl::engine(dnnl::engine::kind::cpu, 0), context.constants);
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN does not start: ", error.what()));
  }
  const absl::Time start = absl::Now();
  absl::StatusOr<std::shared_ptr<Module>> module = LoadFunctions(
      dnnl_backend::kName, group, context,
      [&](const Artifact& artifact, LoadContext&) {
        return dnnl_backend::LoadRegion(artifact, threads, shared);
      });
  if (module.ok() && context.on_work != nullptr) {
    context.on_work(absl::StrCat(
        "dnnl: made the primitives of ", group.size(),
        group.size() == 1 ? " region" : " regions", " for this machine and ",
        threads, threads == 1 ? " thread" : " threads", " in ",
        absl::FormatDuration(
            absl::Trunc(absl::Now() - start, absl::Milliseconds(1)))));
  }
  return module;
}

absl::Status RegisterDnnlLoader(LoaderRegistry* registry) {
  return registry->Register(dnnl_backend::kName, LoadBinaryDnnl);
}

}  // namespace ingot
