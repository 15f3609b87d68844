#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/compare_values.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/per_node.h"
#include "tools/ingot/reference.h"
#include "tools/ingot/report.h"
#include "tools/ingot/sets.h"
#include "tools/ingot/test_data.h"

namespace ingot {
namespace {

struct VerifyFlags {
  OpenFlags open;
  std::string test_data;
  std::string reference;
  int64_t seed = 0;
  int64_t threads = 1;
  double rtol_max = -1;  // not given
  Tolerance tolerance;
  bool per_node = false;
  std::string values;
  bool json = false;
  bool quiet = false;
};

// Inputs and what should come of them.
struct Case {
  std::string name;
  std::vector<TensorOrList> inputs;
  std::vector<TensorOrList> outputs;
};

// What was compared so far.
class Verdict {
 public:
  Verdict()
      : table_({"SET", "OUTPUT", "TYPE", ">MAX ABS ERR", ">MAX REL ERR",
                ">MISMATCHES", "VERDICT"}) {}

  void Add(const std::string& set, const std::string& name,
           const std::string& type, const Comparison& c) {
    table_.Add({set, name, type, HumanNumber(c.max_abs_err),
                HumanNumber(c.max_rel_err),
                absl::StrCat(c.mismatches, " of ", c.elements),
                c.ok() ? "ok" : absl::StrCat("WRONG: ", c.problem)});
    outputs_.push_back({{"set", set},
                        {"name", name},
                        {"type", type},
                        {"elements", c.elements},
                        {"mismatches", c.mismatches},
                        {"max_abs_err", c.max_abs_err},
                        {"max_rel_err", c.max_rel_err},
                        {"ok", c.ok()}});
    ++compared_;
    if (!c.ok() && wrong_++ == 0) {
      first_ = absl::StrCat(set, ", output '", name, "': ", c.problem);
    }
    elements_ += c.elements;
    mismatches_ += c.mismatches;
    max_abs_err_ = std::max(max_abs_err_, c.max_abs_err);
    max_rel_err_ = std::max(max_rel_err_, c.max_rel_err);
  }

  std::string TableText() const { return table_.ToString(); }

  nlohmann::ordered_json Json(size_t sets, const Tolerance& t) const {
    nlohmann::ordered_json json = {{"ok", wrong_ == 0},
                                   {"sets", sets},
                                   {"elements", elements_},
                                   {"mismatches", mismatches_},
                                   {"max_abs_err", max_abs_err_},
                                   {"max_rel_err", max_rel_err_},
                                   {"rtol", t.rtol},
                                   {"atol", t.atol}};
    if (t.rtol_max.has_value()) json["rtol_max"] = *t.rtol_max;
    json["outputs"] = outputs_;
    return json;
  }

  absl::Status ToStatus() const {
    if (wrong_ == 0) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(wrong_, " of ", compared_,
                     " outputs are not as they should be; first ", first_));
  }

