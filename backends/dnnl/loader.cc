#include "backends/dnnl/loader.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/dnnl/graph.h"
#include "backends/dnnl/program.h"
#include "backends/dnnl/program_builder.h"
#include "backends/dnnl/threads.h"
#include "backends/dnnl/weights.h"
#include "runtime/any.h"
#include "runtime/function.h"

namespace ingot {
namespace onednn {
namespace {

constexpr char kName[] = "dnnl";

// Of all graphs of one set.
struct Shared {
  Shared(const dnnl::engine& e, std::map<std::string, Tensor> constants)
      : engine(e), weights(e, std::move(constants)) {}

  const dnnl::engine engine;
  absl::Mutex mutex;  // of weights
  Weights weights;
};

bool IsDense(const DLTensor& tensor, const Dims& shape) {
  if (tensor.strides == nullptr) return true;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && tensor.strides[d] != stride) return false;
    stride *= shape[d];
  }
  return true;
}

// One graph, with a program for each number of threads that was asked for.
class Region {
 public:
  Region(Graph graph, std::shared_ptr<Shared> shared)
      : graph_(std::move(graph)), shared_(std::move(shared)) {
    for (const auto* names : {&graph_.inputs, &graph_.outputs}) {
      for (const std::string& name : *names) {
        arguments_.push_back({name, graph_.shape(name)});
      }
    }
  }

  absl::Status Prepare(int threads) { return Find(threads).status(); }

  absl::Status Call(absl::Span<const TVMFFIAny> args) {
    if (args.size() != arguments_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(graph_.symbol, ": expected ", arguments_.size(),
                       " arguments, got ", args.size()));
    }
    absl::InlinedVector<void*, 8> data;
    for (size_t i = 0; i < args.size(); ++i) {
      absl::StatusOr<void*> elements = Elements(i, args[i]);
      if (!elements.ok()) return elements.status();
      data.push_back(*elements);
    }
    absl::StatusOr<Program*> program = Find(AllowedThreads());
    if (!program.ok()) return program.status();
    return (*program)->Run(data);
  }

 private:
  struct Argument {
    std::string name;
    Dims shape;
  };

  absl::StatusOr<void*> Elements(size_t i, const TVMFFIAny& arg) const {
    absl::StatusOr<DLTensor*> tensor = AnyToTensor(arg);
    if (!tensor.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(graph_.symbol, ": argument ", i, " (",
                       arguments_[i].name, "): ", tensor.status().message()));
    }
    const DLTensor& t = **tensor;
    const Dims& shape = arguments_[i].shape;
    // A graph has no scalars: they are vectors of one element.
    const bool scalar = t.ndim == 0 && shape == Dims{1};
    if (t.device.device_type != kDLCPU || t.dtype.code != kDLFloat ||
        t.dtype.bits != 32 || t.dtype.lanes != 1 ||
        (!scalar &&
         absl::MakeConstSpan(t.shape, t.ndim) != absl::MakeConstSpan(shape)) ||
        (!scalar && !IsDense(t, shape))) {
      return absl::InvalidArgumentError(
          absl::StrCat(graph_.symbol, ": argument ", i, " (",
                       arguments_[i].name, ") must be a dense CPU tensor ",
                       TypeString(DataType::Float(32), shape)));
    }
    return static_cast<char*>(t.data) + t.byte_offset;
  }

  absl::StatusOr<Program*> Find(int threads) {
    absl::MutexLock lock(&mutex_);
    for (const auto& program : programs_) {
      if (program->threads() == threads) return program.get();
    }
    absl::MutexLock weights_lock(&shared_->mutex);
    absl::StatusOr<std::unique_ptr<Program>> program =
        BuildProgram(graph_, shared_->engine, threads, &shared_->weights);
    if (!program.ok()) return program.status();
    if (absl::Status s = (*program)->Warm(); !s.ok()) return s;
    programs_.push_back(*std::move(program));
    return programs_.back().get();
  }

  const Graph graph_;
  const std::shared_ptr<Shared> shared_;
  std::vector<Argument> arguments_;  // inputs, then outputs
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
};

absl::Status InArtifact(const Artifact& artifact, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(artifact.file_name, ": ", status.message()));
}

absl::StatusOr<std::shared_ptr<Region>> LoadRegion(
    const Artifact& artifact, const std::shared_ptr<Shared>& shared,
    std::string* symbol) {
  absl::StatusOr<Graph> graph = ReadGraph(artifact.content.view());
  if (!graph.ok()) return graph.status();
  absl::Status constants = CheckConstants(*graph, shared->weights);
  if (!constants.ok()) return constants;
  *symbol = graph->symbol;
  auto region = std::make_shared<Region>(*std::move(graph), shared);
  if (absl::Status s = region->Prepare(1); !s.ok()) return s;
  return region;
}

}  // namespace
}  // namespace onednn

absl::StatusOr<std::shared_ptr<Module>> loadbinary_dnnl(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.empty()) return std::shared_ptr<Module>();
  std::shared_ptr<onednn::Shared> shared;
  try {
    shared = std::make_shared<onednn::Shared>(
        dnnl::engine(dnnl::engine::kind::cpu, 0), context.constants);
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN does not start: ", error.what()));
  }
  auto module = std::make_shared<TableModule>(onednn::kName);
  for (const Artifact& artifact : group) {
    std::string symbol;
    absl::StatusOr<std::shared_ptr<onednn::Region>> region =
        onednn::LoadRegion(artifact, shared, &symbol);
    if (!region.ok()) return onednn::InArtifact(artifact, region.status());
    absl::Status added = module->Add(
        symbol,
        Function::FromLambda([region = *std::move(region)](
                                 absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
          return region->Call(args);
        }));
    if (!added.ok()) return onednn::InArtifact(artifact, added);
  }
  return std::shared_ptr<Module>(std::move(module));
}

absl::Status RegisterDnnlLoader(LoaderRegistry* registry) {
  return registry->Register(onednn::kName, loadbinary_dnnl);
}

}  // namespace ingot
