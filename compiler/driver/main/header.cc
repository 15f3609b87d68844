#include "compiler/driver/main/header.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot {
namespace {

std::string InComment(absl::string_view text) {
  return absl::StrReplaceAll(absl::CHexEscape(text),
                             {{"*/", "* /"}, {"/*", "/ *"}});
}

// The C type of elements in memory.
std::string ElementType(DataType t) {
  if (t == DataType::Float(32)) return "float";
  if (t == DataType::Float(64)) return "double";
  if (t.is_bool()) return "uint8_t";
  if (!t.is_integer()) return "uint16_t";
  return absl::StrCat(t.is_uint() ? "u" : "", "int", int{t.bits}, "_t");
}

std::string TypeText(const tir::BufferNode& buffer) {
  std::vector<std::string> dims;
  for (const tir::Expr& dim : buffer.shape) dims.push_back(tir::Print(dim));
  return absl::StrCat(buffer.dtype.ToString(), "[", absl::StrJoin(dims, ", "),
                      "]");
}

class HeaderPrinter {
 public:
  HeaderPrinter(const BuiltMain& built, const Plan& plan,
                absl::string_view prefix)
      : func_(built.function),
        main_(built.main),
        plan_(plan),
        prefix_(prefix),
        macro_(absl::AsciiStrToUpper(prefix)) {
    std::set<std::string> taken;
    for (const tir::Var* var : tir::SymbolicDims(func_)) {
      dims_.push_back(Unique(Identifier(var->name), &taken));
    }
  }

  std::string Print(uint64_t constants_bytes) {
    absl::StrAppend(&out_, "/* The model ", InComment(plan_.entry()),
                    ", compiled by Ingot.\n", kUse, " */\n#ifndef ", macro_,
                    "_H_\n#define ", macro_, "_H_\n\n#include <stdint.h>\n\n");
    const int inputs = plan_.inputs_size();
    for (int i = 0; i < inputs; ++i) {
      Tensor("The input", plan_.inputs(i), *func_.params[i]);
    }
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      Tensor("The output", plan_.outputs(i), *Output(i));
    }
    Sizes(constants_bytes);
    absl::StrAppend(&out_, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    Functions();
    absl::StrAppend(&out_, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif  /* ",
                    macro_, "_H_ */\n");
    return out_;
  }

 private:
  static constexpr char kUse[] =
      " * Tensors are dense, row-major and aligned to their elements, and none "
      "overlaps\n * another. bool elements are bytes 0 and 1; f16 and bf16 "
      "ones "
      "are their bits.";

  static std::string Identifier(absl::string_view name) {
    std::string id = "dim_";
    for (const char c : name) {
      id += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    return id;
  }

  const tir::Buffer& Output(int i) const {
    return func_.params[func_.num_inputs() + i];
  }

  // The name, with a number where it is taken.
  static std::string Unique(const std::string& name,
                            std::set<std::string>* taken) {
    std::string unique = name;
    for (int i = 1; !taken->insert(unique).second; ++i) {
      unique = absl::StrCat(name, "_", i);
    }
    return unique;
  }

  void Define(absl::string_view name, absl::string_view value) {
    absl::StrAppend(&out_, "#define ", macro_, "_", name, " ", value, "\n");
  }

  void Tensor(absl::string_view what, uint32_t t,
              const tir::BufferNode& buffer) {
    absl::StrAppend(&out_, "/* ", what, " ",
                    InComment(plan_.tensors(static_cast<int>(t)).name()), ": ",
                    InComment(TypeText(buffer)), " */\n");
    // The macros of x and X are two, as well.
    const std::string name =
        Unique(absl::AsciiStrToUpper(buffer.name), &macros_);
    Define(absl::StrCat(name, "_RANK"), absl::StrCat(buffer.shape.size()));
    int64_t elements = 1;
    std::vector<int64_t> shape;
    for (const tir::Expr& dim : buffer.shape) {
      int64_t n = 0;
      if (!tir::AsConstInt(dim, &n)) {
        out_ += "\n";
        return;
      }
      shape.push_back(n);
      elements *= n;
    }
    if (!shape.empty()) {
      Define(absl::StrCat(name, "_SHAPE"),
             absl::StrCat("{", absl::StrJoin(shape, ", "), "}"));
    }
    Define(absl::StrCat(name, "_ELEMENTS"), absl::StrCat(elements));
    Define(absl::StrCat(name, "_BYTES"),
           absl::StrCat(elements * static_cast<int64_t>(buffer.dtype.bytes())));
    out_ += "\n";
  }

  void Sizes(uint64_t constants_bytes) {
    int64_t arena = 0;
    if (!main_.has_arena ||
        tir::AsConstInt(func_.params.back()->shape[0], &arena)) {
      out_ +=
          "/* Bytes of the arena: everything between inputs and outputs, and "
          "what kernels\n * work with. */\n";
      Define("ARENA_BYTES", absl::StrCat(arena));
    }
    out_ += "/* Where the arena begins: at a multiple of this. */\n";
    Define("ARENA_ALIGNMENT", "64");
    out_ += "/* Bytes of the weights, which are in the library. */\n";
    Define("CONSTANTS_BYTES", absl::StrCat(constants_bytes));
    out_ += "\n";
  }

  void Functions() {
    std::vector<std::string> params, dims;
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      const tir::BufferNode& buffer = *func_.params[i];
      params.push_back(
          absl::StrCat("const ", ElementType(buffer.dtype), "* ", buffer.name));
    }
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      params.push_back(
          absl::StrCat(ElementType(Output(i)->dtype), "* ", Output(i)->name));
    }
    for (const std::string& dim : dims_) {
      dims.push_back(absl::StrCat("int64_t ", dim));
      params.push_back(dims.back());
    }
    params.push_back("void* arena");
    if (!dims_.empty()) {
      out_ +=
          "/* Bytes of the arena for these dimensions, none of which is "
          "negative. */\n";
      absl::StrAppend(&out_, "int64_t ", MainArenaBytesSymbol(prefix_), "(",
                      absl::StrJoin(dims, ", "), ");\n\n");
    }
    absl::StrAppend(
        &out_,
        "/* Runs the model. The arena is the call's own while it lasts; its "
        "contents\n * before and after mean nothing. Calls with arenas of "
        "their "
        "own may run at once.\n * Returns 0, or another number for an error. "
        "*/\nint ",
        MainRunSymbol(prefix_), "(", absl::StrJoin(params, ",\n    "), ");\n\n",
        "/* The text of the last error, of whichever thread; NULL before the "
        "first. It is\n * constant: nothing is to be freed. */\nconst char* ",
        MainLastErrorSymbol(prefix_), "(void);\n");
  }

  const tir::PrimFunc& func_;
  const MainFunction& main_;
  const Plan& plan_;
  const std::string prefix_, macro_;
  std::vector<std::string> dims_;
  std::set<std::string> macros_;  // what those of tensors begin with
  std::string out_;
};

}  // namespace

std::string MainHeader(const BuiltMain& built, const Plan& plan,
                       absl::string_view prefix, uint64_t constants_bytes) {
  return HeaderPrinter(built, plan, prefix).Print(constants_bytes);
}

}  // namespace ingot
