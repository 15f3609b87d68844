#include "tools/ingot/test_data.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Paths below `folder` by the number between `prefix` and `suffix`.
absl::StatusOr<std::map<int, std::string>> Numbered(absl::string_view folder,
                                                    absl::string_view prefix,
                                                    absl::string_view suffix) {
  std::map<int, std::string> found;
  std::error_code error;
  fs::directory_iterator it(std::string(folder), error), end;
  for (; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    absl::string_view number = file;
    int n = 0;
    if (absl::ConsumePrefix(&number, prefix) &&
        absl::ConsumeSuffix(&number, suffix) && !number.empty() &&
        absl::ascii_isdigit(number[0]) && absl::SimpleAtoi(number, &n)) {
      found[n] = it->path().string();
    }
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> NumberedFiles(
    absl::string_view folder, absl::string_view prefix) {
  INGOT_ASSIGN_OR_RETURN(auto found, Numbered(folder, prefix, ".pb"));
  std::vector<std::string> files;
  for (auto& [number, path] : found) {
    if (number != static_cast<int>(files.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder, ": has ", prefix, number, ".pb but no ", prefix,
                       files.size(), ".pb"));
    }
    files.push_back(std::move(path));
  }
  return files;
}

absl::StatusOr<TestDataSet> ReadSet(const std::string& folder) {
  TestDataSet set;
  set.name = fs::path(folder).filename().string();
  INGOT_ASSIGN_OR_RETURN(set.inputs, NumberedFiles(folder, "input_"));
  INGOT_ASSIGN_OR_RETURN(set.outputs, NumberedFiles(folder, "output_"));
  if (set.inputs.empty() && set.outputs.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder, ": has neither test_data_set_* folders nor input_*.pb"));
  }
  return set;
}

}  // namespace

absl::StatusOr<std::vector<TestDataSet>> FindTestData(
    absl::string_view folder) {
  std::vector<TestDataSet> sets;
  INGOT_ASSIGN_OR_RETURN(auto found, Numbered(folder, "test_data_set_", ""));
  if (found.empty()) found.emplace(0, absl::StripSuffix(folder, "/"));
  for (const auto& [number, path] : found) {
    INGOT_ASSIGN_OR_RETURN(TestDataSet set, ReadSet(path));
    sets.push_back(std::move(set));
  }
  return sets;
}

absl::StatusOr<Tensor> ReadTensorProtoFile(absl::string_view path,
                                           bool* is_text) {
  absl::StatusOr<Tensor> tensor = ReadOnnxTensorFile(path, is_text);
  if (!tensor.ok()) return Where(tensor.status(), path);
  return tensor;
}

absl::StatusOr<TensorOrSequence> ReadValueFile(absl::string_view path,
                                               const TensorInfo& declared,
                                               bool* is_text) {
  if (!declared.is_sequence) {
    INGOT_ASSIGN_OR_RETURN(const Tensor tensor,
                           ReadTensorProtoFile(path, is_text));
    return AsDeclared(tensor, declared.dtype);
  }
  if (is_text != nullptr) *is_text = false;
  absl::StatusOr<TensorSequence> sequence =
      ReadOnnxSequenceFile(path, declared.dtype);
  if (!sequence.ok()) return Where(sequence.status(), path);
  return TensorOrSequence(*std::move(sequence));
}

absl::StatusOr<std::vector<TensorOrSequence>> ReadValueFiles(
    const std::vector<std::string>& paths,
    absl::Span<const TensorInfo> declared, std::set<size_t>* texts) {
  std::vector<TensorOrSequence> values;
  for (size_t i = 0; i < paths.size(); ++i) {
    bool is_text = false;
    INGOT_ASSIGN_OR_RETURN(
        TensorOrSequence value,
        ReadValueFile(paths[i],
                      i < declared.size() ? declared[i] : TensorInfo(),
                      &is_text));
    if (is_text && texts != nullptr) texts->insert(i);
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace ingot
