// Runs a linked set as a user's program does (examples/embed_runtime).
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "bench/compare/peer.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace ingot::compare {
namespace {

class IngotPeer : public Peer {
 public:
  absl::Status Load(const std::string& path, int threads) override {
    LoaderRegistry loaders;
    INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
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

 private:
  std::optional<LoadedModel> model_;  // outlives the executor
  std::unique_ptr<GraphExecutor> executor_;
};

}  // namespace
}  // namespace ingot::compare

int main(int argc, char** argv) {
  ingot::compare::IngotPeer peer;
  return ingot::compare::ServePeer(argc, argv, &peer);
}
