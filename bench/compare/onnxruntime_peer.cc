// ONNX Runtime through its C API, with all of its optimisations.
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "bench/compare/peer.h"
#include "tests/onnxruntime/session.h"

namespace ingot::compare {
namespace {

class OnnxRuntimePeer : public Peer {
 public:
  absl::Status Load(const std::string& path, int threads) override {
    INGOT_ASSIGN_OR_RETURN(session_, onnxruntime::Session::Open(
                                         path, {threads, /*optimized=*/true}));
    return absl::OkStatus();
  }

  absl::Status SetInputs(std::vector<Tensor> inputs) override {
    INGOT_ASSIGN_OR_RETURN(std::vector<std::string> input_names,
                           session_->InputNames());
    INGOT_ASSIGN_OR_RETURN(std::vector<std::string> output_names,
                           session_->OutputNames());
    if (input_names.size() < inputs.size()) {
      return absl::InvalidArgumentError("the number of inputs differs");
    }
    // Older models declare their weights as inputs, too, after the others.
    input_names.resize(inputs.size());
    return session_->Bind(std::move(input_names), std::move(inputs),
                          std::move(output_names));
  }

  absl::Status Run() override { return session_->Run(); }

  absl::StatusOr<std::vector<Tensor>> Outputs() override {
    return session_->Outputs();
  }

 private:
  std::unique_ptr<onnxruntime::Session> session_;
};

}  // namespace
}  // namespace ingot::compare

int main(int argc, char** argv) {
  ingot::compare::OnnxRuntimePeer peer;
  return ingot::compare::ServePeer(argc, argv, &peer);
}
