#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/compare_values.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"
#include "tools/ingot/start_compiler.h"
#include "tools/ingot/state_data.h"
#include "tools/ingot/test_data.h"
#include "tools/ingot/verdict.h"

namespace ingot {
namespace {

struct VerifyFlags {
  OpenFlags open;
  std::string test_data;
  std::string reference;
  std::vector<std::string> inputs;
  int64_t seed = 0;
  double rtol_max = -1;  // not given
  Tolerance tolerance;
  bool interpret = false;
  bool per_node = false;
  std::string values;
  bool json = false;
  bool quiet = false;
};

// What the interpreter gives for `inputs` of the model at `path`.
absl::StatusOr<std::vector<TensorOrSequence>> Interpret(
    const std::string& path, const InputShapes& shapes,
    absl::Span<const TensorOrSequence> inputs, Compiler* compiler,
    Progress* progress) {
  progress->Update("interpreting the reference", 0.1);
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<InterpretedModel> model,
                         compiler->ReadToInterpret(path, shapes));
  absl::StatusOr<std::vector<TensorOrSequence>> outputs = model->Run(inputs);
  progress->Clear();
  if (!outputs.ok()) return Where(outputs.status(), path);
  return outputs;
}

// A case of given or random inputs. With a reference, what that model's
// interpretation gives is what should come of them; without, nothing is said
// of the outputs.
absl::StatusOr<Case> MakeCase(const VerifyFlags& flags,
                              absl::Span<const TensorInfo> declared,
                              Compiler* compiler, Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(InputShapes shapes,
                         ParseInputShapes(flags.open.compile.input_shapes));
  Case made;
  std::string note;
  INGOT_ASSIGN_OR_RETURN(
      made.inputs,
      GivenOrRandomInputs(declared, flags.inputs, shapes, flags.seed, &note));
  made.name = note.empty() ? "given inputs" : absl::StrCat("seed ", flags.seed);
  if (note.empty()) note = "inputs as given";
  if (flags.reference.empty()) {
    Print(absl::StrCat(OneLine(note), "\n"));
    return made;
  }
  Print(absl::StrCat(OneLine(note), "; the reference is the interpreter on ",
                     OneLine(flags.reference), "\n"));
  INGOT_ASSIGN_OR_RETURN(
      made.outputs,
      Interpret(flags.reference, shapes, made.inputs, compiler, progress));
  return made;
}

// Says what was found beside the table. `per_node` may be null.
void Report(const VerifyFlags& flags, const Verdict& verdict, size_t cases,
            const CallCheck* per_node) {
  if (per_node != nullptr) {
    Print(absl::StrCat(
        "every call is as the interpreter says: ", per_node->calls(),
        " calls; the largest error, ", HumanNumber(per_node->worst()),
        ", is of ", per_node->worst_call(), "\n"));
  }
  if (flags.json) {
    nlohmann::ordered_json json = verdict.Json(cases, flags.tolerance);
    if (per_node != nullptr) {
      json["per_node"] = {{"calls", per_node->calls()},
                          {"max_abs_err", per_node->worst()},
                          {"worst_call", per_node->worst_call()}};
    }
    PrintJson(json);
  }
}

absl::Status Conclude(const std::string& path, const Verdict& verdict) {
  const absl::Status status = verdict.ToStatus();
  if (status.ok()) return status;
  return Annotate(
      absl::Status(status.code(),
                   absl::StrCat(status.message(), verdict.RoundingHint())),
      path);
}

// With --interpret: what the interpreter gives, against the test data.
absl::Status VerifyInterpreter(const std::string& path,
                               const VerifyFlags& flags,
                               const std::vector<TestDataSet>& sets,
                               Compiler* compiler, Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(InputShapes shapes,
                         ParseInputShapes(flags.open.compile.input_shapes));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<InterpretedModel> model,
                         compiler->ReadToInterpret(path, shapes));
  Verdict verdict;
  for (size_t i = 0; i < sets.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(
        const Case expected,
        ReadCase(sets[i], model->inputs(), model->outputs()));
    progress->Update(absl::StrCat("interpreting ", expected.name),
                     static_cast<double>(i) / static_cast<double>(sets.size()));
    const absl::StatusOr<std::vector<TensorOrSequence>> outputs =
        model->Run(expected.inputs);
    const absl::Status status =
        outputs.ok() ? CompareOutputs(expected, model->outputs(), *outputs,
                                      flags.tolerance, &verdict)
                     : outputs.status();
    if (!status.ok()) {
      return Annotate(status, absl::StrCat(path, ": ", expected.name));
    }
  }
  progress->Clear();
  Print(verdict.TableText());
  Report(flags, verdict, sets.size(), nullptr);
  return Conclude(path, verdict);
}

