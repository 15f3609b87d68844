#include "tools/ingot/compare_values.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/executor.h"
#include "runtime/tensor_list.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/test_data.h"
#include "tools/ingot/value_dump.h"

namespace ingot {
namespace {

// About how many bytes of values are kept at a time.
constexpr int64_t kBatchBytes = int64_t{256} << 20;

// What was compared so far.
struct Tally {
  int compared = 0;
  std::vector<std::string> left_out;
  double worst = -1;
  std::string worst_value;
};

absl::Status CompareValue(const DumpedValue& dumped, const Tensor& got,
                          const Tolerance& tolerance, Tally* tally) {
  const ModelValue& value = dumped.value;
  absl::StatusOr<Tensor> expected = ReadTensorFile(dumped.file);
  if (!expected.ok()) return expected.status();
  absl::StatusOr<Comparison> c = Compare(got, *expected, tolerance);
  if (!c.ok()) return c.status();
  if (!c->ok()) {
    return absl::DataLossError(
        absl::StrCat("value '", OneLine(value.name), "' of ",
                     OneLine(value.node), " is wrong: ", c->problem, " (",
                     c->mismatches, " of ", c->elements, ")"));
  }
  ++tally->compared;
  if (c->max_abs_err > tally->worst) {
    tally->worst = c->max_abs_err;
    tally->worst_value = value.name;
  }
  return absl::OkStatus();
}

absl::Status CompareBatch(const std::string& path,
                          absl::Span<const DumpedValue> batch,
                          const std::vector<std::string>& inputs,
                          const CompareValuesOptions& options,
                          const Builtins& builtins, Progress* progress,
                          Tally* tally) {
  OpenFlags open = options.open;
  for (const DumpedValue& dumped : batch) {
    open.compile.extra_outputs.push_back(dumped.value.name);
  }
  absl::StatusOr<OpenedModel> opened =
      OpenModel(path, open, builtins, progress);
  if (!opened.ok()) return opened.status();
  ExecutorOptions run;
  run.threads = static_cast<int>(options.open.threads);
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(opened->model, run);
  if (!executor.ok()) return executor.status();
  absl::StatusOr<std::vector<TensorOrList>> values =
      ReadValueFiles(inputs, (*executor)->inputs());
  if (!values.ok()) return values.status();
  if (absl::Status s = SetInputs(*values, executor->get()); !s.ok()) return s;
  if (absl::Status s = (*executor)->Run(); !s.ok()) return s;
  std::map<std::string, size_t> outputs;
  for (size_t i = 0; i < (*executor)->outputs().size(); ++i) {
    outputs.emplace((*executor)->outputs()[i].name, i);
  }
  for (const DumpedValue& dumped : batch) {
    const auto found = outputs.find(dumped.value.name);
    if (found == outputs.end()) {
      tally->left_out.push_back(dumped.value.name);
      continue;
    }
    absl::StatusOr<Tensor> got = (*executor)->GetOutput(found->second);
    if (!got.ok()) return got.status();
    if (absl::Status s = CompareValue(dumped, *got, options.tolerance, tally);
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompareValues(const std::string& path, const std::string& folder,
                           const std::vector<std::string>& inputs,
                           const CompareValuesOptions& options,
                           const Builtins& builtins, Progress* progress) {
  absl::StatusOr<std::vector<ModelValue>> all = builtins.compiler->Values(path);
  if (!all.ok()) return all.status();
  absl::StatusOr<std::vector<DumpedValue>> values =
      FindDumpedValues(*all, folder);
  if (!values.ok()) return values.status();
  Tally tally;
  for (size_t begin = 0; begin < values->size();) {
    size_t end = begin;
    for (int64_t bytes = 0;
         end < values->size() && (end == begin || bytes < kBatchBytes); ++end) {
      bytes += (*values)[end].bytes;
    }
    absl::Status s = CompareBatch(
        path, absl::MakeConstSpan(*values).subspan(begin, end - begin), inputs,
        options, builtins, progress, &tally);
    if (!s.ok()) return s;
    begin = end;
  }
  progress->Clear();
  Print(absl::StrCat(tally.compared, " values are as in ", OneLine(folder),
                     "; the largest error, ", HumanNumber(tally.worst),
                     ", is of ", OneLine(tally.worst_value), "\n"));
  if (!tally.left_out.empty()) {
    Print(absl::StrCat(tally.left_out.size(),
                       " were not compared, since Ingot does not compute them "
                       "as tensors; first ",
                       OneLine(tally.left_out[0]), "\n"));
  }
  return absl::OkStatus();
}

}  // namespace ingot
