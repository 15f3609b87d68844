#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/ingot/bench_inputs.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/describe.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inspector_flags.h"
#include "tools/ingot/machine_limits.h"
#include "tools/ingot/node_times.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"
#include "tools/report/page.h"
#include "tools/report/set_facts.h"

namespace ingot {
namespace {

struct ReportFlags {
  std::string output;
  bool time = false;
  int64_t runs = 20;
  BenchInputs inputs;
  OpenFlags open;
  bool quiet = false;
};

// Runs the set and measures its calls.
absl::StatusOr<report::Measurement> MeasureCalls(const std::string& path,
                                                 const ReportFlags& flags,
                                                 const Builtins& builtins,
                                                 Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(path, flags.open, builtins, progress));
  ExecutorOptions options;
  options.threads = static_cast<int>(flags.open.threads);
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(opened.model, options));
  std::string note;
  INGOT_ASSIGN_OR_RETURN(
      std::vector<TensorOrSequence> inputs,
      GetBenchInputs(flags.inputs, executor->inputs(), &note));
  INGOT_ASSIGN_OR_RETURN(std::vector<NodeTime> times,
                         MeasureNodes(opened.model, inputs, options.threads,
                                      flags.runs, progress));
  report::Measurement measured;
  measured.how = absl::StrCat(
      "Medians of ", flags.runs, " runs with ", flags.open.threads,
      flags.open.threads == 1 ? " thread" : " threads",
      ", a clock around each call",
      flags.inputs.test_data.empty() ? "" : "; inputs are test data",
      note.empty() ? "" : "; ", note, ".");
  const MachineLimits limits = MeasureMachineLimits(options.threads);
  measured.operations = limits.operations;
  measured.bytes = limits.bytes;
  for (NodeTime& time : times) {
    measured.times.push_back({std::move(time.function), std::move(time.source),
                              time.calls, time.seconds});
  }
  return measured;
}

absl::Status Report(const std::string& path, const ReportFlags& flags,
                    const Builtins& builtins, ReadOptions read,
                    Progress* progress) {
  INGOT_RETURN_IF_ERROR(CheckWritable(flags.output));
  INGOT_RETURN_IF_ERROR(CheckIsOther(flags.output, path));
  INGOT_ASSIGN_OR_RETURN(ArtifactSet set,
                         OpenSet(path, SetUse::kWhole, builtins, read));
  std::optional<report::Measurement> measured;
  if (flags.time) {
    INGOT_ASSIGN_OR_RETURN(measured,
                           MeasureCalls(path, flags, builtins, progress));
  }
  progress->Update("describing artifacts", 0);
  INGOT_ASSIGN_OR_RETURN(const auto facts, report::DescribeForReport(
                                               set,
                                               [&](const Artifact& artifact) {
                                                 return Describe(artifact, set,
                                                                 builtins);
                                               },
                                               measured));
  progress->Clear();
  const std::string page = report::MakePage(facts);
  INGOT_RETURN_IF_ERROR(WriteFile(flags.output, page));
  if (!flags.quiet) {
    Print(absl::StrCat(OneLine(flags.output), ": ", HumanSize(page.size()),
                       ", to open in a browser\n"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunReport(Args args, const Backends& backends) {
  FlagSet flags("report", {"SET"},
                "Writes one HTML page about a set, to open in a browser: its "
                "graph, the code of each kernel, memory\nover time, weights, "
                "and where it comes from. The page needs no network and no "
                "other file.");
  ReportFlags report;
  InspectorFlags own;
  ReadOptions read;
  flags.String("o", "OUT.html", "the file to write", &report.output);
  flags.Required();
  flags.Bool("time", "run the model, and show the time of each call",
             &report.time);
  flags.Int("threads", "N", "--time: threads to use", 1, 1024,
            &report.open.threads);
  flags.Int("runs", "N", "--time: how often", 1, 100'000, &report.runs);
  flags.String("test-data", "DIR",
               "--time: inputs from test data, otherwise random",
               &report.inputs.test_data);
  flags.Strings("input-shape", "NAME:SHAPE",
                "--time: the shape of an input whose dimensions are open",
                &report.inputs.shapes);
  own.AddTo(&flags);
  AddAcceptEdits(&flags, &read.accept_edits);
  flags.Bool("quiet", "say nothing when all goes well", &report.quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  INGOT_RETURN_IF_ERROR(AddInspectors(own, &builtins));
  report.open.accept_edits = read.accept_edits;
  Progress::Options options;
  options.quiet = report.quiet;
  Progress progress(options);
  const std::string& path = flags.word(0);
  absl::Status status =
      Report(path, report, builtins, std::move(read), &progress);
  return status.ok() ? status : Where(status, path);
}

}  // namespace ingot
