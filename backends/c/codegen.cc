#include "backends/c/codegen.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "artifact/compile_request.h"
#include "backends/c/exports.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_prelude.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/captures.h"
#include "compiler/codegen/lane_loops.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/reproducible.h"
#include "compiler/codegen/signature.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/visitor.h"

namespace ingot {
namespace {

using tir::PrimFunc;

// Names that a buffer or a variable must not take: those of the prelude and of
// the C library's functions in use, and C's own words.
const std::set<std::string>& Reserved() {
  static const auto* reserved = [] {
    auto* names = new std::set<std::string>{
        "Any",     "HostApi",   "Tensor",   "args",     "begin",     "captured",
        "context", "data_of",   "end",      "error",    "fail",      "has_type",
        "result",  "num_args",  "parallel", "self",     "tensor",    "auto",
        "break",   "case",      "char",     "const",    "continue",  "default",
        "do",      "double",    "else",     "enum",     "extern",    "float",
        "for",     "goto",      "if",       "inline",   "int",       "long",
        "return",  "register",  "restrict", "short",    "signed",    "sizeof",
        "static",  "struct",    "switch",   "typedef",  "union",     "unsigned",
        "void",    "volatile",  "while",    "asm",      "linux",     "unix",
        "main",    "NULL",      "NAN",      "INFINITY", "fabs",      "fabsf",
        "rint",    "rintf",     "memcpy",   "index",    "y0",        "y1",
        "j0",      "j1",        "gamma",    "signbit",  "remainder", "malloc",
        "free",    "last_error"};
#define INGOT_C_NAME(Name, text, arity) \
  names->insert(text);                  \
  names->insert(text "f");
    INGOT_TIR_INTRINSICS(INGOT_C_NAME)
#undef INGOT_C_NAME
    return names;
  }();
  return *reserved;
}

bool IsIdentifier(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return false;
    }
  }
  return true;
}

// Text from a model, harmless inside of a comment.
std::string InComment(absl::string_view text) {
  std::string out;
  for (char c : absl::CHexEscape(text)) {
    if (c == '/' && !out.empty() && out.back() == '*') out += ' ';
    out += c;
  }
  return out;
}

class CWriter : public codegen::CPrinter {
 public:
  // `main` is the model among the functions, or null.
  CWriter(const MainFunction* main, std::string prefix,
          const MachineModel& machine)
      : main_(main),
        prefix_(std::move(prefix)),
        helper_options_{machine.reproducible, machine.vector_bits},
        exports_(Reserved()) {
    if (machine.vector_bits > 0) UseVectorTypes(machine.vector_bits);
    if (helper_options_.fused) RoundOnce();
  }

