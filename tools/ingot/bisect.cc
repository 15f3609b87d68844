#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "tools/ingot/bisect_report.h"
#include "tools/ingot/bisect_search.h"
#include "tools/ingot/bisect_subject.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/replace.h"
#include "tools/ingot/test_data.h"
#include "tools/ingot/verdict.h"

namespace ingot {
namespace {

struct BisectFlags {
  CompileFlags compile;
  std::vector<std::string> replacements;
  std::string test_data;
  std::vector<std::string> inputs;
  int64_t seed = 0;
  int64_t threads = 1;
  Tolerance tolerance;
  double rtol_max = -1;  // not given
  bool json = false;
  bool quiet = false;
};

// The cases to look at: the data sets, or one of inputs alone.
absl::StatusOr<std::vector<Case>> ReadCases(const BisectFlags& flags,
                                            const BisectSubject& subject) {
  std::vector<Case> cases;
  if (flags.test_data.empty()) {
    INGOT_ASSIGN_OR_RETURN(InputShapes shapes,
                           ParseInputShapes(flags.compile.input_shapes));
    Case made;
    std::string note;
    INGOT_ASSIGN_OR_RETURN(
        made.inputs, GivenOrRandomInputs(subject.inputs(), flags.inputs, shapes,
                                         flags.seed, &note));
    made.name =
        note.empty() ? "given inputs" : absl::StrCat("seed ", flags.seed);
    cases.push_back(std::move(made));
    return cases;
  }
  INGOT_ASSIGN_OR_RETURN(std::vector<TestDataSet> sets,
                         FindTestData(flags.test_data));
  for (const TestDataSet& set : sets) {
    INGOT_ASSIGN_OR_RETURN(Case read,
                           ReadCase(set, subject.inputs(), subject.outputs()));
    cases.push_back(std::move(read));
  }
  return cases;
}

absl::Status Bisect(const std::string& path, const BisectFlags& flags,
                    const CompilerBackends& backends, Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(
      CompilerBuiltins builtins,
      MakeCompilerBuiltins(backends, flags.compile.backends));
  INGOT_ASSIGN_OR_RETURN(
      std::unique_ptr<BisectSubject> subject,
      BisectSubject::Compile(path, flags.compile, flags.replacements, builtins,
                             static_cast<int>(flags.threads), progress));
  INGOT_ASSIGN_OR_RETURN(std::vector<Case> cases, ReadCases(flags, *subject));
  std::optional<Finding> found;
  std::string in;  // the case
  for (Case& each : cases) {
    in = each.name;
    absl::StatusOr<std::optional<Finding>> finding =
        FindCulprit(std::move(each), flags.tolerance, subject.get(), progress);
    if (!finding.ok()) return Annotate(finding.status(), in);
    found = *std::move(finding);
    if (found.has_value()) break;
  }
  progress->Clear();
  if (!found.has_value()) {
    Print(absl::StrCat("nothing is wrong: all outputs are as they should be (",
                       subject->runs(), " runs of the model)\n"));
  } else {
    Print(
        FindingText(*found, *subject, path, flags.compile, flags.replacements));
    Print(absl::StrCat("Found in ", subject->runs(), " runs of the model, on ",
                       OneLine(in), ".\n"));
  }
  if (flags.json) PrintJson(FindingJson(found, subject->runs()));
  if (!found.has_value()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": ", in, ": ", OneLine(FindingLine(*found))));
}

}  // namespace

absl::Status RunBisect(Args args, const CompilerBackends& backends) {
  FlagSet flags(
      "bisect", {"MODEL"},
      "Finds what makes a model's results wrong: the first wrong node, and the "
      "pass, the loops or the kernel's\ncode that changed it. Runs the model "
      "at "
      "most 20 times for a data set, most of them by the interpreter, which\n"
      "defines what operators mean. The exit status is 1 when something is "
      "wrong. Without --test-data, the\ninterpreter says what is right. "
      "Tolerances are those of ingot verify.");
  BisectFlags bisect;
  flags.String("test-data", "DIR",
               "ONNX's layout: a test_data_set_N folder, or one with several",
               &bisect.test_data);
  flags.Strings("input", "NAME:FILE",
                "without --test-data: an input's values, .npy, .npz or .pb; "
                "random ones otherwise",
                &bisect.inputs);
  flags.Int("seed", "N", "of the random numbers", 0,
            std::numeric_limits<int64_t>::max(), &bisect.seed);
  flags.Double("rtol", "R", "relative tolerance", &bisect.tolerance.rtol);
  flags.Double("atol", "A", "absolute tolerance", &bisect.tolerance.atol);
  flags.Double("rtol-max", "R", "tolerance relative to the tensor's largest",
               &bisect.rtol_max);
  flags.Int("threads", "N", "threads to use", 1, 1024, &bisect.threads);
  bisect.compile.AddTo(&flags);
  AddReplace(&flags, &bisect.replacements);
  flags.Bool("json", "end with one JSON object", &bisect.json);
  flags.Bool("quiet", "show no progress", &bisect.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  if (!bisect.test_data.empty() && !bisect.inputs.empty()) {
    return UsageError("--test-data has inputs of its own, so no --input");
  }
  if (bisect.rtol_max >= 0) bisect.tolerance.rtol_max = bisect.rtol_max;
  Progress::Options options;
  options.quiet = bisect.quiet;
  Progress progress(options);
  return Where(Bisect(flags.word(0), bisect, backends, &progress),
               flags.word(0));
}

}  // namespace ingot
