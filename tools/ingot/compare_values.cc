#include "tools/ingot/compare_values.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/test_data.h"
#include "tools/ingot/value_dump.h"

namespace ingot {
namespace {

// About how many bytes of values are kept at a time.
constexpr int64_t kBatchBytes = int64_t{256} << 20;

absl::Status CompareValue(const DumpedValue& dumped, const Tensor& got,
                          const Tolerance& tolerance, ComparedValues* tally) {
  const ComputedValue& value = dumped.value;
  INGOT_ASSIGN_OR_RETURN(Tensor expected, ReadTensorFile(dumped.file));
  INGOT_ASSIGN_OR_RETURN(Comparison c, Compare(got, expected, tolerance));
  if (!c.ok()) {
    return absl::DataLossError(absl::StrCat(
        "value '", OneLine(value.name), "' of ", OneLine(value.node),
        " is wrong: ", c.problem, " (", c.mismatches, " of ", c.elements, ")"));
  }
  ++tally->count;
  if (c.max_abs_err > tally->max_abs_err) {
    tally->max_abs_err = c.max_abs_err;
    tally->worst = value.name;
  }
  return absl::OkStatus();
}

absl::Status CompareBatch(const std::string& path,
                          absl::Span<const DumpedValue> batch,
                          const std::vector<std::string>& inputs,
                          const CompareValuesOptions& options,
                          const Builtins& builtins, Progress* progress,
                          ComparedValues* tally) {
  OpenFlags open = options.open;
  for (const DumpedValue& dumped : batch) {
    open.compile.extra_outputs.push_back(dumped.value.name);
  }
  INGOT_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(path, open, builtins, progress));
  ExecutorOptions run;
  run.threads = static_cast<int>(options.open.threads);
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(opened.model, run));
  INGOT_ASSIGN_OR_RETURN(std::vector<TensorOrSequence> values,
                         ReadValueFiles(inputs, executor->inputs()));
  INGOT_RETURN_IF_ERROR(SetInputs(values, executor.get()));
  INGOT_RETURN_IF_ERROR(executor->Run());
  std::map<std::string, size_t> outputs;
  for (size_t i = 0; i < executor->outputs().size(); ++i) {
    outputs.emplace(executor->outputs()[i].name, i);
  }
  for (const DumpedValue& dumped : batch) {
    const auto found = outputs.find(dumped.value.name);
    if (found == outputs.end()) {
      tally->left_out.push_back(dumped.value.name);
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(Tensor got, executor->GetOutput(found->second));
    INGOT_RETURN_IF_ERROR(CompareValue(dumped, got, options.tolerance, tally));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ComparedValues> CompareValues(
    const std::string& path, const std::string& folder,
    const std::vector<std::string>& inputs, const CompareValuesOptions& options,
    const Builtins& builtins, Progress* progress) {
  INGOT_ASSIGN_OR_RETURN(std::vector<ComputedValue> all,
                         builtins.compiler->Values(path));
  INGOT_ASSIGN_OR_RETURN(std::vector<DumpedValue> values,
                         FindDumpedValues(all, folder));
  ComparedValues tally;
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin;
    for (int64_t bytes = 0;
         end < values.size() && (end == begin || bytes < kBatchBytes); ++end) {
      bytes += values[end].bytes;
    }
    INGOT_RETURN_IF_ERROR(CompareBatch(
        path, absl::MakeConstSpan(values).subspan(begin, end - begin), inputs,
        options, builtins, progress, &tally));
    begin = end;
  }
  progress->Clear();
  Print(absl::StrCat(tally.count, " values are as in ", OneLine(folder),
                     "; the largest error, ", HumanNumber(tally.max_abs_err),
                     ", is of ", OneLine(tally.worst), "\n"));
  if (!tally.left_out.empty()) {
    Print(absl::StrCat(tally.left_out.size(),
                       " were not compared, since Ingot does not compute them "
                       "as tensors; first ",
                       OneLine(tally.left_out[0]), "\n"));
  }
  return tally;
}

}  // namespace ingot
