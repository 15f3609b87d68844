#include "bench/compare/measure.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "artifact/blob.h"
#include "base/status_macros.h"
#include "bench/compare/process.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/npy.h"

namespace ingot::compare {
namespace {

namespace fs = std::filesystem;

// The numbers of an answer that begins with `word`.
absl::StatusOr<std::vector<double>> NumbersOf(
    const absl::StatusOr<std::string>& answer, absl::string_view word) {
  if (!answer.ok()) return answer.status();
  std::vector<std::string> words = absl::StrSplit(*answer, ' ');
  if (words[0] != word) return absl::UnknownError(*answer);
  std::vector<double> numbers;
  for (size_t i = 1; i < words.size(); ++i) {
    double number = 0;
    if (!absl::SimpleAtod(words[i], &number)) {
      return absl::UnknownError(*answer);
    }
    numbers.push_back(number);
  }
  if (numbers.empty()) return absl::UnknownError(*answer);
  return numbers;
}

absl::StatusOr<std::unique_ptr<Process>> StartPeer(
    std::vector<std::string> args, const std::string& model, const Plan& plan,
    const std::vector<std::string>& inputs, PeerResult* result) {
  args.push_back(model);
  args.push_back(absl::StrCat(plan.threads));
  args.insert(args.end(), inputs.begin(), inputs.end());
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<Process> process,
                         Process::Start(args));
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> load_ms,
                         NumbersOf(process->ReadLine(), "loaded"));
  result->load = load_ms[0] / 1e3;
  return process;
}

absl::Status TakeTurn(const Plan& plan, Process* process, PeerResult* result) {
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<double> median_us,
      NumbersOf(process->Ask(absl::StrCat("run ", plan.seconds)), "ran"));
  result->medians.push_back(median_us[0] / 1e6);
  result->latency =
      *std::min_element(result->medians.begin(), result->medians.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> SaveOutputs(const std::string& folder,
                                                Process* process) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<double> count,
      NumbersOf(process->Ask(absl::StrCat("save ", folder)), "saved"));
  std::vector<Tensor> outputs;
  for (int i = 0; i < static_cast<int>(count[0]); ++i) {
    INGOT_ASSIGN_OR_RETURN(const Blob bytes,
                           Blob::MapFile(absl::StrCat(folder, "/", i, ".npy")));
    INGOT_ASSIGN_OR_RETURN(Tensor output, ParseNpy(bytes.view()));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<double> Difference(const std::vector<Tensor>& a,
                                  const std::vector<Tensor>& b) {
  if (a.size() != b.size()) {
    return absl::UnknownError("the peers differ in the number of outputs");
  }
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(const Comparison comparison,
                           Compare(a[i], b[i], Tolerance()));
    INGOT_ASSIGN_OR_RETURN(const Summary summary, Summarize(b[i]));
    const double size =
        std::max(std::fabs(summary.min), std::fabs(summary.max));
    if (comparison.max_abs_err > 0) {
      largest = std::max(largest, comparison.max_abs_err / size);
    }
  }
  return largest;
}

// The files of the test data's inputs, or outputs: `what`.
std::vector<std::string> TestData(const std::string& folder,
                                  absl::string_view what) {
  std::vector<std::string> files;
  while (true) {
    const std::string path = absl::StrCat(folder, "/test_data_set_0/", what,
                                          "_", files.size(), ".pb");
    if (!fs::exists(path)) return files;
    files.push_back(path);
  }
}

// The inputs as NAME:FILE.npy, in files that it writes below `folder`.
absl::StatusOr<std::vector<std::string>> AsNpy(
    const std::vector<std::string>& inputs, const std::string& folder) {
  std::vector<std::string> converted;
  for (const std::string& input : inputs) {
    INGOT_ASSIGN_OR_RETURN(const Tensor tensor, ReadOnnxTensorFile(input));
    INGOT_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(tensor));
    const std::string path =
        absl::StrCat(folder, "/input_", converted.size(), ".npy");
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    if (!file.flush()) return absl::UnavailableError("cannot write " + path);
    const absl::StatusOr<std::string> name = ReadOnnxValueName(input);
    converted.push_back(absl::StrCat(name.ok() ? *name : "", ":", path));
  }
  return converted;
}

// Compiles and links `model` as the library at `library`.
absl::Status MakeLibrary(const Plan& plan, const std::string& model,
                         const std::string& target, const std::string& library,
                         ModelResult* result) {
  const std::string set = library + ".ingot";
  std::vector<std::string> compile = {plan.ingot, "compile", model, "-o", set};
  if (!target.empty()) compile.push_back(absl::StrCat("--target=", target));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<Process> process,
                         Process::Start(compile));
  INGOT_ASSIGN_OR_RETURN(const Process::Usage compiled, process->Finish());
  INGOT_ASSIGN_OR_RETURN(
      process, Process::Start({plan.ingot, "link", set, "-o", library}));
  INGOT_ASSIGN_OR_RETURN(const Process::Usage linked, process->Finish());
  if (result == nullptr) return absl::OkStatus();
  result->compile = compiled.seconds;
  result->compile_peak_mib = compiled.peak_mib;
  result->link = linked.seconds;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Process>> StartOther(const Plan& plan,
                                                    const OtherPeer& peer,
                                                    const std::string& folder,
                                                    PeerResult* result) {
  std::string model = absl::StrCat(folder, "/", peer.model);
  if (!fs::exists(model)) {
    return absl::NotFoundError(absl::StrCat("there is no ", peer.model));
  }
  if (!peer.target.empty()) {
    const std::string library =
        absl::StrCat(plan.folder, "/", peer.name, ".so");
    INGOT_RETURN_IF_ERROR(
        MakeLibrary(plan, model, peer.target, library, nullptr));
    model = library;
  }
  std::vector<std::string> inputs = TestData(folder, "input");
  if (peer.takes_npy) {
    INGOT_ASSIGN_OR_RETURN(inputs, AsNpy(inputs, plan.folder));
    for (const std::string& output : TestData(folder, "output")) {
      const absl::StatusOr<std::string> name = ReadOnnxValueName(output);
      if (name.ok()) inputs.push_back(absl::StrCat("=", *name));
    }
  }
  return StartPeer(peer.command, model, plan, inputs, result);
}

