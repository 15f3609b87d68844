// A model whose results are wrong, and the ways to run it.
#ifndef INGOT_TOOLS_INGOT_BISECT_SUBJECT_H_
#define INGOT_TOOLS_INGOT_BISECT_SUBJECT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/bisect_loops.h"
#include "tools/ingot/call_reference.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/output.h"

namespace ingot {

class BisectSubject {
 public:
  // Compiles the model at `path`, puts a person's code in (Replace), links and
  // loads it. What is given outlives the subject. Errors: those of compiling,
  // replacing and loading.
  static absl::StatusOr<std::unique_ptr<BisectSubject>> Compile(
      absl::string_view path, const CompileFlags& flags,
      const std::vector<std::string>& replacements,
      const CompilerBuiltins& builtins, int threads, Progress* progress);

  absl::Span<const TensorInfo> inputs() const { return executor_->inputs(); }
  absl::Span<const TensorInfo> outputs() const { return executor_->outputs(); }

  // The outputs of the compiled code. `observer` may be null. A run.
  absl::StatusOr<std::vector<TensorOrSequence>> Run(
      absl::Span<const TensorOrSequence> inputs, CallObserver observer);

  // The outputs by the interpreter, of the module as it is after so many of
  // passes(). A run.
  absl::StatusOr<std::vector<TensorOrSequence>> Interpret(
      int passes, absl::Span<const TensorOrSequence> inputs);

  // That module.
  absl::StatusOr<ReadModel> ModuleAfter(int passes) const;

  // How often the model ran so far, all the ways together.
  int runs() const { return runs_; }
  void CountRun() { ++runs_; }

  // The passes over the module that compiling ran, in order.
  const std::vector<std::string>& passes() const { return passes_; }
  // The loops of a function; none for one that a target made code of itself.
  const std::vector<LoopStage>& StagesOf(const std::string& symbol) const;
  // The paths of the artifacts that have the code of a function.
  std::vector<std::string> ArtifactsOf(absl::string_view symbol) const;
  const CallReference& reference() const { return *reference_; }

 private:
  BisectSubject() = default;
  absl::Status Load(int threads, const CompilerBuiltins& builtins);

  std::string path_;
  const CompilerBuiltins* builtins_ = nullptr;
  Progress* progress_ = nullptr;
  CompileOptions options_;
  ArtifactSet set_;
  std::vector<std::string> passes_;
  std::map<std::string, std::vector<LoopStage>> stages_;  // by symbol
  std::unique_ptr<CallReference> reference_;
  LoadedModel loaded_;
  int threads_ = 1;
  std::unique_ptr<GraphExecutor> executor_;  // for what it declares
  int runs_ = 0;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_SUBJECT_H_
