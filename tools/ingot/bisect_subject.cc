#include "tools/ingot/bisect_subject.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/assemble.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "loaders/native/linker.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/replace.h"

namespace ingot {
namespace {

// Whether `word` is in `text` and not only the beginning of a longer one.
bool HasWord(absl::string_view text, absl::string_view word) {
  for (size_t at = text.find(word); at != absl::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (end == text.size()) return true;
    if (!absl::ascii_isalnum(text[end]) && text[end] != '_') return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BisectSubject>> BisectSubject::Compile(
    absl::string_view path, const CompileFlags& flags,
    const std::vector<std::string>& replacements,
    const CompilerBuiltins& builtins, int threads, Progress* progress) {
  std::unique_ptr<BisectSubject> subject(new BisectSubject);
  BisectSubject& s = *subject;
  s.path_ = std::string(path);
  s.builtins_ = &builtins;
  s.progress_ = progress;
  std::vector<TargetVariant> variants;
  INGOT_ASSIGN_OR_RETURN(s.options_,
                         MakeCompileOptions(flags, builtins, &variants));
  if (variants.size() > 1) {
    return UsageError("a bisection is of one variant: give its --target alone");
  }
  CompileOptions options = s.options_;
  std::map<std::string, std::string> functions;
  options.on_progress = [progress](absl::string_view what, double fraction) {
    progress->Update(what, fraction);
  };
  options.on_function = [&functions](absl::string_view symbol,
                                     absl::string_view function) {
    functions.emplace(symbol, function);
  };
  options.on_loops = [&s](absl::string_view stage, const tir::PrimFunc& loops) {
    s.stages_[loops.name].push_back({std::string(stage), loops});
  };
  options.should_run_pass = [&s](absl::string_view pass) {
    s.passes_.emplace_back(pass);
    return true;
  };
  // Warnings were given once.
  s.options_.on_warning = nullptr;
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, builtins.frontends, options));
  INGOT_ASSIGN_OR_RETURN(s.set_,
                         CompileModule(&model.module, model.name, model.sha256,
                                       builtins.targets, options));
  INGOT_ASSIGN_OR_RETURN(
      s.set_, Replace(std::move(s.set_), replacements, codegen::AssembleLlvm));
  s.reference_ = std::make_unique<CallReference>(
      std::make_shared<const relay::Module>(std::move(model.module)),
      std::move(functions));
  INGOT_RETURN_IF_ERROR(s.Load(threads, builtins));
  return subject;
}

absl::Status BisectSubject::Load(int threads,
                                 const CompilerBuiltins& builtins) {
  threads_ = threads;
  LoadOptions load;
  load.threads = threads;
  load.link = [this](const ArtifactSet& set) {
    progress_->Update("linking", 0);
    return LinkCached(set, [](absl::string_view) {}, UsersLinkOptions());
  };
  INGOT_ASSIGN_OR_RETURN(loaded_,
                         ingot::Load(set_, builtins.sets.loaders, load));
  progress_->Clear();
  INGOT_ASSIGN_OR_RETURN(executor_, CreateExecutor(loaded_));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorOrSequence>> BisectSubject::Run(
    absl::Span<const TensorOrSequence> inputs, CallObserver observer) {
  CountRun();
  ExecutorOptions options;
  options.threads = threads_;
  options.random_seed = 0;  // as the interpreter has it
  options.observer = std::move(observer);
  // A new one, whose outputs no later run changes.
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(loaded_, options));
  INGOT_RETURN_IF_ERROR(SetInputs(inputs, executor.get()));
  INGOT_RETURN_IF_ERROR(executor->Run());
  std::vector<TensorOrSequence> outputs;
  for (size_t i = 0; i < executor->outputs().size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(TensorOrSequence value, executor->GetOutputValue(i));
    outputs.push_back(std::move(value));
  }
  return outputs;
}

absl::StatusOr<std::vector<TensorOrSequence>> BisectSubject::Interpret(
    int passes, absl::Span<const TensorOrSequence> inputs) {
  CountRun();
  progress_->Update(absl::StrCat("interpreting the model after ", passes,
                                 " of ", passes_.size(), " passes"),
                    0.5);
  INGOT_ASSIGN_OR_RETURN(const ReadModel model, ModuleAfter(passes));
  return relay::EvaluateFunctionOnSequences(model.module, *model.module.main(),
                                            inputs);
}

absl::StatusOr<ReadModel> BisectSubject::ModuleAfter(int passes) const {
  CompileOptions options = options_;
  int asked = 0;
  options.should_run_pass = [&asked, passes](absl::string_view) {
    return asked++ < passes;
  };
  return ReadOptimizedModel(path_, builtins_->frontends, builtins_->targets,
                            options);
}

const std::vector<LoopStage>& BisectSubject::StagesOf(
    const std::string& symbol) const {
  static const auto* const kNone = new std::vector<LoopStage>;
  const auto found = stages_.find(symbol);
  return found == stages_.end() ? *kNone : found->second;
}

std::vector<std::string> BisectSubject::ArtifactsOf(
    absl::string_view symbol) const {
  std::vector<std::string> named, exporting, mentioning;
  const std::string exported = absl::StrCat("__tvm_ffi_", symbol);
  for (const Artifact& artifact : set_.artifacts()) {
    if (artifact.loader == kMetadataLoader ||
        artifact.loader == kConstantsLoader) {
      continue;
    }
    const std::string path = ArtifactPath(artifact);
    const absl::string_view bytes = artifact.content.view();
    if (HasWord(artifact.file_name, symbol)) named.push_back(path);
    if (HasWord(bytes, exported)) exporting.push_back(path);
    if (HasWord(bytes, symbol)) mentioning.push_back(path);
  }
  if (!named.empty()) return named;
  return exporting.empty() ? mentioning : exporting;
}

}  // namespace ingot