  // Appends the functions of one kernel.
  absl::Status Add(const PrimFunc& func) {
    if (!IsIdentifier(func.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", absl::CHexEscape(func.name),
                       ": its name is no C identifier"));
    }
    INGOT_ASSIGN_OR_RETURN(codegen::Signature signature,
                           codegen::MakeSignature(func));
    parallel_count_ = 0;
    std::set<std::string> reserved = Reserved();
    reserved.insert(functions_.begin(), functions_.end());
    for (const tir::CallExtern* call : tir::FindExternCalls(func.body)) {
      reserved.insert(call->symbol);
    }
    ResetNames(reserved);
    name_ = Declare(func.name);  // unlike any function of the C library
    functions_.insert(name_);
    // Bodies of parallel loops are printed, before the function, once they are
    // met: `text_` is the function, `before_` what must precede it.
    const std::string file = std::move(text_);
    text_.clear();
    before_.clear();
    std::vector<std::string> params;
    for (size_t p = 0; p < func.params.size(); ++p) {
      const tir::BufferNode& buffer = *func.params[p];
      if (static_cast<int>(p) < func.num_inputs()) MarkReadOnly(&buffer);
      params.push_back(absl::StrCat(IsReadOnly(&buffer) ? "const " : "",
                                    MemoryType(buffer.dtype), "* restrict ",
                                    DeclareBuffer(&buffer)));
    }
    for (const codegen::DimBinding& symbol : signature.symbols) {
      params.push_back(absl::StrCat("int64_t ", DeclareVar(symbol.var)));
    }
    // Inlined into the model, a kernel would be optimised together with others
    // and might round differently.
    text_ += ExportPrinter::Head(
        absl::StrCat(main_ == nullptr ? "" : "INGOT_NOINLINE ", "static int ",
                     name_),
        params);
    Indent();
    MarkUnused(func, signature);
    codegen::CPrinter::Print(func.body);
    Line("return 0;");
    Outdent();
    Line("}");
    if (main_ != nullptr && main_->function == func.name) {
      exports_.PrintMain(func, signature, name_, *main_, prefix_);
    } else {
      exports_.PrintKernel(func, signature, name_);
    }
    text_ = absl::StrCat(file, "\n", Comments(func), before_, text_);
    if (status().ok()) return status();
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", func.name, ": ", status().message()));
  }

  // The whole file after its first line.
  std::string File() const {
    std::set<std::string> used = helpers();
    used.insert(exports_.helpers().begin(), exports_.helpers().end());
    return absl::StrCat(
        codegen::kCPrelude, uses_parallel_ ? codegen::kCParallel : "",
        codegen::HelperSource(used, helper_options_), Prototypes(functions_),
        text_, exports_.plain(), "\n#ifndef INGOT_FREESTANDING\n",
        main_ == nullptr ? "" : "#include <stdlib.h>\n", exports_.packed(),
        "\n#endif\n");
  }

 protected:
  // The body becomes a function of a structure with what it captures.
  void PrintParallel(const tir::For& loop) override {
    if (in_parallel_) return codegen::CPrinter::PrintParallel(loop);
    uses_parallel_ = true;
    const codegen::Captures captures = codegen::FindCaptures(loop);
    const std::string name =
        absl::StrCat(name_, "_parallel_", parallel_count_++);
    std::vector<std::string> fields, values;
    const auto capture = [&](const std::string& type,
                             const std::string& field) {
      fields.push_back(absl::StrCat(type, " ", field));
      values.push_back(field);
    };
    for (const tir::BufferNode* buffer : captures.buffers) {
      capture(absl::StrCat(IsReadOnly(buffer) ? "const " : "",
                           MemoryType(buffer->dtype), "*"),
              NameOf(buffer));
    }
    for (const tir::Var* var : captures.vars) {
      if (var->dtype.lanes != 1) {
        return Fail("a parallel loop uses a vector from outside of it");
      }
      capture(ValueType(var->dtype), NameOf(var));
    }
    const std::string extent = codegen::CPrinter::Print(loop.extent);

    std::string outer = std::move(text_);
    text_.clear();
    const int outer_indent = TakeIndent(0);
    PrintBody(loop, name, fields, values, captures.buffers.size());
    absl::StrAppend(&before_, text_);
    text_ = std::move(outer);
    TakeIndent(outer_indent);

    Line("{");
    Indent();
    Line(absl::StrCat("struct ", name, " captured = {",
                      values.empty() ? "0" : absl::StrJoin(values, ", "),
                      "};"));
    Line(absl::StrCat("const int error = parallel(", name, ", &captured, ",
                      extent, ");"));
    Line("if (error != 0) return error;");
    Outdent();
    Line("}");
  }

 private:
  // The structure, the function of what it has, and that of a pointer to it.
  // GCC only believes parameters that they are restricted: with local pointers
  // each store would make it read again.
  void PrintBody(const tir::For& loop, const std::string& name,
                 const std::vector<std::string>& fields,
                 const std::vector<std::string>& values, size_t pointers) {
    Line(absl::StrCat("struct ", name, " {"));
    Indent();
    for (const std::string& field : fields) Line(field + ";");
    if (fields.empty()) Line("int nothing;");
    Outdent();
    Line("};");
    Line("");
    std::vector<std::string> params, args;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool pointer = i < pointers;
      const size_t space = fields[i].rfind(' ');
      params.push_back(absl::StrCat(fields[i].substr(0, space),
                                    pointer ? " restrict " : " ", values[i]));
      args.push_back(absl::StrCat("captured->", values[i]));
    }
    for (const char* bound : {"begin", "end"}) {
      params.push_back(absl::StrCat("int64_t ", bound));
      args.push_back(bound);
    }
    text_ += ExportPrinter::Head(
        absl::StrCat("INGOT_NOINLINE static int ", name, "_body"), params);
    Indent();
    in_parallel_ = true;
    PrintLoop(loop, "begin", "end");
    in_parallel_ = false;
    Line("return 0;");
    Outdent();
    Line("}");
    Line("");
    text_ +=
        ExportPrinter::Head(absl::StrCat("static int ", name),
                            {"void* context", "int64_t begin", "int64_t end"});
    Indent();
    Line(values.empty()
             ? "(void)context;"
             : absl::StrCat("const struct ", name, "* captured = context;"));
    Line(absl::StrCat("return ", name, "_body(", absl::StrJoin(args, ", "),
                      ");"));
    Outdent();
    Line("}");
    Line("");
  }

  // Compilers warn of parameters that a function does not use, such as an input
  // that no node of the model reads.
  void MarkUnused(const PrimFunc& func, const codegen::Signature& signature) {
    const codegen::Captures used = codegen::FindCaptures(func.body);
    const auto mark = [&](const auto& all, const auto* one) {
      if (std::find(all.begin(), all.end(), one) != all.end()) return;
      Line(absl::StrCat("(void)", NameOf(one), ";"));
    };
    for (const tir::Buffer& b : func.params) mark(used.buffers, b.get());
    for (const auto& symbol : signature.symbols) mark(used.vars, symbol.var);
  }

  // Describes the kernel in the model's words.
  static std::string Comments(const PrimFunc& func) {
    std::string out;
    for (const auto& [key, value] : func.attrs) {
      absl::StrAppend(&out, "/* ", InComment(key), ": ", InComment(value),
                      " */\n");
    }
    return out;
  }

  const MainFunction* const main_;
  const std::string prefix_;
  const codegen::HelperOptions helper_options_;
  ExportPrinter exports_;
  std::string name_;                 // of its static function
  std::set<std::string> functions_;  // of all kernels so far
  std::string before_;
  bool in_parallel_ = false;
  bool uses_parallel_ = false;
  int parallel_count_ = 0;
};

