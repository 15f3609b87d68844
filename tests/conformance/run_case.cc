#include "tests/conformance/run_case.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "backends/testing/run_model.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/verifier.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/compare_text.h"

namespace ingot {
namespace {

// The tolerance of ONNX's own runner of these tests.
constexpr Tolerance kTolerance = {/*rtol=*/1e-3, /*atol=*/1e-7, std::nullopt};

TensorOrSequence AsType(const TensorOrSequence& value, DataType wanted) {
  const auto* tensor = std::get_if<Tensor>(&value);
  return tensor == nullptr ? value : AsDeclared(*tensor, wanted);
}

absl::StatusOr<std::vector<TensorOrSequence>> RunOnce(
    GraphExecutor* executor, std::vector<TensorOrSequence> inputs) {
  if (inputs.size() != executor->inputs().size()) {
    return absl::InvalidArgumentError("has another number of inputs");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(executor->SetInputValue(i, std::move(inputs[i])));
  }
  INGOT_RETURN_IF_ERROR(executor->Run());
  std::vector<TensorOrSequence> outputs;
  for (size_t i = 0; i < executor->outputs().size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(TensorOrSequence output,
                           executor->GetOutputValue(i));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<std::vector<TensorOrSequence>> Execute(
    absl::string_view way, const OnnxCase& c, relay::Module* module,
    std::vector<TensorOrSequence> inputs) {
  if (way == kInterpreter) {
    return relay::EvaluateFunctionOnSequences(*module, *module->main(), inputs);
  }
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(way));
  options.target_text = std::string(way);
  absl::StatusOr<ArtifactSet> set =
      CompileModule(module, c.name, /*sha256=*/"",
                    testing_support::BuiltinTargets(), options);
  if (!set.ok()) return Annotate(set.status(), "compile");
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      testing_support::Open(*set);
  if (!executor.ok()) return Annotate(executor.status(), "load");
  absl::StatusOr<std::vector<TensorOrSequence>> outputs =
      RunOnce(executor->get(), std::move(inputs));
  if (!outputs.ok()) return Annotate(outputs.status(), "run");
  return outputs;
}

absl::Status CompareTensors(const Tensor& got, const TensorOrSequence& expected,
                            bool is_text) {
  const Tensor wanted = std::get<Tensor>(AsType(expected, got.dtype()));
  INGOT_ASSIGN_OR_RETURN(
      const Comparison comparison,
      is_text ? CompareText(got, wanted) : Compare(got, wanted, kTolerance));
  if (comparison.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(comparison.problem);
}

// Sequences must be of equal tensors, and both there or both missing.
absl::Status CompareOutput(const TensorOrSequence& got,
                           const TensorOrSequence& expected, bool is_text) {
  if (got.index() != expected.index()) {
    return absl::InvalidArgumentError("a tensor is a sequence, or the reverse");
  }
  if (const auto* tensor = std::get_if<Tensor>(&got)) {
    return CompareTensors(*tensor, expected, is_text);
  }
  const auto& a = std::get<TensorSequence>(got);
  const auto& b = std::get<TensorSequence>(expected);
  if (a.TypeString() != b.TypeString()) {
    return absl::InvalidArgumentError(
        absl::StrCat("is ", a.TypeString(), ", expected ", b.TypeString()));
  }
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const absl::Status status =
        CompareTensors(a.tensors[i], b.tensors[i], is_text);
    if (!status.ok()) return Annotate(status, absl::StrCat("tensor ", i));
  }
  return absl::OkStatus();
}

absl::Status RunSet(absl::string_view way, const Blob& model, const OnnxCase& c,
                    const OnnxDataSet& set) {
  ImportOptions options;
  options.model_path = c.model_path;
  absl::StatusOr<relay::Module> module = ImportOnnx(model, options);
  if (!module.ok()) return Annotate(module.status(), "import");
  if (absl::Status status = relay::Verify(*module); !status.ok()) {
    return Annotate(status, "import");
  }
  if (set.inputs.size() > module->main()->inputs.size()) {
    return absl::InvalidArgumentError("has too few inputs");
  }
  std::vector<TensorOrSequence> inputs;
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    inputs.push_back(
        AsType(set.inputs[i], module->main()->inputs[i]->outputs[0].dtype));
  }
  absl::StatusOr<std::vector<TensorOrSequence>> outputs =
      Execute(way, c, &*module, std::move(inputs));
  if (!outputs.ok()) return outputs.status();
  if (outputs->size() != set.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", outputs->size(), " outputs, expected ", set.outputs.size()));
  }
  for (size_t k = 0; k < outputs->size(); ++k) {
    const absl::Status status = CompareOutput((*outputs)[k], set.outputs[k],
                                              set.text_outputs.count(k) > 0);
    if (!status.ok()) return Annotate(status, absl::StrCat("output ", k));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunCase(absl::string_view way, const OnnxCase& c) {
  absl::StatusOr<std::vector<OnnxDataSet>> sets = ReadDataSets(c);
  if (!sets.ok()) return sets.status();
  if (sets->empty()) return absl::NotFoundError("has no data sets");
  absl::StatusOr<Blob> model = Blob::MapFile(c.model_path);
  if (!model.ok()) return model.status();
  for (const OnnxDataSet& set : *sets) {
    INGOT_RETURN_IF_ERROR(RunSet(way, *model, c, set));
  }
  return absl::OkStatus();
}

}  // namespace ingot