 private:
  Table table_;
  nlohmann::ordered_json outputs_ = nlohmann::ordered_json::array();
  int compared_ = 0;
  int wrong_ = 0;
  std::string first_;
  int64_t elements_ = 0;
  int64_t mismatches_ = 0;
  double max_abs_err_ = 0;
  double max_rel_err_ = 0;
};

absl::StatusOr<Case> ReadCase(const TestDataSet& set,
                              const GraphExecutor& executor) {
  Case read;
  read.name = set.name;
  absl::StatusOr<std::vector<TensorOrList>> inputs =
      ReadValueFiles(set.inputs, executor.inputs());
  if (!inputs.ok()) return inputs.status();
  absl::StatusOr<std::vector<TensorOrList>> outputs =
      ReadValueFiles(set.outputs, executor.outputs());
  if (!outputs.ok()) return outputs.status();
  read.inputs = *std::move(inputs);
  read.outputs = *std::move(outputs);
  return read;
}

absl::StatusOr<Case> MakeCase(const VerifyFlags& flags,
                              absl::Span<const TensorInfo> declared,
                              Progress* progress) {
  absl::StatusOr<InputShapes> shapes =
      ParseInputShapes(flags.open.compile.input_shapes);
  if (!shapes.ok()) return shapes.status();
  Case made;
  made.name = absl::StrCat("seed ", flags.seed);
  std::string note;
  absl::StatusOr<std::vector<Tensor>> inputs =
      MakeRandomInputs(declared, *shapes, flags.seed, &note);
  if (!inputs.ok()) return inputs.status();
  Print(absl::StrCat(OneLine(note), "; the reference is the interpreter on ",
                     OneLine(flags.reference), "\n"));
  made.inputs.assign(inputs->begin(), inputs->end());
  absl::StatusOr<std::vector<TensorOrList>> outputs =
      EvaluateReference(flags.reference, made.inputs, *shapes, progress);
  progress->Clear();
  if (!outputs.ok()) return Where(outputs.status(), flags.reference);
  made.outputs = *std::move(outputs);
  return made;
}

// One output: a list tensor by tensor, if it has as many as it should.
absl::Status CheckOutput(const std::string& set, const std::string& name,
                         const TensorOrList& got, const TensorOrList& expected,
                         const Tolerance& tolerance, Verdict* verdict) {
  const auto* tensor = std::get_if<Tensor>(&got);
  if (tensor != nullptr) {
    const Tensor& other = std::get<Tensor>(expected);
    absl::StatusOr<Comparison> comparison = Compare(*tensor, other, tolerance);
    if (!comparison.ok()) {
      return Annotate(comparison.status(), absl::StrCat("output '", name, "'"));
    }
    verdict->Add(set, name, other.TypeString(), *comparison);
    return absl::OkStatus();
  }
  const auto& a = std::get<TensorList>(got);
  const auto& b = std::get<TensorList>(expected);
  Comparison whole;
  if (a.TypeString() != b.TypeString()) {
    whole.problem = absl::StrCat("it is ", a.TypeString());
  }
  if (!whole.ok() || a.tensors.empty()) {
    verdict->Add(set, name, b.TypeString(), whole);
    return absl::OkStatus();
  }
  for (size_t k = 0; k < a.tensors.size(); ++k) {
    absl::Status s = CheckOutput(set, absl::StrCat(name, ".", k), a.tensors[k],
                                 b.tensors[k], tolerance, verdict);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// Runs one case and compares all of its outputs.
absl::Status Check(const Case& expected, const Tolerance& tolerance,
                   GraphExecutor* executor, Verdict* verdict) {
  if (absl::Status s = SetInputs(expected.inputs, executor); !s.ok()) return s;
  if (absl::Status s = executor->Run(); !s.ok()) return s;
  const absl::Span<const TensorInfo> declared = executor->outputs();
  if (declared.size() != expected.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", declared.size(), " outputs, and there ",
                     "are ", expected.outputs.size(), " to compare with"));
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    absl::StatusOr<TensorOrList> output = executor->GetOutputValue(i);
    if (!output.ok()) return output.status();
    if (output->index() != expected.outputs[i].index()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", declared[i].name, "' is a ",
                       declared[i].TypeString(), " here and not there"));
    }
    absl::Status s = CheckOutput(expected.name, declared[i].name, *output,
                                 expected.outputs[i], tolerance, verdict);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
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
  options.threads = static_cast<int>(flags.threads);
  return Where(CompareValues(path, flags.values, sets[0].inputs, options,
                             builtins, progress),
               path);
}

