// The results of a tuning, for a person and for programs.
#ifndef INGOT_TOOLS_INGOT_TUNE_REPORT_H_
#define INGOT_TOOLS_INGOT_TUNE_REPORT_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/ingot/tune_kernel.h"
#include "tools/ingot/tune_subject.h"

namespace ingot {

// Latencies of the whole model, by turns.
struct LatencyBeside {
  double before_seconds = 0;  // medians
  double after_seconds = 0;
  double ratio = 1;  // the median of those of neighbouring runs
  int64_t runs = 0;
};

struct TuneReport {
  struct Row {
    TunableKernel kernel;
    TunedKernel tuned;
  };
  std::vector<Row> rows;
  double run_seconds = 0;  // of all calls of a run
  size_t kernels = 0;      // with parameters, measured or not
};

std::string ReportText(const TuneReport& report);
// The line on the whole model.
std::string LatencyText(const LatencyBeside& latency);
nlohmann::ordered_json ReportJson(const TuneReport& report);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_TUNE_REPORT_H_