// With 3, GCC 12 takes up to four times as long over the kernels of a large
// model, for code that is slower: our loops are tiled already.
constexpr char kLevel[] = "2";

// The processor that -mcpu names, as LLVM knows it, which has the names that C
// compilers have; nothing without the option, or for a name that is new to it.
std::optional<codegen::Machine> ProcessorOf(const Target& target) {
  const std::string mcpu = target.Option("mcpu", "");
  if (mcpu.empty()) return std::nullopt;
  Target machine;
  machine.kind = "llvm";
  machine.options["mcpu"] = mcpu;
  // A compiler for another machine is called <its triple>-gcc, or the like.
  constexpr absl::string_view kSystem = "-linux-gnu";
  const std::string cc = target.Option("cc", "");
  const size_t system = absl::string_view(cc).rfind(kSystem);
  if (system != std::string::npos) {
    machine.options["mtriple"] = cc.substr(0, system + kSystem.size());
  }
  absl::StatusOr<codegen::Machine> known = codegen::ResolveMachine(machine);
  if (!known.ok()) return std::nullopt;
  return *std::move(known);
}

// The flags that the first line asks the compiler for.
std::string CompilerFlags(const Target& target) {
  // Arithmetic wraps, a * b + c may be one operation unless the result must be
  // the same everywhere, and neither errno nor floating point exceptions
  // are looked at.
  const bool is_reproducible =
      target.Option(codegen::kReproducibleOption, "0") == "1";
  std::vector<std::string> flags = {
      "-std=c99",
      absl::StrCat("-O", target.Option("O", kLevel)),
      "-fwrapv",
      is_reproducible ? "-ffp-contract=off" : "-ffp-contract=fast",
      "-fno-math-errno",
      "-fno-trapping-math"};
  const std::string mcpu = target.Option("mcpu", "");
  if (!mcpu.empty()) {
    const std::string cc = target.Option("cc", "");
    const bool arm = absl::StrContains(cc, "arm") ||
                     absl::StrContains(cc, "aarch64") ||
                     absl::StrContains(cc, "riscv");
    flags.push_back(absl::StrCat(arm ? "-mcpu=" : "-march=", mcpu));
  }
  // GCC 12 takes arrays below the stack pointer for aligned that are not, and
  // writes them with instructions that fault.
  const std::optional<codegen::Machine> processor = ProcessorOf(target);
  if (processor.has_value() && absl::StartsWith(processor->triple, "x86_64")) {
    flags.push_back("-mno-red-zone");
    // A processor newer than GCC passes for an older one of its family, for
    // which GCC reads again what lies across two cache lines.
    if (mcpu == "native" && codegen::ModelOf(*processor).vector_bits == 512 &&
        !absl::StrContains(target.Option("cc", ""), "clang")) {
      flags.push_back("-mtune=icelake-server");
    }
  }
  const std::string extra = target.Option("cflags", "");
  for (absl::string_view flag :
       absl::StrSplit(extra, ' ', absl::SkipWhitespace())) {
    flags.emplace_back(flag);
  }
  return absl::StrJoin(flags, " ");
}