absl::Status Verify(const std::string& path, const VerifyFlags& flags,
                    Progress* progress) {
  std::vector<TestDataSet> sets;
  if (flags.reference.empty()) {
    absl::StatusOr<std::vector<TestDataSet>> found =
        FindTestData(flags.test_data);
    if (!found.ok()) return found.status();
    sets = *std::move(found);
  }
  absl::StatusOr<Builtins> builtins = MakeBuiltins();
  if (!builtins.ok()) return builtins.status();
  if (!flags.values.empty()) {
    return VerifyValues(path, flags, sets, *builtins, progress);
  }
  CompiledFrom from;
  absl::StatusOr<OpenedModel> opened =
      OpenModel(path, flags.open, *builtins, progress, &from);
  if (!opened.ok()) return opened.status();
  ExecutorOptions options;
  options.threads = static_cast<int>(flags.threads);
  options.random_seed = 0;  // as the interpreter has it
  PerNodeCheck per_node(from.module, std::move(from.functions), flags.tolerance,
                        progress);
  if (flags.per_node) {
    options.observer = [&per_node](const PlanCall& call,
                                   absl::Span<const DLTensor* const> args) {
      return per_node.Observe(call, args);
    };
  }
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(opened->model, options);
  if (!executor.ok()) return Where(executor.status(), path);

  Verdict verdict;
  size_t done = 0;
  const size_t count = flags.reference.empty() ? sets.size() : 1;
  for (; done < count; ++done) {
    absl::StatusOr<Case> expected =
        flags.reference.empty()
            ? ReadCase(sets[done], **executor)
            : MakeCase(flags, (*executor)->inputs(), progress);
    if (!expected.ok()) return expected.status();
    if (flags.reference.empty()) {
      progress->Update(expected->name,
                       static_cast<double>(done) / static_cast<double>(count));
    }
    absl::Status s =
        Check(*expected, flags.tolerance, executor->get(), &verdict);
    if (!s.ok()) return Annotate(s, absl::StrCat(path, ": ", expected->name));
  }
  progress->Clear();
  Print(verdict.TableText());
  if (flags.per_node) {
    Print(absl::StrCat(
        "every call is as the interpreter says: ", per_node.calls(),
        " calls; the largest error, ", HumanNumber(per_node.worst()),
        ", is of ", per_node.worst_call(), "\n"));
  }
  if (flags.json) PrintJson(verdict.Json(done, flags.tolerance));
  absl::Status status = verdict.ToStatus();
  return status.ok() ? status : Annotate(status, path);
}

}  // namespace

absl::Status RunVerify(Args args) {
  FlagSet flags("verify", {"SET|SO|MODEL"},
                "Runs a model and compares its outputs with those of a test "
                "data set, or with what the interpreter\ncomputes of a model "
                "on random inputs. An element a passes for b when |a-b| <= "
                "atol + rtol*|b|, or,\nwith --rtol-max, when |a-b| <= "
                "R*max|b|. NaN equals NaN only.");
  VerifyFlags verify;
  flags.String("test-data", "DIR",
               "ONNX's layout: a test_data_set_N folder, or one with several",
               &verify.test_data);
  flags.String("reference", "MODEL.onnx",
               "instead of --test-data: the model to interpret",
               &verify.reference);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &verify.seed);
  flags.Double("rtol", "R", "relative tolerance", &verify.tolerance.rtol);
  flags.Double("atol", "A", "absolute tolerance", &verify.tolerance.atol);
  flags.Double("rtol-max", "R", "tolerance relative to the tensor's largest",
               &verify.rtol_max);
  flags.Int("threads", "N", "threads to use", 1, 1024, &verify.threads);
  flags.Bool("per-node",
             "of a MODEL: compare each call with the interpreter, and name the "
             "first that is wrong",
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
  if (verify.test_data.empty() == verify.reference.empty()) {
    return UsageError(
        "needs one of --test-data=DIR and --reference=MODEL.onnx (see ingot "
        "help verify)");
  }
  if (verify.per_node && !IsModel(flags.word(0))) {
    return UsageError("--per-node needs a model, not what was made of it");
  }
  if (!verify.values.empty() && !verify.per_node) {
    return UsageError("--values needs --per-node");
  }
  if (verify.rtol_max >= 0) verify.tolerance.rtol_max = verify.rtol_max;
  Progress::Options options;
  options.quiet = verify.quiet;
  Progress progress(options);
  return Verify(flags.word(0), verify, &progress);
}

}  // namespace ingot
