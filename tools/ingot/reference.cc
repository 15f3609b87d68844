#include "tools/ingot/reference.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/frontends/read_model.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"
#include "compiler/tir/printer.h"

namespace ingot {
namespace {

TensorInfo InfoOf(const std::string& name, const relay::TensorType& type) {
  TensorInfo info;
  info.name = name;
  info.dtype = type.dtype;
  info.is_sequence = type.is_sequence;
  for (const relay::Dim& dim : type.shape) {
    int64_t size = -1;
    const bool known = tir::AsConstInt(dim, &size);
    info.shape.push_back(known ? size : -1);
    info.dims.push_back(tir::Print(dim));
  }
  return info;
}

class Reference final : public InterpretedModel {
 public:
  explicit Reference(relay::Module module) : module_(std::move(module)) {
    for (const relay::Node* input : main().inputs) {
      inputs_.push_back(InfoOf(input->name, input->outputs[0]));
    }
    for (size_t i = 0; i < main().outputs.size(); ++i) {
      // As a plan calls them.
      const std::string name = i < main().output_names.size()
                                   ? main().output_names[i]
                                   : main().outputs[i].node->name;
      outputs_.push_back(InfoOf(name, main().outputs[i].type()));
    }
  }

  absl::Span<const TensorInfo> inputs() const override { return inputs_; }
  absl::Span<const TensorInfo> outputs() const override { return outputs_; }

  absl::StatusOr<std::vector<TensorOrSequence>> Run(
      absl::Span<const TensorOrSequence> inputs) override {
    return relay::EvaluateFunctionOnSequences(module_, main(), inputs);
  }

 private:
  const relay::Function& main() const { return *module_.main(); }

  const relay::Module module_;
  std::vector<TensorInfo> inputs_, outputs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InterpretedModel>> ReadReference(
    absl::string_view path, const FrontendRegistry& frontends,
    const InputShapes& shapes) {
  ImportOptions options;
  options.input_shapes = shapes;
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelFile(path, frontends, std::move(options)));
  return std::make_unique<Reference>(std::move(model.module));
}

}  // namespace ingot
