#include "tools/ingot/tune_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/tuning/logged_parameters.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

constexpr size_t kMostNodes = 60;  // characters in the table

std::string NodesText(const std::string& nodes) {
  const std::string line = OneLine(nodes);
  return line.size() <= kMostNodes ? line : line.substr(0, kMostNodes) + "…";
}

// "cpu.matmul rows=6 vectors=2" for each operation that got other parameters.
std::string ChangesText(const TuneReport::Row& row) {
  std::string text;
  for (size_t o = 0; o < row.kernel.operations.size(); ++o) {
    const TunableOperation& operation = row.kernel.operations[o];
    if (row.tuned.best[o] == operation.estimated) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    operation.schedule_template, " ",
                    row.tuned.best[o].ToString());
  }
  return text;
}

}  // namespace

std::string ReportText(const TuneReport& report) {
  Table table({"KERNEL", ">SHARE", ">POINTS", ">BEFORE", ">AFTER", ">RATIO",
               "PARAMETERS", "NODES"});
  for (const TuneReport::Row& row : report.rows) {
    const std::string changes = ChangesText(row);
    table.Add({OneLine(row.kernel.function),
               absl::StrFormat("%.1f %%",
                               100 * row.kernel.seconds / report.run_seconds),
               absl::StrCat(row.tuned.measured),
               HumanTime(row.tuned.estimated_seconds),
               HumanTime(row.tuned.best_seconds),
               absl::StrFormat("%.2f", row.tuned.ratio()),
               changes.empty() ? "as estimated" : changes,
               NodesText(row.kernel.nodes)});
  }
  return absl::StrCat(table.ToString(), "\n", report.rows.size(), " of ",
                      report.kernels, " kernels with parameters were tuned\n");
}

std::string LatencyText(const LatencyBeside& latency) {
  return absl::StrFormat(
      "the whole model: %s before, %s after, ratio %.3f (medians of %d runs "
      "each, by turns)\n",
      HumanTime(latency.before_seconds), HumanTime(latency.after_seconds),
      latency.ratio, latency.runs);
}

nlohmann::ordered_json ReportJson(const TuneReport& report) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const TuneReport::Row& row : report.rows) {
    nlohmann::ordered_json operations = nlohmann::ordered_json::array();
    for (size_t o = 0; o < row.kernel.operations.size(); ++o) {
      const TunableOperation& operation = row.kernel.operations[o];
      operations.push_back(
          {{"template", operation.schedule_template},
           {"points", operation.points.size()},
           {"estimated", tuning::PointText(operation.estimated)},
           {"best", tuning::PointText(row.tuned.best[o])}});
    }
    kernels.push_back({{"kernel", row.kernel.function},
                       {"nodes", row.kernel.nodes},
                       {"calls", row.kernel.calls},
                       {"share", row.kernel.seconds / report.run_seconds},
                       {"measured", row.tuned.measured},
                       {"before_ms", row.tuned.estimated_seconds * 1e3},
                       {"after_ms", row.tuned.best_seconds * 1e3},
                       {"operations", std::move(operations)}});
  }
  return kernels;
}

}  // namespace ingot