// Plain loops, which every compiler takes, where the processor is not known.
absl::StatusOr<MachineModel> MachineOf(const Target& target) {
  const std::optional<codegen::Machine> processor = ProcessorOf(target);
  MachineModel model;
  INGOT_ASSIGN_OR_RETURN(model.reproducible, codegen::IsReproducible(target));
  if (!processor.has_value()) {
    model.vector_bits = 0;
    model.vector_registers = 16;
    return model;
  }
  const bool reproducible = model.reproducible;
  model = codegen::ModelOf(*processor);
  model.reproducible = reproducible;
  // GCC takes them apart by way of memory.
  model.wide_vectors = false;
  // C has words for none but x86's products of bytes (c_vector_helpers.cc).
  const bool is_x86 = absl::StartsWith(processor->triple, "x86_64");
  for (auto unit = model.units.begin(); unit != model.units.end();) {
    const bool stays = is_x86 && (*unit == MachineUnit::kInt8Dot ||
                                  *unit == MachineUnit::kInt8Pairs);
    unit = stays ? std::next(unit) : model.units.erase(unit);
  }
  return model;
}

// The loops as they are printed.
absl::StatusOr<PrimFunc> Prepare(PrimFunc kernel, int vector_bits) {
  if (vector_bits > 0) {
    INGOT_ASSIGN_OR_RETURN(
        kernel, tir::RunPasses(
                    kernel, {"vectorize_loops", "unroll_loops", "simplify"}));
    PrimFunc in_lanes = codegen::MakeLaneLoops(kernel, vector_bits);
    if (in_lanes.body != kernel.body) {
      INGOT_ASSIGN_OR_RETURN(
          kernel, tir::RunPasses(in_lanes, {"vectorize_loops", "simplify"}));
    }
  }
  return tir::RunPasses(kernel, {"share_sizes"});
}

// The first line of a C file.
std::string RequestLine(const Target& target) {
  const std::string cc = target.Option("cc", "");
  return absl::StrCat(
      "/* ingot: ", cc.empty() ? "" : absl::StrCat("cc=", cc, " "),
      "cflags=", CompilerFlags(target), " */\n");
}

