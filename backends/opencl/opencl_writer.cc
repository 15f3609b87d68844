#include "backends/opencl/opencl_writer.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// The functions of C for floats, which OpenCL has under the name for all types.
constexpr const char* kMathNames[] = {
    "exp",  "log",   "sqrt", "tanh", "erf",   "sin",   "cos",   "tan",   "asin",
    "acos", "atan",  "sinh", "cosh", "asinh", "acosh", "atanh", "floor", "ceil",
    "rint", "trunc", "fabs", "pow",  "fmod",  "fma",   "fmin",  "fmax"};

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
        "false",    "pipe",      "vec_step", "read_only",  "write_only",
        "barrier",  "read_write"};
    for (const char* place :
         {"get_global_id", "get_group_id", "get_local_id"}) {
      names->insert(place);
    }
#define INGOT_OPENCL_NAME(Name, text, arity) \
  names->insert(text);                       \
  names->insert(text "f");
    INGOT_TIR_INTRINSICS(INGOT_OPENCL_NAME)
#undef INGOT_OPENCL_NAME
    for (const char* name : kMathNames) {
      names->insert(name);
      names->insert(absl::StrCat(name, "f"));
    }
    return names;
  }();
  return *reserved;
}

std::string MathNames() {
  std::string text;
  for (const char* name : kMathNames) {
    absl::StrAppend(&text, "#define ", name, "f ", name, "\n");
  }
  return text;
}

}  // namespace

absl::Status OpenClWriter::Add(
    const tir::PrimFunc& func,
    absl::Span<const codegen::DeviceKernel> kernels) {
  const std::string nodes = codegen::NodesOf(func);
  absl::StrAppend(&text_, "\n/* ", func.name, nodes.empty() ? "" : ": ", nodes,
                  " */\n");
  for (const codegen::DeviceKernel& kernel : kernels) {
    INGOT_RETURN_IF_ERROR(AddKernel(func, kernel));
  }
  return absl::OkStatus();
}

absl::Status OpenClWriter::AddKernel(const tir::PrimFunc& func,
                                     const codegen::DeviceKernel& kernel) {
  ResetNames(Reserved());
  kernel_ = &kernel;
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
  if (kernel.loop != nullptr) {
    PrintIteration(*kernel.loop,
                   kernel.IsBlocks() ? "get_group_id(0)" : "get_global_id(0)");
  } else {
    Print(kernel.body);
  }
  Outdent();
  text_ = absl::StrCat(before, "__kernel void ", kernel.name, "(\n    ",
                       absl::StrJoin(params, ",\n    "), ") {\n", text_, "}\n");
  if (status().ok()) return status();
  return absl::UnimplementedError(
      absl::StrCat("kernel ", func.name, ": ", status().message()));
}

void OpenClWriter::PrintThreads(const tir::For& loop) {
  int64_t extent = 0;
  tir::AsConstInt(loop.extent, &extent);
  Line(extent < kernel_->group
           ? absl::StrCat("if (get_local_id(0) < ", extent, ") {")
           : "{");
  Indent();
  PrintIteration(loop, "get_local_id(0)");
  Outdent();
  Line("}");
  if (kernel_->barriers.count(&loop) != 0) {
    Line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
  }
}

absl::string_view OpenClWriter::ArrayPrefix(tir::Scope scope) const {
  return scope == tir::Scope::kShared ? "__local " : "";
}

std::string OpenClWriter::Source() const {
  return absl::StrCat(
      "/* OpenCL C: each kernel is launched as the function table says. */\n",
      kPrelude, MathNames(), codegen::HelperSource(helpers(), {}), text_);
}

}  // namespace ingot::opencl
