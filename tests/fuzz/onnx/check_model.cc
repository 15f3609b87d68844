#include "tests/fuzz/onnx/check_model.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "loaders/load.h"
#include "tests/fuzz/onnx/deviations.h"
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/protos.h"
#include "tests/fuzz/onnx/rounding.h"
#include "tests/onnxruntime/session.h"
#include "tools/ingot/compare.h"

namespace ingot::fuzz {
namespace {

absl::StatusOr<std::vector<Tensor>> CompileAndRun(
    const std::string& path, const std::map<std::string, Tensor>& inputs,
    const Way& way) {
  CompileOptions options;
  options.target_text = way.target;
  options.opt_level = way.opt_level;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(way.target));
  if (way.input_shapes) {
    for (const auto& [name, tensor] : inputs) {
      options.input_shapes[name].assign(tensor.shape().begin(),
                                        tensor.shape().end());
    }
  }
  const absl::StatusOr<ArtifactSet> set =
      CompileModel(path, testing_support::BuiltinFrontends(),
                   testing_support::BuiltinTargets(), options);
  if (!set.ok()) return Annotate(set.status(), "compile");
  const absl::StatusOr<LoadedModel> loaded =
      testing_support::StoreAndLoad(*set);
  if (!loaded.ok()) return Annotate(loaded.status(), "load");
  ExecutorOptions run_options;
  run_options.threads = way.threads;
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(*loaded, run_options);
  if (!executor.ok()) return Annotate(executor.status(), "load");
  std::vector<Tensor> ordered;
  for (const TensorInfo& input : (*executor)->inputs()) {
    const auto it = inputs.find(input.name);
    if (it == inputs.end()) {
      return absl::NotFoundError(
          absl::StrCat("the model has no input '", input.name, "'"));
    }
    ordered.push_back(it->second);
  }
  absl::StatusOr<std::vector<Tensor>> outputs = (*executor)->Run(ordered);
  if (!outputs.ok()) return Annotate(outputs.status(), "run");
  // Memory is zero in a first run, and has what that left in a second one.
  const absl::StatusOr<std::vector<Tensor>> again = (*executor)->Run(ordered);
  if (!again.ok()) return Annotate(again.status(), "second run");
  for (size_t k = 0; k < outputs->size(); ++k) {
    if (!SameBytes((*outputs)[k], (*again)[k])) {
      return absl::DataLossError(
          absl::StrCat("output ", k, " differs in a second run"));
    }
  }
  return outputs;
}

absl::Status CompareOutput(const Tensor& got, const Estimated& expected) {
  Tolerance tolerance{0, 0, std::nullopt};
  const DataType t = expected.value.dtype();
  if (t.is_float()) {
    tolerance.atol = 3 * expected.Error() + 1e-30;
    tolerance.rtol = UnitOf(t) / 4;
  }
  INGOT_ASSIGN_OR_RETURN(const Comparison comparison,
                         Compare(got, expected.value, tolerance));
  if (comparison.ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(comparison.problem, " (", comparison.mismatches, " of ",
                   comparison.elements, " elements, error at most ",
                   comparison.max_abs_err, ", allowed ", tolerance.atol, ")"));
}

// Writes, compiles, runs and compares the form of a model that a way says.
absl::Status CheckForm(const OnnxModel& form, const Scope& expected,
                       const Way& way, const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/model.onnx");
  {
    std::ofstream file(path, std::ios::binary);
    file << form.proto.SerializeAsString();
    if (!file.flush()) {
      return absl::UnavailableError(absl::StrCat("cannot write ", path));
    }
  }
  const absl::StatusOr<std::vector<Tensor>> outputs =
      CompileAndRun(path, form.inputs, way);
  if (!outputs.ok()) return outputs.status();
  if (static_cast<int>(outputs->size()) != form.proto.graph().output_size()) {
    return absl::DataLossError("another number of outputs");
  }
  for (size_t k = 0; k < outputs->size(); ++k) {
    const std::string& name =
        form.proto.graph().output(static_cast<int>(k)).name();
    const absl::Status status = CompareOutput((*outputs)[k], expected.at(name));
    if (!status.ok()) return Annotate(status, absl::StrCat("output ", name));
  }
  return absl::OkStatus();
}

// The model's outputs as ONNX Runtime computes them in one run.
absl::StatusOr<std::vector<Tensor>> RunWhole(const OnnxModel& model) {
  INGOT_ASSIGN_OR_RETURN(
      const std::unique_ptr<onnxruntime::Session> session,
      onnxruntime::Session::Create(model.proto.SerializeAsString()));
  std::vector<std::string> input_names, output_names;
  std::vector<Tensor> inputs;
  for (const auto& [name, tensor] : model.inputs) {
    input_names.push_back(name);
    inputs.push_back(tensor);
  }
  for (const auto& output : model.proto.graph().output()) {
    output_names.push_back(output.name());
  }
  return session->Run(input_names, inputs, output_names);
}

}  // namespace

