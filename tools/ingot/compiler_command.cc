#include "tools/ingot/compiler_command.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "backends/external/connection.h"
#include "backends/external/inspectors.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/assemble.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/out_of_memory.h"
#include "compiler/frontends/read_model.h"
#include "compiler/target/target.h"
#include "loaders/native/linker.h"
#include "tools/ingot/command.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/reference.h"

namespace ingot {
namespace {

struct Command {
  absl::string_view name;
  absl::Status (*run)(Args args, const CompilerBackends& backends);
};

constexpr Command kCommands[] = {
    {"bisect", RunBisect},   {"compile", RunCompile}, {"explain", RunExplain},
    {"export", RunExport},   {"link", RunLink},       {"opt", RunOpt},
    {"targets", RunTargets}, {"tune", RunTune},
};

class CompilerOfThisProgram final : public Compiler {
 public:
  explicit CompilerOfThisProgram(const CompilerBackends& backends)
      : backends_(backends) {
    backends_.compiler = this;
  }

  absl::Status RunCommand(absl::string_view name, Args args) override {
    for (const Command& command : kCommands) {
      if (command.name == name) return command.run(args, backends_);
    }
    if (name == "report") {
      return RunReport(args, {backends_.register_loaders,
                              backends_.register_inspectors, this});
    }
    return absl::InternalError(
        absl::StrCat("the compiler has no command '", name, "'"));
  }

  bool IsModel(absl::string_view path) override {
    const absl::StatusOr<FrontendRegistry> frontends = Frontends();
    if (!frontends.ok()) return false;
    if (frontends->HasSuffix(path)) return true;
    const absl::StatusOr<Blob> bytes = Blob::MapFile(path);
    return bytes.ok() && frontends->Find(bytes->view()).ok();
  }

  absl::StatusOr<CompiledModel> Compile(absl::string_view path,
                                        const CompileFlags& flags,
                                        Progress* progress) override {
    INGOT_ASSIGN_OR_RETURN(CompilerBuiltins builtins,
                           MakeCompilerBuiltins(backends_, flags.backends));
    return CompileModel(path, flags, builtins, progress);
  }

  absl::StatusOr<std::set<std::string>> CpuFeatures(
      absl::string_view triple, absl::string_view cpu) override {
    Target target;
    target.kind = "llvm";
    target.options = {{"mtriple", std::string(triple)},
                      {"mcpu", std::string(cpu)}};
    INGOT_ASSIGN_OR_RETURN(const codegen::Machine machine,
                           codegen::ResolveMachine(target));
    return std::set<std::string>(machine.features.begin(),
                                 machine.features.end());
  }

  absl::Status AddInspectors(absl::Span<const std::string> programs,
                             InspectorRegistry* inspectors) override {
    for (const std::string& where : programs) {
      INGOT_ASSIGN_OR_RETURN(auto connection,
                             external::Connection::Open(where));
      INGOT_RETURN_IF_ERROR(
          external::RegisterInspectors(std::move(connection), inspectors));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Link(
      const ArtifactSet& set,
      const std::function<void(absl::string_view line)>& report) override {
    return LinkCached(set, report, UsersLinkOptions());
  }

  absl::StatusOr<std::string> AssembleLlvm(absl::string_view text,
                                           const std::string& triple) override {
    return codegen::AssembleLlvm(text, triple);
  }

  absl::StatusOr<std::vector<ComputedValue>> Values(
      absl::string_view path) override {
    INGOT_ASSIGN_OR_RETURN(FrontendRegistry frontends, Frontends());
    INGOT_ASSIGN_OR_RETURN(std::vector<ModelValue> found,
                           ListModelValues(path, frontends));
    std::vector<ComputedValue> values;
    for (ModelValue& value : found) {
      values.push_back({std::move(value.name), std::move(value.node)});
    }
    return values;
  }

  absl::StatusOr<std::unique_ptr<InterpretedModel>> ReadToInterpret(
      absl::string_view path, const InputShapes& shapes) override {
    INGOT_ASSIGN_OR_RETURN(FrontendRegistry frontends, Frontends());
    return ReadReference(path, frontends, shapes);
  }

 private:
  absl::StatusOr<FrontendRegistry> Frontends() const {
    FrontendRegistry frontends;
    INGOT_RETURN_IF_ERROR(backends_.register_frontends(&frontends));
    return frontends;
  }

  CompilerBackends backends_;
};

}  // namespace

int CompilerCommandMain(int argc, char** argv,
                        const CompilerBackends& backends) {
  codegen::ThrowWithoutMemory();
  CompilerOfThisProgram compiler(backends);
  return CommandMain(
      argc, argv,
      {backends.register_loaders, backends.register_inspectors, &compiler});
}

}  // namespace ingot