// With --values: each value against its dump.
absl::Status VerifyValues(const std::string& path, const VerifyFlags& flags,
                          const std::vector<TestDataSet>& sets,
                          const Builtins& builtins, Progress* progress) {
  if (sets.size() != 1) {
    return UsageError(
        "--values needs --test-data with the one data set that they were "
        "dumped for, such as DIR/test_data_set_0");
  }
  CompareValuesOptions options;
  options.open = flags.open;
  options.tolerance = flags.tolerance;
  const absl::StatusOr<ComparedValues> compared = CompareValues(
      path, flags.values, sets[0].inputs, options, builtins, progress);
  if (!compared.ok()) return Where(compared.status(), path);
  if (!flags.json) return absl::OkStatus();
  nlohmann::ordered_json json;
  json["ok"] = true;
  json["values"] = compared->count;
  json["max_abs_err"] = compared->max_abs_err;
  json["worst_value"] = compared->worst;
  json["left_out"] = compared->left_out;
  PrintJson(json);
  return absl::OkStatus();
}

// Runs a case and compares what comes of it, unless `verdict` is null.
absl::Status RunCase(const Case& expected, const StateData& data,
                     absl::Span<const StateInfo> states,
                     const Tolerance& tolerance, GraphExecutor* executor,
                     Verdict* verdict) {
  INGOT_RETURN_IF_ERROR(SetInputs(expected.inputs, executor));
  INGOT_RETURN_IF_ERROR(SetStates(data, states, executor));
  INGOT_RETURN_IF_ERROR(executor->Run());
  if (verdict == nullptr) return absl::OkStatus();
  INGOT_RETURN_IF_ERROR(
      CompareOutputs(expected, *executor, tolerance, verdict));
  return CompareStates(expected.name, data, states, tolerance, executor,
                       verdict);
}

absl::Status Verify(const std::string& path, const VerifyFlags& flags,
                    const Backends& backends, Progress* progress) {
  const bool has_data = !flags.test_data.empty();
  std::vector<TestDataSet> sets;
  if (has_data) {
    INGOT_ASSIGN_OR_RETURN(std::vector<TestDataSet> found,
                           FindTestData(flags.test_data));
    sets = std::move(found);
  }
  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  // The values of a model are those of what the compiler reads.
  if (builtins.compiler == nullptr &&
      (IsModel(path, builtins) || !flags.reference.empty() ||
       !flags.values.empty())) {
    return NeedsCompiler(
        absl::StrCat(flags.reference.empty() ? path : flags.reference,
                     ": is a model to compile"));
  }
  if (!flags.values.empty()) {
    return VerifyValues(path, flags, sets, builtins, progress);
  }
  if (flags.interpret) {
    if (!IsModel(path, builtins)) {
      return UsageError(
          absl::StrCat("--interpret needs a model, and ", path, " is none"));
    }
    return VerifyInterpreter(path, flags, sets, builtins.compiler, progress);
  }
  INGOT_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(path, flags.open, builtins, progress));
  ExecutorOptions options;
  options.threads = static_cast<int>(flags.open.threads);
  options.random_seed = 0;  // as the interpreter has it
  std::unique_ptr<CallCheck> per_node;
  if (flags.per_node) {
    if (opened.check_calls == nullptr) {
      return UsageError(
          absl::StrCat("--per-node needs a model, and ", path, " is none"));
    }
    per_node = opened.check_calls(flags.tolerance, progress);
    options.observer = [&per_node](const PlanCall& call,
                                   absl::Span<const DLTensor* const> args) {
      return per_node->Observe(call, args);
    };
  }
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(opened.model, options);
  if (!executor.ok()) return Where(executor.status(), path);

  const std::vector<StateInfo> states =
      StatesOf(*opened.model.plan, **executor);
  if (!flags.reference.empty() && !states.empty()) {
    return UsageError(
        "--reference runs a model once, and this one has states; use "
        "--test-data");
  }
  // Without either, the calls alone are compared.
  const bool compares_outputs = has_data || !flags.reference.empty();
  Verdict verdict;
  size_t done = 0;
  const size_t count = has_data ? sets.size() : 1;
  for (; done < count; ++done) {
    StateData data;
    absl::StatusOr<Case> expected =
        !has_data ? MakeCase(flags, (*executor)->inputs(), builtins.compiler,
                             progress)
        : states.empty()
            ? ReadCase(sets[done], (*executor)->inputs(),
                       (*executor)->outputs())
            : ReadCaseOfStates(sets[done], states, **executor, &data);
    if (!expected.ok()) return expected.status();
    if (has_data) {
      progress->Update(expected->name,
                       static_cast<double>(done) / static_cast<double>(count));
    }
    const absl::Status s =
        RunCase(*expected, data, states, flags.tolerance, executor->get(),
                compares_outputs ? &verdict : nullptr);
    if (!s.ok()) return Annotate(s, absl::StrCat(path, ": ", expected->name));
  }
  progress->Clear();
  if (compares_outputs) Print(verdict.TableText());
  Report(flags, verdict, done, per_node.get());
  return Conclude(path, verdict);
}

}  // namespace

