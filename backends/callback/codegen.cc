#include "backends/callback/codegen.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/callback/live_function.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

using callback::LiveFunction;
using relay::NodeKind;
using relay::Value;
using Callbacks = std::map<std::string, OperatorCallback>;

// One call of a callback on the values of a region, by their indices; -1 for an
// operand that is left out.
struct Step {
  std::string node;
  OperatorCallback callback;
  relay::Attrs attrs;
  std::vector<int> operands, results;
};

// A region, without anything of the module that it was made from.
struct Program {
  std::vector<TensorSpec> values;
  std::map<int, Tensor> constants;
  std::vector<int> inputs, outputs;
  std::vector<Step> steps;
};

class ProgramMaker {
 public:
  explicit ProgramMaker(const Callbacks& callbacks) : callbacks_(callbacks) {}

  absl::StatusOr<Program> Make(const relay::Function& region) {
    for (relay::Node* input : region.inputs) {
      INGOT_ASSIGN_OR_RETURN(const int index, Declare({input}));
      program_.inputs.push_back(index);
    }
    for (const auto& node : region.nodes()) {
      if (node->kind == NodeKind::kConstant) {
        INGOT_ASSIGN_OR_RETURN(const int index, Declare({node.get()}));
        program_.constants[index] = *node->constant;
      } else if (node->kind == NodeKind::kOp) {
        INGOT_RETURN_IF_ERROR(AddStep(node.get()));
      }
    }
    for (const Value& output : region.outputs) {
      program_.outputs.push_back(indices_.at(output));
    }
    return std::move(program_);
  }

 private:
  absl::StatusOr<int> Declare(const Value& value) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           codegen::KnownShape(value.type()));
    const int index = static_cast<int>(program_.values.size());
    program_.values.push_back({value.type().dtype, std::move(shape)});
    indices_[value] = index;
    return index;
  }

  absl::Status AddStep(relay::Node* node) {
    Step step;
    step.node = node->name;
    step.callback = callbacks_.at(node->op->name);
    step.attrs = node->attrs;
    for (const Value& input : node->inputs) {
      step.operands.push_back(input ? indices_.at(input) : -1);
    }
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(const int index,
                             Declare({node, static_cast<int>(i)}));
      step.results.push_back(index);
    }
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  const Callbacks& callbacks_;
  Program program_;
  std::map<Value, int> indices_;
};

// Runs the steps in order. The caller's tensors hold inputs and outputs; what
// is between them, memory of this run.
absl::Status Run(const Program& program, absl::Span<void* const> data) {
  std::vector<Tensor> values(program.values.size());
  for (const auto& [index, constant] : program.constants) {
    values[index] = constant;
  }
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const TensorSpec& spec = program.values[program.inputs[i]];
    INGOT_ASSIGN_OR_RETURN(
        values[program.inputs[i]],
        Tensor::FromBorrowedReadOnly(data[i], spec.dtype, spec.shape));
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    Tensor& value = values[program.outputs[i]];
    // An output may be there already: twice, or an input.
    if (value.defined()) continue;
    const TensorSpec& spec = program.values[program.outputs[i]];
    INGOT_ASSIGN_OR_RETURN(
        value, Tensor::FromBorrowed(data[program.inputs.size() + i], spec.dtype,
                                    spec.shape));
  }
  for (const Step& step : program.steps) {
    std::vector<Tensor> operands, results;
    for (const int index : step.operands) {
      operands.push_back(index < 0 ? Tensor() : values[index]);
    }
    for (const int index : step.results) {
      const TensorSpec& spec = program.values[index];
      if (!values[index].defined()) {
        INGOT_ASSIGN_OR_RETURN(values[index],
                               Tensor::Empty(spec.dtype, spec.shape));
      }
      results.push_back(values[index]);
    }
    const absl::Status status =
        step.callback(step.attrs, operands, absl::MakeSpan(results));
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("node ", step.node));
    }
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Tensor& value = values[program.outputs[i]];
    void* const output = data[program.inputs.size() + i];
    if (value.raw_data() != output) {
      memcpy(output, value.raw_data(), value.bytes());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CodegenResult> Generate(const std::string& codegen_id,
                                       const Callbacks& callbacks,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  INGOT_ASSIGN_OR_RETURN(Program program, ProgramMaker(callbacks).Make(region));
  auto live = std::make_shared<LiveFunction>();
  live->symbol = std::string(symbol);
  for (const int index : program.inputs) {
    live->spec.inputs.push_back(program.values[index]);
  }
  for (const int index : program.outputs) {
    live->spec.outputs.push_back(program.values[index]);
  }
  live->run = [program = std::move(program)](absl::Span<void* const> data) {
    return Run(program, data);
  };
  CodegenResult result;
  codegen::AddArtifact(codegen_id, callback::kLoader,
                       absl::StrCat(symbol, ".callback"), "", &result);
  result.artifacts.back().live = std::move(live);
  return result;
}

// Memory is of the sizes that are known now.
absl::Status CheckShapes(const relay::Node& node) {
  for (const Value& input : node.inputs) {
    if (input) {
      INGOT_RETURN_IF_ERROR(codegen::KnownShape(input.type()).status());
    }
  }
  for (const relay::TensorType& output : node.outputs) {
    INGOT_RETURN_IF_ERROR(codegen::KnownShape(output).status());
  }
  return absl::OkStatus();
}

}  // namespace

TargetKind MakeCallbackTarget(
    std::string name, std::map<std::string, OperatorCallback> callbacks) {
  TargetKind kind;
  kind.doc = "operators as calls of functions of this program";
  kind.loaders = {callback::kLoader};
  kind.operators.emplace();
  for (const auto& [op, callback] : callbacks) kind.operators->push_back(op);
  kind.supports = [](const Target&, const relay::Node& node) {
    return CheckShapes(node);
  };
  kind.relay_to_runtime = [name, callbacks = std::move(callbacks)](
                              const Target&, const relay::Module&,
                              const relay::Function& region,
                              absl::string_view symbol) {
    return Generate(name, callbacks, region, symbol);
  };
  kind.name = std::move(name);
  return kind;
}

}  // namespace ingot
