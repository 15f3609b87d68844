#include "tests/filetests/codegen_category.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/c/codegen.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/verifier.h"

namespace ingot::filetest {
namespace {

// The part after the prelude: the kernels, or the exported functions.
std::string WithoutPrelude(const std::string& text, bool wrapper) {
  const std::string end =
      "return (char*)t->data + t->byte_offset;\n}\n#endif\n";
  const std::string packed = "\n#ifndef INGOT_FREESTANDING\n";
  const size_t kernels = text.find(end);
  const size_t exported = text.rfind(packed);
  if (kernels == std::string::npos || exported == std::string::npos) {
    return text;
  }
  const size_t start = kernels + end.size();
  if (!wrapper) return text.substr(start, exported - start);
  const size_t first = exported + packed.size();
  return text.substr(first, text.rfind("\n#endif") - first);
}

// The functions of a module that `keep` wants, without what numbers attributes.
template <typename Keep>
std::string Functions(const std::string& module, const Keep& keep) {
  std::string out;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(module, '\n')) {
    if (absl::StartsWith(line, "define")) {
      inside = keep(line);
      line = line.substr(0, line.find(" #"));
      if (inside) absl::StrAppend(&out, line, " {\n");
      continue;
    }
    if (inside) absl::StrAppend(&out, line, "\n");
    if (line == "}") inside = false;
  }
  return out;
}

// The instructions and labels of the kernels in assembly, without directives
// and the exported functions.
std::string Instructions(const std::string& assembly) {
  std::string out;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(assembly, '\n')) {
    if (line.empty() || absl::StartsWith(line, "\t.") ||
        absl::StartsWith(line, "#")) {
      continue;
    }
    const bool label = line[0] != '\t';
    if (label && line[0] != '.') {
      inside = !absl::StartsWith(line, "__tvm_ffi_") &&
               !absl::StartsWith(line, "ingot.") &&
               !absl::StartsWith(line, "__ingot");
    }
    line = line.substr(0, line.find(" #"));
    if (inside && !absl::StartsWith(line, ".Lfunc_end")) {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

absl::StatusOr<std::string> Codegen(absl::string_view input,
                                    absl::Span<const std::string> args) {
  absl::StatusOr<tir::PrimFunc> func = tir::Parse(input);
  if (!func.ok()) return func.status();
  absl::Status verified = tir::Verify(*func);
  if (!verified.ok()) return verified;
  absl::StatusOr<Target> target = ParseTarget(absl::StrJoin(args, " "));
  if (!target.ok()) return target.status();
  const std::string show = target->Option("show", "kernels");
  target->options.erase("show");
  if (target->kind == "c") {
    absl::StatusOr<std::string> text =
        GenerateC(*target, {*func}, CodegenOptions());
    if (!text.ok()) return text.status();
    if (show == "all") return *text;
    return WithoutPrelude(*text, show == "wrapper");
  }
  func = tir::RunPasses(*func, {"vectorize_loops"});
  if (!func.ok()) return func.status();
  absl::StatusOr<codegen::Machine> machine = codegen::ResolveMachine(*target);
  if (!machine.ok()) return machine.status();
  absl::StatusOr<std::string> text =
      codegen::CompileWithLlvm({*func}, *machine,
                               show == "asm" ? codegen::LlvmOutput::kAssembly
                                             : codegen::LlvmOutput::kRawText);
  if (!text.ok()) return text.status();
  if (show == "asm") return Instructions(*text);
  return Functions(*text, [&](absl::string_view line) {
    const bool is_wrapper = absl::StrContains(line, "@__tvm_ffi_");
    const bool is_helper = absl::StrContains(line, "@ingot.");
    return !is_helper && is_wrapper == (show == "wrapper");
  });
}

}  // namespace

void AddCodegenCategories(Categories* categories) {
  (*categories)["codegen"] = Codegen;
}

}  // namespace ingot::filetest