std::string Way::ToString() const {
  return absl::StrCat("target ", target, ", level ", opt_level, ", threads ",
                      threads, symbols != 0 ? ", symbols " : "",
                      symbols != 0 ? absl::StrCat(symbols) : "",
                      input_shapes ? " with shapes" : "",
                      copies ? ", copied inputs" : "",
                      twice ? ", twice as long" : "");
}

absl::StatusOr<Scope> ExpectedOf(const OnnxModel& model) {
  INGOT_ASSIGN_OR_RETURN(Scope scope,
                         EvaluateModel(model.proto, model.inputs, 1));
  for (const onnx::NodeProto& node : model.proto.graph().node()) {
    if (Deviates(node, scope)) {
      return absl::FailedPreconditionError(
          absl::StrCat("ONNX Runtime is no reference for ", node.name()));
    }
  }
  Scope expected;
  for (const auto& output : model.proto.graph().output()) {
    expected[output.name()] = std::move(scope[output.name()]);
  }
  // ONNX Runtime does not run every model whose nodes it runs one by one: it
  // has to know the shapes in a Scan, for example. The nodes' values stand
  // then.
  const absl::StatusOr<std::vector<Tensor>> whole = RunWhole(model);
  if (!whole.ok()) return expected;
  for (size_t k = 0; k < whole->size(); ++k) {
    const auto& output = model.proto.graph().output(static_cast<int>(k));
    expected[output.name()].value = (*whole)[k];
  }
  return expected;
}

OnnxModel FormOf(const OnnxModel& model, const Way& way) {
  OnnxModel form = model;
  if (way.copies) form.proto = WithCopies(form.proto, &form.inputs);
  if (way.symbols != 0) form.proto = WithSymbols(form.proto, way.symbols);
  if (way.twice) form.proto = WithTwice(form.proto, &form.inputs);
  return form;
}

absl::Status CheckModel(const OnnxModel& model, const Scope& expected,
                        const Way& way, const std::string& folder) {
  const OnnxModel form = FormOf(model, way);
  if (!way.twice) return CheckForm(form, expected, way, folder);
  const absl::StatusOr<Scope> other = ExpectedOf(form);
  if (!other.ok()) return absl::OkStatus();
  for (const auto& [name, estimated] : *other) {
    if (std::isinf(estimated.Error())) return absl::OkStatus();
  }
  return CheckForm(form, *other, way, folder);
}

namespace {

// Narrow vectors, and no instructions that newer processors have; or the loops
// of processors that have more than this one.
std::vector<std::string> OtherMachines() {
#if defined(__x86_64__)
  return {"llvm -mcpu=generic", "llvm -schedules-for=icelake-server",
          "llvm -schedules-for=sapphirerapids"};
#else
  return {"llvm -mcpu=generic"};
#endif
}

}  // namespace

std::vector<Way> WaysOf(uint64_t seed) {
  Random random(seed ^ 0x5EED);
  std::vector<Way> ways(3);
  ways[1].symbols = 1 + static_cast<uint64_t>(random.Next(1000000));
  ways[1].threads = random.OneOf({2, 2, 3, 5});
  switch (random.Next(7)) {
    case 0:
      ways[2].opt_level = 0;
      break;
    case 1:
      ways[2].opt_level = 1;
      break;
    case 2:
      ways[2].copies = true;
      ways[2].threads = 2;
      break;
    case 3:
      ways[2].symbols = ways[1].symbols;
      ways[2].input_shapes = true;
      break;
    case 4:
      ways[2].twice = true;
      break;
    case 5:
      ways[2].target = random.OneOf(OtherMachines());
      break;
    default:
      ways[2].target = random.Chance(50) ? "c" : "c -mcpu=native";
      if (random.Chance(30)) ways[2].symbols = ways[1].symbols;
  }
  return ways;
}

}  // namespace ingot::fuzz
