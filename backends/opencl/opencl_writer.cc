#include "backends/opencl/opencl_writer.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace ingot::opencl {
namespace {

// C's names for what OpenCL calls otherwise.
constexpr char kPrelude[] = R"(#pragma OPENCL FP_CONTRACT ON
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define INT8_MIN CHAR_MIN
#define INT8_MAX CHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX
static void copy_bytes(void* to, const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    ((uchar*)to)[i] = ((const uchar*)from)[i];
  }
}
#define memcpy copy_bytes
)";

// Names that a buffer or a variable must not take.
const std::set<std::string>& Reserved() {
  static const auto* reserved = [] {
    auto* names = new std::set<std::string>{
        "auto",     "break",     "case",     "char",       "const",
        "continue", "default",   "do",       "double",     "else",
        "enum",     "extern",    "float",    "for",        "goto",
        "if",       "inline",    "int",      "long",       "return",
        "register", "restrict",  "short",    "signed",     "sizeof",
        "static",   "struct",    "switch",   "typedef",    "union",
        "unsigned", "void",      "volatile", "while",      "kernel",
        "global",   "local",     "constant", "private",    "generic",
        "image",    "half",      "uchar",    "ushort",     "uint",
        "ulong",    "size_t",    "event_t",  "copy_bytes", "memcpy",
        "fail",     "min",       "max",      "clamp",      "select",
        "step",     "mix",       "dot",      "length",     "distance",
        "cross",    "normalize", "all",      "any",        "shuffle",
        "sign",     "NULL",      "NAN",      "INFINITY",   "MAXFLOAT",
        "fma",      "mad",       "rint",     "bool",       "true",
        "false",    "pipe",      "vec_step"};
#define INGOT_OPENCL_NAME(Name, text, arity) \
  names->insert(text);                       \
  names->insert(text "f");
    INGOT_TIR_INTRINSICS(INGOT_OPENCL_NAME)
#undef INGOT_OPENCL_NAME
    return names;
  }();
  return *reserved;
}

// The functions of C for floats, which OpenCL has under the name for all types.
std::string MathNames() {
  std::string text;
  for (const char* name :
       {"exp",   "log",   "sqrt",  "tanh", "erf",  "sin",   "cos",
        "tan",   "asin",  "acos",  "atan", "sinh", "cosh",  "asinh",
        "acosh", "atanh", "floor", "ceil", "rint", "trunc", "fabs",
        "pow",   "fmod",  "fma",   "fmin", "fmax"}) {
    absl::StrAppend(&text, "#define ", name, "f ", name, "\n");
  }
  return text;
}

// Text from a model, harmless inside of a comment.
std::string InComment(absl::string_view text) {
  return absl::StrJoin(absl::StrSplit(absl::CHexEscape(text), "*/"), "* /");
}

absl::StatusOr<TensorSpec> SpecOf(const tir::BufferNode& buffer) {
  TensorSpec spec{buffer.dtype, {}};
  for (const tir::Expr& dim : buffer.shape) {
    if (!tir::AsConstInt(dim, &spec.shape.emplace_back())) {
      return absl::UnimplementedError(
          absl::StrCat(buffer.name, " has a symbolic dimension"));
    }
  }
  return spec;
}

}  // namespace

absl::Status OpenClWriter::Add(const tir::PrimFunc& func) {
  TableFunction entry;
  entry.name = func.name;
  for (const auto& [key, value] : func.attrs) {
    if (key == "sources") entry.nodes = InComment(value);
  }
  for (size_t p = 0; p < func.params.size(); ++p) {
    INGOT_ASSIGN_OR_RETURN(TensorSpec spec, SpecOf(*func.params[p]));
    (static_cast<int>(p) < func.num_inputs() ? entry.spec.inputs
                                             : entry.spec.outputs)
        .push_back(std::move(spec));
  }
  table_.push_back(std::move(entry));
  absl::StrAppend(&text_, "\n/* ", table_.back().name,
                  table_.back().nodes.empty() ? "" : ": ", table_.back().nodes,
                  " */\n");

  std::vector<tir::Stmt> statements = {func.body};
  if (const auto* seq = tir::As<tir::Seq>(func.body)) statements = seq->stmts;
  std::vector<tir::Stmt> serial;  // since the last parallel loop
  const auto flush = [&]() -> absl::Status {
    if (serial.empty()) return absl::OkStatus();
    return AddKernel(func, tir::MakeSeq(std::exchange(serial, {})), nullptr);
  };
  for (const tir::Stmt& s : statements) {
    const auto* loop = tir::As<tir::For>(s);
    if (loop == nullptr || loop->for_kind != tir::ForKind::kParallel) {
      serial.push_back(s);
      continue;
    }
    INGOT_RETURN_IF_ERROR(flush());
    INGOT_RETURN_IF_ERROR(AddKernel(func, s, loop));
  }
  return flush();
}

absl::Status OpenClWriter::AddKernel(const tir::PrimFunc& func,
                                     const tir::Stmt& body,
                                     const tir::For* loop) {
  TableFunction& entry = table_.back();
  Launch launch;
  launch.kernel = absl::StrCat(func.name, "_", entry.launches.size());
  if (loop != nullptr) {
    if (!tir::AsConstInt(loop->extent, &launch.work_items)) {
      return absl::UnimplementedError("a loop has no constant extent");
    }
    if (launch.work_items <= 0) return absl::OkStatus();
  }
  ResetNames(Reserved());
  std::string before = std::exchange(text_, "");
  std::vector<std::string> params;
  for (size_t p = 0; p < func.params.size(); ++p) {
    const tir::BufferNode& buffer = *func.params[p];
    if (static_cast<int>(p) < func.num_inputs()) MarkReadOnly(&buffer);
    params.push_back(absl::StrCat(
        "__global ", IsReadOnly(&buffer) ? "const " : "",
        MemoryType(buffer.dtype), "* restrict ", DeclareBuffer(&buffer)));
  }
  Indent();
  if (loop != nullptr) {
    PrintIteration(*loop, "get_global_id(0)");
  } else {
    Print(body);
  }
  Outdent();
  if (absl::StrContains(text_, "return fail(")) {
    return absl::UnimplementedError(
        absl::StrCat("kernel ", func.name,
                     " has a check, whose failure the device cannot tell"));
  }
  text_ = absl::StrCat(before, "__kernel void ", launch.kernel, "(\n    ",
                       absl::StrJoin(params, ",\n    "), ") {\n", text_, "}\n");
  entry.launches.push_back(std::move(launch));
  if (status().ok()) return status();
  return absl::UnimplementedError(
      absl::StrCat("kernel ", func.name, ": ", status().message()));
}

std::string OpenClWriter::Source() const {
  return absl::StrCat(
      "/* OpenCL C: each kernel is launched as the function table says. */\n",
      kPrelude, MathNames(), codegen::HelperSource(helpers(), false), text_);
}

}  // namespace ingot::opencl
