#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/executor/profiler.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/npy.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"
#include "tools/ingot/start_compiler.h"
#include "tools/ingot/value_dump.h"

namespace ingot {
namespace {

struct RunFlags {
  OpenFlags open;
  std::vector<std::string> inputs;
  std::string output_dir;
  bool all_values = false;
  std::string profile;
  int64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

absl::StatusOr<std::vector<TensorOrSequence>> GetInputs(
    const RunFlags& flags, absl::Span<const TensorInfo> declared) {
  INGOT_ASSIGN_OR_RETURN(InputShapes shapes,
                         ParseInputShapes(flags.open.compile.input_shapes));
  std::string note;
  absl::StatusOr<std::vector<TensorOrSequence>> inputs =
      GivenOrRandomInputs(declared, flags.inputs, shapes, flags.seed, &note);
  if (!note.empty()) Print(absl::StrCat(OneLine(note), "\n"));
  return inputs;
}

// A tensor that the run gave: an output, or one of those in a sequence, which
// is named "seq.1", or "seq.1_" beside an output of that name. A sequence
// without any shows up as itself, without a tensor.
struct Output {
  std::string name;
  std::string type;
  Tensor tensor;
};

absl::StatusOr<std::vector<Output>> GetOutputs(const GraphExecutor& executor) {
  std::vector<Output> outputs;
  std::set<std::string> taken;
  for (const TensorInfo& info : executor.outputs()) taken.insert(info.name);
  for (size_t i = 0; i < executor.outputs().size(); ++i) {
    const std::string& name = executor.outputs()[i].name;
    INGOT_ASSIGN_OR_RETURN(TensorOrSequence value, executor.GetOutputValue(i));
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      outputs.push_back({name, tensor->TypeString(), *tensor});
      continue;
    }
    const auto& sequence = std::get<TensorSequence>(value);
    if (sequence.tensors.empty())
      outputs.push_back({name, sequence.TypeString(), {}});
    for (size_t k = 0; k < sequence.tensors.size(); ++k) {
      const Tensor& tensor = sequence.tensors[k];
      std::string own = absl::StrCat(name, ".", k);
      while (!taken.insert(own).second) own += '_';
      outputs.push_back({std::move(own), tensor.TypeString(), tensor});
    }
  }
  return outputs;
}

// All files of a run appear together. `names`: what files are named after.
absl::Status WriteFiles(const RunFlags& flags,
                        const std::vector<std::string>& names,
                        const std::vector<Output>& outputs,
                        const Profiler& profiler) {
  FileBatch batch;
  if (!flags.output_dir.empty()) {
    INGOT_RETURN_IF_ERROR(MakeFolder(flags.output_dir));
    const std::map<std::string, std::string> files = FileNames(names);
    for (const Output& output : outputs) {
      if (!output.tensor.defined()) continue;
      absl::StatusOr<std::string> bytes = FormatNpy(output.tensor);
      if (!bytes.ok()) {
        return Annotate(bytes.status(),
                        absl::StrCat("output '", output.name, "'"));
      }
      const std::string path =
          absl::StrCat(flags.output_dir, "/", files.at(output.name), ".npy");
      INGOT_RETURN_IF_ERROR(batch.Add(path, *bytes));
    }
  }
  if (!flags.profile.empty()) {
    INGOT_RETURN_IF_ERROR(batch.Add(flags.profile, profiler.ToChromeTrace()));
  }
  return batch.Commit();
}

absl::Status PrintOutputs(const std::vector<Output>& outputs, bool json) {
  Table table({"OUTPUT", "TYPE", ">MIN", ">MAX", ">MEAN", "FIRST VALUES"});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Output& output : outputs) {
    if (!output.tensor.defined()) {
      table.Add({output.name, output.type, "", "", "", ""});
      list.push_back({{"name", output.name}, {"type", output.type}});
      continue;
    }
    absl::StatusOr<Summary> summary = Summarize(output.tensor);
    if (!summary.ok()) return Annotate(summary.status(), output.name);
    std::string first = summary->first;
    if (summary->nans > 0) {
      absl::StrAppend(&first, " (", summary->nans, " are NaN)");
    }
    const bool has_numbers = !std::isnan(summary->min);
    const auto text = [has_numbers](double value) {
      return has_numbers ? HumanNumber(value) : "-";
    };
    table.Add({output.name, output.type, text(summary->min), text(summary->max),
               text(summary->mean), std::move(first)});
    const absl::Span<const int64_t> shape = output.tensor.shape();
    list.push_back({{"name", output.name},
                    {"type", output.tensor.dtype().ToString()},
                    {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
                    {"min", summary->min},
                    {"max", summary->max},
                    {"mean", summary->mean},
                    {"nans", summary->nans}});
  }
  Print(table.ToString());
  if (json) PrintJson({{"outputs", std::move(list)}});
  return absl::OkStatus();
}

}  // namespace

absl::Status RunRun(Args args, const Backends& backends) {
  FlagSet flags("run", {"SET|SO|MODEL"},
                "Runs a model once and shows its outputs. Without --input its "
                "inputs are random numbers.");
  RunFlags run;
  flags.Strings("input", "NAME:FILE",
                "an input's values: .npy, .npz or ONNX's .pb", &run.inputs);
  flags.String("output-dir", "DIR",
               "write each output there as .npy, sequences tensor by tensor",
               &run.output_dir);
  flags.Bool("all-values",
             "of a MODEL: make every value that its nodes compute an output",
             &run.all_values);
  flags.Int("threads", "N", "threads to use", 1, 1024, &run.open.threads);
  flags.String("profile", "FILE.json",
               "write where the time went, for ui.perfetto.dev", &run.profile);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &run.seed);
  run.open.AddTo(&flags);
  flags.Bool("json", "end with one JSON object", &run.json);
  flags.Bool("quiet", "show no progress", &run.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  const std::string& path = flags.word(0);
  if (!run.profile.empty()) {
    INGOT_RETURN_IF_ERROR(CheckWritable(run.profile));
  }
  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  std::vector<std::string> names;
  if (run.all_values) {
    if (!IsModel(path, builtins)) {
      return UsageError("--all-values needs a model, not what was made of it");
    }
    if (builtins.compiler == nullptr) {
      return NeedsCompiler(absl::StrCat(path, ": is a model to compile"));
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<ComputedValue> values,
                           builtins.compiler->Values(path));
    for (const ComputedValue& value : values) names.push_back(value.name);
    run.open.compile.extra_outputs = names;
  }
  Progress::Options progress_options;
  progress_options.quiet = run.quiet;
  Progress progress(progress_options);
  INGOT_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(path, run.open, builtins, &progress));

  Profiler profiler;
  ExecutorOptions options;
  options.threads = static_cast<int>(run.open.threads);
  options.random_seed = static_cast<uint64_t>(run.seed);
  if (!run.profile.empty()) options.profiler = &profiler;
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(opened.model, options);
  if (!executor.ok()) return Where(executor.status(), path);
  absl::StatusOr<std::vector<TensorOrSequence>> inputs =
      GetInputs(run, (*executor)->inputs());
  if (!inputs.ok()) return Where(inputs.status(), path);
  if (absl::Status s = SetInputs(*inputs, executor->get()); !s.ok()) {
    return Where(s, path);
  }
  if (absl::Status s = (*executor)->Run(); !s.ok()) return Where(s, path);
  absl::StatusOr<std::vector<Output>> outputs = GetOutputs(**executor);
  if (!outputs.ok()) return Where(outputs.status(), path);
  // An input may be an output, which no node computes.
  for (const Output& output : *outputs) names.push_back(output.name);
  INGOT_RETURN_IF_ERROR(WriteFiles(run, names, *outputs, profiler));
  return PrintOutputs(*outputs, run.json);
}

}  // namespace ingot