absl::Status AskForMemory(Process* process, PeerResult* result) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> kib,
                         NumbersOf(process->Ask("memory"), "memory"));
  result->peak_mib = kib[0] / 1024;
  return absl::OkStatus();
}

absl::Status FinishOther(const std::string& folder,
                         const std::vector<Tensor>& expected, Process* process,
                         OtherResult* result) {
  INGOT_RETURN_IF_ERROR(AskForMemory(process, &result->measured));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         SaveOutputs(folder, process));
  INGOT_ASSIGN_OR_RETURN(result->difference, Difference(outputs, expected));
  return absl::OkStatus();
}

// A problem ends what it has to do with; the first one of a peer is kept.
bool Keep(const absl::Status& status, OtherResult* result) {
  if (!status.ok()) result->problem = std::string(status.message());
  return status.ok();
}

absl::Status Measure(const Plan& plan, const std::string& folder,
                     ModelResult* result) {
  const std::string model = folder + "/model.onnx";
  const std::string library =
      absl::StrCat(plan.folder, "/", result->name, ".so");
  INGOT_RETURN_IF_ERROR(MakeLibrary(plan, model, plan.target, library, result));
  const std::vector<std::string> inputs = TestData(folder, "input");
  INGOT_ASSIGN_OR_RETURN(
      const std::unique_ptr<Process> ours,
      StartPeer({plan.ingot_peer}, library, plan, inputs, &result->ingot));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<Process> theirs,
                         StartPeer({plan.onnxruntime_peer}, model, plan, inputs,
                                   &result->onnxruntime));
  result->others.resize(plan.others.size());
  std::vector<std::unique_ptr<Process>> others(plan.others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    auto started =
        StartOther(plan, plan.others[i], folder, &result->others[i].measured);
    if (Keep(started.status(), &result->others[i])) {
      others[i] = *std::move(started);
    }
  }
  for (int round = 0; round < plan.rounds; ++round) {
    INGOT_RETURN_IF_ERROR(TakeTurn(plan, ours.get(), &result->ingot));
    INGOT_RETURN_IF_ERROR(TakeTurn(plan, theirs.get(), &result->onnxruntime));
    for (size_t i = 0; i < others.size(); ++i) {
      OtherResult* const other = &result->others[i];
      if (!other->problem.empty()) continue;
      Keep(TakeTurn(plan, others[i].get(), &other->measured), other);
    }
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> work,
                         NumbersOf(ours->Ask("work"), "work"));
  result->operations = work[0];
  INGOT_RETURN_IF_ERROR(AskForMemory(ours.get(), &result->ingot));
  INGOT_RETURN_IF_ERROR(AskForMemory(theirs.get(), &result->onnxruntime));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> our_outputs,
                         SaveOutputs(plan.folder + "/ours", ours.get()));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> their_outputs,
                         SaveOutputs(plan.folder + "/theirs", theirs.get()));
  INGOT_ASSIGN_OR_RETURN(result->difference,
                         Difference(our_outputs, their_outputs));
  for (size_t i = 0; i < others.size(); ++i) {
    OtherResult* const other = &result->others[i];
    if (!other->problem.empty()) continue;
    Keep(FinishOther(absl::StrCat(plan.folder, "/", plan.others[i].name),
                     their_outputs, others[i].get(), other),
         other);
  }
  return absl::OkStatus();
}

}  // namespace

ModelResult MeasureModel(const Plan& plan, const std::string& folder) {
  ModelResult result;
  result.name = fs::path(folder).filename();
  const absl::Status status = Measure(plan, folder, &result);
  if (!status.ok()) result.problem = std::string(status.message());
  return result;
}

std::vector<std::string> FindModels(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& folder) {
    if (!fs::exists(folder / "model.onnx")) return false;
    folders.push_back(fs::absolute(folder).lexically_normal());
    // "a/" names the same folder as "a".
    if (absl::EndsWith(folders.back(), "/")) folders.back().pop_back();
    return true;
  };
  for (const std::string& path : paths) {
    if (add(path)) continue;
    std::error_code error;
    std::vector<fs::path> below;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      below.push_back(entry.path());
    }
    std::sort(below.begin(), below.end());
    for (const fs::path& folder : below) add(folder);
  }
  return folders;
}

}  // namespace ingot::compare