absl::Status CheckTarget(const Target& target) {
  const std::string level = target.Option("O", kLevel);
  if (level != "0" && level != "1" && level != "2" && level != "3" &&
      level != "s" && level != "fast") {
    return absl::InvalidArgumentError(absl::StrCat(
        "target option -O=", level, ": must be 0, 1, 2, 3, s or fast"));
  }
  INGOT_ASSIGN_OR_RETURN(const bool is_reproducible,
                         codegen::IsReproducible(target));
  if (is_reproducible && (level == "fast" || target.options.count("cflags"))) {
    return absl::InvalidArgumentError(
        absl::StrCat("target ", target.ToString(),
                     ": with -reproducible, flags that may change what is "
                     "rounded (-O=fast, -cflags) cannot be given"));
  }
  // Linking reads the request again, from a file that may be anybody's, and
  // must find nothing in it that it would refuse.
  absl::StatusOr<CompileRequest> request =
      ParseCompileRequest(RequestLine(target));
  if (request.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "target ", target.ToString(), ": ", request.status().message()));
}

}  // namespace

absl::StatusOr<std::string> GenerateC(const Target& target,
                                      absl::Span<const PrimFunc> kernels,
                                      const CodegenOptions& options) {
  INGOT_ASSIGN_OR_RETURN(const MachineModel machine, MachineOf(target));
  CWriter writer(options.main.has_value() ? &*options.main : nullptr,
                 options.symbol_prefix, machine);
  std::vector<PrimFunc> rewritten;
  if (machine.reproducible) {
    INGOT_ASSIGN_OR_RETURN(rewritten, codegen::MakeReproducible(kernels));
    kernels = rewritten;
  }
  for (const PrimFunc& kernel : kernels) {
    INGOT_ASSIGN_OR_RETURN(const PrimFunc final,
                           Prepare(kernel, machine.vector_bits));
    INGOT_RETURN_IF_ERROR(writer.Add(final));
  }
  return absl::StrCat(RequestLine(target), writer.File());
}

absl::Status RegisterCTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "c";
  kind.doc = "readable C99, compiled by a C compiler when it is linked";
  kind.options = {
      {"cc",
       {"the C compiler: cc, gcc, clang, gcc-12 or aarch64-linux-gnu-gcc, say",
        "cc"}},
      {"mcpu",
       {"processor, as the C compiler names it, or native, whose vectors are "
        "used then",
        "any of the family, plain loops"}},
      {"O", {"how hard it optimises: 0, 1, 2, 3, s or fast", "2"}},
      {"cflags", {"more flags for it, in quotes", ""}},
      {codegen::kReproducibleOption, codegen::ReproducibleOption()},
  };
  kind.loaders = {kNativeLoader};
  kind.generates_main = true;
  kind.check = CheckTarget;
  kind.templates = te::cpu::CpuTemplates();
  kind.layouts = te::cpu::CpuLayouts;
  kind.machine = MachineOf;
  kind.tir_to_runtime =
      [](const Target& target, absl::Span<const PrimFunc> kernels,
         const CodegenOptions& options) -> absl::StatusOr<CodegenResult> {
    INGOT_RETURN_IF_ERROR(CheckTarget(target));
    INGOT_ASSIGN_OR_RETURN(std::string text,
                           GenerateC(target, kernels, options));
    CodegenResult result;
    Artifact artifact;
    artifact.codegen_id = "c";
    artifact.loader = kNativeLoader;
    artifact.target_key = target.key;
    artifact.file_name = options.symbol_prefix.empty()
                             ? "kernels.c"
                             : options.symbol_prefix + "_kernels.c";
    artifact.content = Blob::FromString(std::move(text));
    result.artifacts.push_back(std::move(artifact));
    result.link_libraries = {"m"};
    return result;
  };
  return registry->Register(std::move(kind));
}

}  // namespace ingot
