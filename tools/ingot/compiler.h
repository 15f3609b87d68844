// The compiler as the subcommands for sets see it. The program `ingot` has
// none: it starts another program, which has all subcommands and a compiler
// (start_compiler.h).

#ifndef INGOT_TOOLS_INGOT_COMPILER_H_
#define INGOT_TOOLS_INGOT_COMPILER_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"
#include "artifact/inspector.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/compile_flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/output.h"

namespace ingot {

// Compares the calls of runs, one by one, with what they should compute.
class CallCheck {
 public:
  virtual ~CallCheck() = default;

  // For ExecutorOptions::observer. DataLoss names the first call that is wrong,
  // the nodes of the model that it computes, and the first element.
  virtual absl::Status Observe(const PlanCall& call,
                               absl::Span<const DLTensor* const> args) = 0;

  virtual int calls() const = 0;
  // The largest absolute error so far, and where it was.
  virtual double worst() const = 0;
  virtual const std::string& worst_call() const = 0;
};

// A model that was compiled.
struct CompiledModel {
  ArtifactSet set;
  // Makes a check of its calls against the interpreter; null unless the flags
  // had keep_module. It shares the module and outlives this; `progress` must
  // outlive it.
  std::function<std::unique_ptr<CallCheck>(const Tolerance& tolerance,
                                           Progress* progress)>
      check_calls;
};

// A model as the interpreter runs it, which defines the meaning of every
// operator. Nothing of it is optimised or compiled, so it takes its time.
class InterpretedModel {
 public:
  virtual ~InterpretedModel() = default;

  // In the model's order. Dimensions that are not numbers are -1.
  virtual absl::Span<const TensorInfo> inputs() const = 0;
  virtual absl::Span<const TensorInfo> outputs() const = 0;

  // The outputs for these inputs, which are checked.
  virtual absl::StatusOr<std::vector<TensorOrSequence>> Run(
      absl::Span<const TensorOrSequence> inputs) = 0;
};

// A value that a node of a model computes.
struct ComputedValue {
  std::string name;
  std::string node;  // that computes it: operator and name
};

class Compiler {
 public:
  virtual ~Compiler() = default;

  // Runs the subcommand `name`, which is the compiler's own, with the words
  // after it.
  virtual absl::Status RunCommand(absl::string_view name,
                                  absl::Span<const std::string> args) = 0;

  // Whether the file at `path` is a model: by its name, or because a frontend
  // accepts what is in it.
  virtual bool IsModel(absl::string_view path) = 0;

  // Compiles the model in the file at `path`. A bad flag is a UsageError.
  virtual absl::StatusOr<CompiledModel> Compile(absl::string_view path,
                                                const CompileFlags& flags,
                                                Progress* progress) = 0;

  // The features of the processor that LLVM calls `cpu`, of the family of
  // `triple`. InvalidArgument if there is none.
  virtual absl::StatusOr<std::set<std::string>> CpuFeatures(
      absl::string_view triple, absl::string_view cpu) = 0;

  // Adds the inspectors of these programs (CompileFlags::backends). Errors:
  // AlreadyExists; what goes wrong in talking with them.
  virtual absl::Status AddInspectors(absl::Span<const std::string> programs,
                                     InspectorRegistry* inspectors) = 0;

  // LinkCached of loaders/native, with the programs that the user names in
  // $INGOT_CC and $INGOT_LLD.
  virtual absl::StatusOr<std::string> Link(
      const ArtifactSet& set,
      const std::function<void(absl::string_view line)>& report) = 0;

  // An object of LLVM IR in text form, for `triple`; empty: this machine's.
  // InvalidArgument with the line of what is wrong.
  virtual absl::StatusOr<std::string> AssembleLlvm(
      absl::string_view text, const std::string& triple) = 0;

  // The values that the model at `path` computes, in its order.
  virtual absl::StatusOr<std::vector<ComputedValue>> Values(
      absl::string_view path) = 0;

  // Reads the model at `path` for the interpreter.
  virtual absl::StatusOr<std::unique_ptr<InterpretedModel>> ReadToInterpret(
      absl::string_view path, const InputShapes& shapes) = 0;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPILER_H_
