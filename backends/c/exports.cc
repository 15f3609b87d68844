#include "backends/c/exports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/c_prelude.h"
#include "compiler/codegen/main_tensors.h"
#include "runtime/c_abi.h"

namespace ingot {
namespace {

using codegen::DimBinding;
using codegen::DimCheck;
using codegen::Signature;
using tir::PrimFunc;

// Callers that are not Ingot pass tensors as they have them.
constexpr char kIsDense[] = R"(
/* Whether the strides, where there are any, are those of rows without gaps. A
   tensor without elements may have any. */
static int is_dense(const Tensor* t) {
  int64_t expected = 1;
  int dense = 1;
  for (int d = t->ndim - 1; t->strides != NULL && d >= 0; --d) {
    dense &= t->shape[d] == 1 || t->strides[d] == expected;
    expected *= t->shape[d];
  }
  return dense || expected == 0;
}
)";

}  // namespace

std::string ExportPrinter::Head(const std::string& start,
                                const std::vector<std::string>& params) {
  std::string text, line = start + "(";
  const std::string margin(line.size(), ' ');
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string part = params[i] + (i + 1 < params.size() ? "," : ") {");
    if (i > 0 && line.size() + 1 + part.size() > 80) {
      absl::StrAppend(&text, line, "\n");
      line = margin + part;
    } else {
      absl::StrAppend(&line, i > 0 ? " " : "", part);
    }
  }
  return absl::StrCat(text, line, params.empty() ? "void) {\n" : "\n");
}

void ExportPrinter::Begin(const PrimFunc& func, const Signature& signature,
                          const std::string& callee) {
  ResetNames(reserved_);
  Declare(callee);
  for (const tir::Buffer& buffer : func.params) DeclareBuffer(buffer.get());
  for (const DimBinding& symbol : signature.symbols) DeclareVar(symbol.var);
  text_.clear();
}

void ExportPrinter::Check(const std::string& wrong, absl::string_view kind,
                          const std::string& message) {
  Line(absl::StrCat("if (", wrong, ") {"));
  Indent();
  Line(absl::StrCat("return fail(", Quoted(kind), ", ", Quoted(message), ");"));
  Outdent();
  Line("}");
}

void ExportPrinter::ReadArguments(const PrimFunc& func,
                                  const Signature& signature,
                                  const std::vector<bool>& given) {
  const int count =
      static_cast<int>(std::count(given.begin(), given.end(), true));
  Line("(void)self;");
  Line("(void)result;");
  Check(absl::StrCat("num_args != ", count), "TypeError",
        codegen::ArgumentCountError(func, count));
  const int params = static_cast<int>(func.params.size());
  std::vector<int> argument_of(params);
  for (int p = 0, next = 0; p < params; ++p) {
    if (!given[p]) continue;
    argument_of[p] = next++;
    const tir::BufferNode& buffer = *func.params[p];
    const std::string& name = NameOf(&buffer);
    Line(absl::StrCat("const Tensor* ", name, " = tensor(&args[",
                      argument_of[p], "]);"));
    const std::string wrong =
        absl::StrCat("!has_type(", name, ", ", int{buffer.dtype.code}, ", ",
                     int{buffer.dtype.bits}, ", ", buffer.shape.size(), ")");
    Check(wrong, "TypeError",
          codegen::ArgumentTypeError(func, p, argument_of[p]));
  }
  const auto dimension = [&](int param, int dim) {
    return absl::StrCat(NameOf(func.params[param].get()), "->shape[", dim, "]");
  };
  for (const DimBinding& symbol : signature.symbols) {
    Line(absl::StrCat("const int64_t ", NameOf(symbol.var), " = ",
                      dimension(symbol.param, symbol.dim), ";"));
  }
  for (int p = 0; p < params; ++p) {
    std::vector<std::string> wrong;
    for (const DimCheck& c : signature.checks) {
      if (c.param != p || !given[p]) continue;
      wrong.push_back(absl::StrCat(dimension(c.param, c.dim),
                                   " != ", Print(c.value, kAdditive)));
    }
    if (!wrong.empty()) {
      Check(absl::StrJoin(wrong, " || "), "ValueError",
            codegen::ArgumentShapeError(func, p, argument_of[p]));
    }
  }
}