absl::Status RunVerify(Args args, const Backends& backends) {
  FlagSet flags("verify", {"SET|SO|MODEL"},
                "Runs a model and compares its outputs with those of a test "
                "data set, or with what the interpreter\ncomputes of a model "
                "on the same inputs, given or random. An element a passes for "
                "b when\n|a-b| <= atol + rtol*|b|, or, with --rtol-max, when "
                "|a-b| <= R*max|b|; of integers, rtol bears nothing. NaN "
                "equals NaN only.");
  VerifyFlags verify;
  flags.String("test-data", "DIR",
               "ONNX's layout: a test_data_set_N folder, or one with several",
               &verify.test_data);
  flags.String("reference", "MODEL",
               "instead of --test-data: the model to interpret",
               &verify.reference);
  flags.Strings("input", "NAME:FILE",
                "without --test-data: an input's values, .npy, .npz or .pb; "
                "random ones otherwise",
                &verify.inputs);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &verify.seed);
  flags.Double("rtol", "R", "relative tolerance", &verify.tolerance.rtol);
  flags.Double("atol", "A", "absolute tolerance", &verify.tolerance.atol);
  flags.Double("rtol-max", "R", "tolerance relative to the tensor's largest",
               &verify.rtol_max);
  flags.Int("threads", "N", "threads to use", 1, 1024, &verify.open.threads);
  flags.Bool("interpret",
             "of a MODEL: what the interpreter gives is compared with "
             "--test-data, and nothing compiled",
             &verify.interpret);
  flags.Bool("per-node",
             "of a MODEL: compare each call with the interpreter, and name the "
             "first that is wrong; needs no other flag",
             &verify.per_node);
  flags.String("values", "DIR",
               "with --per-node: compare with the values in this folder "
               "instead, as run --all-values writes them",
               &verify.values);
  verify.open.AddTo(&flags);
  flags.Bool("json", "end with one JSON object", &verify.json);
  flags.Bool("quiet", "show no progress", &verify.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  const bool has_data = !verify.test_data.empty();
  const bool has_reference = !verify.reference.empty();
  if (has_data && has_reference) {
    return UsageError("needs one of --test-data and --reference, not both");
  }
  if (!has_data && !has_reference && !verify.per_node) {
    return UsageError(
        "needs one of --test-data=DIR, --reference=MODEL and, for a "
        "MODEL, --per-node (see ingot help verify)");
  }
  if (has_data && !verify.inputs.empty()) {
    return UsageError("--test-data has inputs of its own, so no --input");
  }
  if (verify.interpret && (!has_data || verify.per_node)) {
    return UsageError("--interpret needs --test-data, and no --per-node");
  }
  if (!verify.values.empty() && !verify.per_node) {
    return UsageError("--values needs --per-node");
  }
  if (verify.rtol_max >= 0) verify.tolerance.rtol_max = verify.rtol_max;
  verify.open.compile.keep_module = verify.per_node;
  Progress::Options options;
  options.quiet = verify.quiet;
  Progress progress(options);
  return Verify(flags.word(0), verify, backends, &progress);
}

}  // namespace ingot
