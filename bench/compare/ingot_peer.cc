#include "bench/compare/ingot_peer.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace ingot::compare {
namespace {

class IngotPeer : public Peer {
 public:
  explicit IngotPeer(RegisterFn add_loaders) : add_loaders_(add_loaders) {}

  absl::Status Load(const std::string& path, int threads) override {
    LoaderRegistry loaders;
    INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
    if (add_loaders_ != nullptr) INGOT_RETURN_IF_ERROR(add_loaders_(&loaders));
    INGOT_ASSIGN_OR_RETURN(model_, LoadPath(path, loaders));
    ExecutorOptions options;
    options.threads = threads;
    INGOT_ASSIGN_OR_RETURN(executor_, CreateExecutor(*model_, options));
    return absl::OkStatus();
  }

  absl::Status SetInputs(std::vector<Tensor> inputs) override {
    if (inputs.size() != executor_->inputs().size()) {
      return absl::InvalidArgumentError("the number of inputs differs");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      INGOT_RETURN_IF_ERROR(executor_->SetInput(i, std::move(inputs[i])));
    }
    return absl::OkStatus();
  }

  absl::Status Run() override { return executor_->Run(); }

  absl::StatusOr<std::vector<Tensor>> Outputs() override {
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < executor_->outputs().size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(Tensor output, executor_->GetOutput(i));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  // Sizes, bodies and steps that a run decides are not counted.
  uint64_t Operations() const override {
    if (model_->plan->symbols_size() + model_->plan->bodies_size() > 0) {
      return 0;
    }
    uint64_t operations = 0;
    for (const PlanCall& call : model_->plan->calls()) {
      operations += call.operations();
    }
    return operations;
  }

 private:
  const RegisterFn add_loaders_;
  std::optional<LoadedModel> model_;  // outlives the executor
  std::unique_ptr<GraphExecutor> executor_;
};

}  // namespace

int ServeIngot(int argc, char** argv, RegisterFn add_loaders) {
  IngotPeer peer(add_loaders);
  return ServePeer(argc, argv, &peer);
}

}  // namespace ingot::compare