void ExportPrinter::PrintKernel(const PrimFunc& func,
                                const Signature& signature,
                                const std::string& callee) {
  Begin(func, signature, callee);
  text_ = Head(
      absl::StrCat("INGOT_EXPORT int __tvm_ffi_", func.name),
      {"void* self", "const Any* args", "int32_t num_args", "Any* result"});
  Indent();
  ReadArguments(func, signature, std::vector<bool>(func.params.size(), true));
  std::vector<std::string> call;
  for (const tir::Buffer& buffer : func.params) {
    call.push_back(absl::StrCat("data_of(", NameOf(buffer.get()), ")"));
  }
  for (const DimBinding& symbol : signature.symbols) {
    call.push_back(NameOf(symbol.var));
  }
  Line(absl::StrCat("return ", callee, "(", absl::StrJoin(call, ", "), ");"));
  Outdent();
  Line("}");
  absl::StrAppend(&packed_, "\n", text_);
}

void ExportPrinter::PrintRun(const PrimFunc& func, const Signature& signature,
                             const std::string& callee,
                             const MainFunction& main,
                             absl::string_view prefix) {
  Begin(func, signature, callee);
  const std::vector<bool> given = codegen::GivenToMain(func, main);
  std::vector<std::string> params, call;
  for (size_t p = 0; p < func.params.size(); ++p) {
    const tir::BufferNode& buffer = *func.params[p];
    const bool is_input = static_cast<int>(p) < func.num_inputs();
    call.push_back(given[p]   ? NameOf(&buffer)
                   : is_input ? main.constants
                              : std::string("arena"));
    if (!given[p]) continue;
    params.push_back(absl::StrCat(is_input ? "const " : "",
                                  MemoryType(buffer.dtype), "* ",
                                  NameOf(&buffer)));
  }
  for (const DimBinding& symbol : signature.symbols) {
    params.push_back(absl::StrCat("int64_t ", NameOf(symbol.var)));
    call.push_back(NameOf(symbol.var));
  }
  params.push_back("void* arena");
  if (!main.constants.empty()) {
    Line(absl::StrCat("extern const uint8_t ", main.constants,
                      "[] INGOT_MAY_BE_MISSING;\n"));
  }
  text_ +=
      Head(absl::StrCat("INGOT_EXPORT int ", MainRunSymbol(prefix)), params);
  Indent();
  if (!main.has_arena) Line("(void)arena;");
  if (!main.constants.empty()) {
    text_ += "#ifndef INGOT_FREESTANDING\n";
    Check(absl::StrCat(main.constants, " == NULL"), "RuntimeError",
          kNoConstants);
    text_ += "#endif\n";
  }
  Line(absl::StrCat("return ", callee, "(", absl::StrJoin(call, ", "), ");"));
  Outdent();
  Line("}");
  absl::StrAppend(&plain_, "\n", text_);
}

void ExportPrinter::PrintArenaBytes(const PrimFunc& func,
                                    const Signature& signature,
                                    const MainFunction& main,
                                    absl::string_view prefix) {
  Begin(func, signature, "");
  std::vector<std::string> params;
  for (const DimBinding& symbol : signature.symbols) {
    params.push_back(absl::StrCat("int64_t ", NameOf(symbol.var)));
  }
  text_ =
      Head(absl::StrCat("INGOT_EXPORT int64_t ", MainArenaBytesSymbol(prefix)),
           params);
  Indent();
  for (const DimBinding& symbol : signature.symbols) {
    Line(absl::StrCat("(void)", NameOf(symbol.var), ";"));
  }
  Line(absl::StrCat("return ",
                    main.has_arena ? Print(func.params.back()->shape[0]) : "0",
                    ";"));
  Outdent();
  Line("}");
  absl::StrAppend(&plain_, "\n", text_);
}

void ExportPrinter::PrintPackedMain(const PrimFunc& func,
                                    const Signature& signature,
                                    const std::string& callee,
                                    const MainFunction& main,
                                    absl::string_view prefix) {
  Begin(func, signature, callee);
  const std::vector<bool> given = codegen::GivenToMain(func, main);
  const std::string memory = Declare("memory"), aligned = Declare("aligned");
  std::vector<std::string> call, dims;
  for (size_t p = 0; p < func.params.size(); ++p) {
    if (!given[p]) continue;
    call.push_back(absl::StrCat("data_of(", NameOf(func.params[p].get()), ")"));
  }
  for (const DimBinding& symbol : signature.symbols) {
    dims.push_back(NameOf(symbol.var));
    call.push_back(NameOf(symbol.var));
  }
  call.push_back(aligned);
  text_ = Head(
      "INGOT_EXPORT int __tvm_ffi_main",
      {"void* self", "const Any* args", "int32_t num_args", "Any* result"});
  Indent();
  ReadArguments(func, signature, given);
  for (size_t p = 0, argument = 0; p < func.params.size(); ++p) {
    if (!given[p]) continue;
    Check(absl::StrCat("!is_dense(", NameOf(func.params[p].get()), ")"),
          "ValueError",
          codegen::ArgumentDenseError(func, static_cast<int>(p),
                                      static_cast<int>(argument++)));
  }
  Line(absl::StrCat("char* const ", memory, " = malloc((size_t)",
                    MainArenaBytesSymbol(prefix), "(",
                    absl::StrJoin(dims, ", "), ") + 64);"));
  Check(absl::StrCat(memory, " == NULL"), "MemoryError", kNoMemory);
  Line(absl::StrCat("char* const ", aligned, " = ", memory, " + (64 - (size_t)",
                    memory, " % 64);"));
  Line(absl::StrCat("const int error = ", MainRunSymbol(prefix), "(",
                    absl::StrJoin(call, ", "), ");"));
  Line(absl::StrCat("free(", memory, ");"));
  Line("return error;");
  Outdent();
  Line("}");
  absl::StrAppend(&packed_, kIsDense, "\n", text_);
}

void ExportPrinter::PrintModelInfo(const PrimFunc& func,
                                   const MainFunction& main,
                                   absl::string_view prefix) {
  std::string shapes, tensors;
  int count = 0;
  for (const codegen::MainTensor& t : codegen::TensorsOfMain(func, main)) {
    const std::string shape =
        t.shape.empty() ? "NULL" : absl::StrCat("model_shape_", count++);
    if (!t.shape.empty()) {
      absl::StrAppend(&shapes, "static const int64_t ", shape, "[] = {",
                      absl::StrJoin(t.shape, ", "), "};\n");
    }
    absl::StrAppend(&tensors, "    {", Quoted(t.name), ", ", shape, ", ",
                    t.shape.size(), ", ", int{t.dtype.code}, ", ",
                    int{t.dtype.bits}, ", ", t.dtype.lanes, "},\n");
  }
  const std::string output_shapes =
      main.output_shapes.empty()
          ? "NULL"
          : absl::StrCat(INGOT_FFI_SYMBOL_PREFIX, main.output_shapes);
  absl::StrAppend(&packed_, "\n", codegen::kCModelInfoTypes, "\n", shapes,
                  "static const TensorInfo model_tensors[] = {\n", tensors,
                  "};\n\nINGOT_EXPORT const ModelInfo " INGOT_MODEL_INFO_SYMBOL
                  " = {\n    ",
                  INGOT_MODEL_INFO_VERSION, ", ", main.inputs.size(), ", ",
                  main.outputs.size(), ", model_tensors,\n    ",
                  INGOT_FFI_SYMBOL_PREFIX "main, ", output_shapes, ", ",
                  MainLastErrorSymbol(prefix), "};\n");
}

void ExportPrinter::PrintMain(const PrimFunc& func, const Signature& signature,
                              const std::string& callee,
                              const MainFunction& main,
                              absl::string_view prefix) {
  PrintRun(func, signature, callee, main, prefix);
  PrintArenaBytes(func, signature, main, prefix);
  absl::StrAppend(&plain_, "\n",
                  Head(absl::StrCat("INGOT_EXPORT const char* ",
                                    MainLastErrorSymbol(prefix)),
                       {}),
                  "  return last_error;\n}\n");
  PrintPackedMain(func, signature, callee, main, prefix);
  PrintModelInfo(func, main, prefix);
}

}  // namespace ingot
