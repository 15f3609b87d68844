#include "compiler/codegen/c_region.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/alignment.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_prelude.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/dim_text.h"
#include "runtime/tensor.h"

namespace ingot::codegen {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;

// More elements than this are no constant for a text.
constexpr int64_t kMaxConstant = 64;

// Checks an argument and gives its elements.
constexpr char kElements[] = R"(
/* The elements of an argument of this type and shape, otherwise NULL. */
static void* elements(const Any* any, int code, int bits, int ndim,
                      const int64_t* shape) {
  const Tensor* t = tensor(any);
  if (!has_type(t, code, bits, ndim)) return NULL;
  for (int i = 0; i < ndim; ++i) {
    if (t->shape[i] != shape[i]) return NULL;
  }
  return data_of(t);
}
)";

std::string FloatLiteral(double value, absl::string_view suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  char text[40];
  snprintf(text, sizeof(text), "%a", value);
  return absl::StrCat(text, suffix);
}

absl::StatusOr<std::string> Literal(const Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type == DataType::Float(32)) {
    return FloatLiteral(t.data<float>()[i], "f");
  }
  if (type == DataType::Float(64)) return FloatLiteral(t.data<double>()[i], "");
  if (type == DataType::Int(8)) return absl::StrCat(t.data<int8_t>()[i]);
  if (type == DataType::UInt(8)) return absl::StrCat(t.data<uint8_t>()[i]);
  if (type == DataType::Int(32)) {
    const int32_t value = t.data<int32_t>()[i];
    // C has no negative literals: -2147483648 would be a long.
    if (value == INT32_MIN) return "-2147483647 - 1";
    return absl::StrCat(value);
  }
  return absl::UnimplementedError(
      absl::StrCat("a constant of ", type.ToString(), " as C text"));
}

// The beginning of every such file.
std::string FileHead(absl::string_view cflags, DLDeviceType device = kDLCPU) {
  const std::string type = device == kDLCPU
                               ? ""
                               : absl::StrCat("#define INGOT_DEVICE_TYPE ",
                                              static_cast<int>(device), "\n");
  return absl::StrCat("/* ingot: cflags=", cflags, " */\n#include <stdlib.h>\n",
                      type, kCPrelude, kElements, "\n");
}

// The parameters of the function that the exported one calls.
std::string Parameters(const relay::Function& region) {
  std::vector<std::string> params = {"void* self"};
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    params.push_back(absl::StrCat(
        "const ", CTypeName(region.inputs[i]->outputs[0].dtype), "* in", i));
  }
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    params.push_back(
        absl::StrCat(CTypeName(region.outputs[i].type().dtype), "* out", i));
  }
  return absl::StrJoin(params, ", ");
}

// The exported function, which checks its arguments.
absl::StatusOr<std::string> PrintExport(const relay::Function& region,
                                        absl::string_view symbol) {
  std::vector<std::pair<std::string, relay::TensorType>> params;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    params.emplace_back(absl::StrCat("in", i), region.inputs[i]->outputs[0]);
  }
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    params.emplace_back(absl::StrCat("out", i), region.outputs[i].type());
  }
  std::string out =
      absl::StrCat("\nINGOT_EXPORT int __tvm_ffi_", symbol,
                   "(void* self, const Any* args, int32_t num_args,\n"
                   "    Any* result) {\n  (void)result;\n",
                   "  if (num_args != ", params.size(),
                   ") {\n    return fail(\"TypeError\", \"", symbol, " takes ",
                   params.size(), " arguments\");\n  }\n");
  std::vector<std::string> names;
  for (const auto& [name, type] : params) {
    INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, KnownShape(type));
    absl::StrAppend(
        &out, "  ", CTypeName(type.dtype), "* ", name, " = elements(&args[",
        names.size(), "], ", int{type.dtype.code}, ", ", int{type.dtype.bits},
        ", ", shape.size(), ", (const int64_t[]){",
        shape.empty() ? "0" : absl::StrJoin(shape, ", "), "});\n  if (", name,
        " == NULL) {\n    return fail(\"TypeError\", \"", symbol, ": argument ",
        names.size(), " must be ", TypeString(type.dtype, shape),
        "\");\n  }\n");
    names.push_back(name);
  }
  absl::StrAppend(&out, "  return ", symbol, "_(self, ",
                  absl::StrJoin(names, ", "), ");\n}\n");
  return out;
}

class RegionPrinter {
 public:
  RegionPrinter(const relay::Module& module, const relay::Function& region,
                absl::string_view symbol)
      : module_(module), region_(region), symbol_(symbol) {}

  absl::StatusOr<std::string> Run(
      const CFile& file,
      const std::function<absl::StatusOr<CText>(const CNode&)>& print) {
    for (size_t i = 0; i < region_.inputs.size(); ++i) {
      names_[Value{region_.inputs[i]}] = absl::StrCat("in", i);
    }
    for (size_t i = 0; i < region_.outputs.size(); ++i) {
      NameOutput(i, region_.outputs[i]);
    }
    std::string declarations, body;
    for (const auto& node : region_.nodes()) {
      absl::Status s = Print(*node, print, &declarations, &body);
      if (!s.ok())
        return Annotate(s,
                        absl::StrCat("node %", relay::QuoteName(node->name)));
    }
    std::string function;
    INGOT_RETURN_IF_ERROR(PrintFunction(body, &function));
    INGOT_ASSIGN_OR_RETURN(const std::string exported,
                           PrintExport(region_, symbol_));
    return absl::StrCat(FileHead(file.cflags), file.declarations, declarations,
                        function, exported);
  }

 private:
  // The first output of a node's result is that result's memory; an output that
  // has another value's memory is copied at the end.
  void NameOutput(size_t i, const Value& value) {
    const std::string name = absl::StrCat("out", i);
    if (value.node->kind != NodeKind::kInput &&
        value.node->kind != NodeKind::kConstant &&
        names_.emplace(value, name).second) {
      return;
    }
    copied_outputs_.push_back({name, value});
  }

  absl::Status Print(
      const Node& node,
      const std::function<absl::StatusOr<CText>(const CNode&)>& print,
      std::string* declarations, std::string* body) {
    if (node.kind == NodeKind::kInput) return absl::OkStatus();
    if (node.kind == NodeKind::kConstant) {
      return PrintConstant(node, declarations);
    }
    CNode c{node,
            {},
            {},
            absl::StrCat(symbol_, "_", next_++),
            ReadCall(module_, node)};
    for (const Value& input : node.inputs) {
      c.inputs.push_back(input.node == nullptr ? "NULL" : names_.at(input));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value result{const_cast<Node*>(&node), static_cast<int>(i)};
      INGOT_RETURN_IF_ERROR(Allocate(result));
      c.outputs.push_back(names_.at(result));
    }
    INGOT_ASSIGN_OR_RETURN(const CText text, print(c));
    absl::StrAppend(declarations, text.declarations);
    absl::StrAppend(body, text.statements);
    return absl::OkStatus();
  }

  absl::Status PrintConstant(const Node& node, std::string* out) {
    const Tensor& t = *node.constant;
    if (t.NumElements() > kMaxConstant) {
      return absl::InvalidArgumentError(
          absl::StrCat("a constant ", t.TypeString(), " is no text"));
    }
    const std::string name = absl::StrCat("const", next_constant_++);
    std::vector<std::string> values;
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      INGOT_ASSIGN_OR_RETURN(std::string literal, Literal(t, i));
      values.push_back(std::move(literal));
    }
    if (values.empty()) values.push_back("0");
    absl::StrAppend(out, "static const ", CTypeName(t.dtype()), " ", name,
                    "[] = {", absl::StrJoin(values, ", "), "};\n");
    names_[Value{const_cast<Node*>(&node)}] = name;
    return absl::OkStatus();
  }

  // Gives a result that is no output a place in the call's memory.
  absl::Status Allocate(const Value& value) {
    INGOT_ASSIGN_OR_RETURN(size_t bytes, KnownBytes(value));
    if (names_.count(value) != 0) return absl::OkStatus();
    if (bytes == 0) bytes = 1;  // a name of its own all the same
    const std::string name = absl::StrCat("buf", next_buffer_++);
    names_[value] = name;
    const std::string type = CTypeName(value.type().dtype);
    absl::StrAppend(&buffers_, "  ", type, "* ", name, " = (", type,
                    "*)(memory + ", memory_, ");\n");
    if (__builtin_add_overflow(memory_, (bytes + kAlignment - 1) & -kAlignment,
                               &memory_) ||
        bytes > SIZE_MAX / 2 || memory_ > SIZE_MAX / 2) {
      return absl::InvalidArgumentError(
          "the region's intermediate results are too large");
    }
    return absl::OkStatus();
  }

  absl::Status PrintFunction(const std::string& body, std::string* out) {
    absl::StrAppend(out, "\nstatic int ", symbol_, "_(", Parameters(region_),
                    ") {\n  (void)self;\n  int status = 0;\n");
    if (memory_ > 0) {
      absl::StrAppend(out, "  char* memory = malloc(", memory_,
                      ");\n"
                      "  if (memory == NULL) return fail(\"MemoryError\", \"",
                      symbol_, " needs ", memory_, " bytes\");\n", buffers_);
    }
    absl::StrAppend(out, body);
    for (const auto& [name, value] : copied_outputs_) {
      INGOT_ASSIGN_OR_RETURN(const size_t bytes, KnownBytes(value));
      absl::StrAppend(out, "  memcpy(", name, ", ", names_.at(value), ", ",
                      bytes, ");\n");
    }
    if (memory_ > 0) absl::StrAppend(out, "  free(memory);\n");
    absl::StrAppend(out, "  return status;\n}\n");
    return absl::OkStatus();
  }

  const relay::Module& module_;
  const relay::Function& region_;
  const std::string symbol_;
  std::map<Value, std::string> names_;
  std::vector<std::pair<std::string, Value>> copied_outputs_;
  std::string buffers_;
  size_t memory_ = 0;
  int next_ = 0, next_buffer_ = 0, next_constant_ = 0;
};

}  // namespace

std::string CTypeName(DataType t) {
  if (t == DataType::Float(32)) return "float";
  if (t == DataType::Float(64)) return "double";
  if (t.is_float()) return "uint16_t";
  if (t.is_bool()) return "uint8_t";
  return absl::StrCat(t.is_uint() ? "u" : "", "int", int{t.bits}, "_t");
}

std::string CNode::NameOf(const Value& value) const {
  if (!value) return "NULL";
  if (value.node == call.nodes.back()) return outputs[value.index];
  const auto it =
      std::find(node.inputs.begin(), node.inputs.end(), call.Outside(value));
  return inputs[it - node.inputs.begin()];
}

absl::StatusOr<CodegenResult> MakeCRegion(
    const relay::Module& module, const relay::Function& region,
    absl::string_view codegen_id, absl::string_view symbol, const CFile& file,
    const std::function<absl::StatusOr<CText>(const CNode&)>& print) {
  INGOT_ASSIGN_OR_RETURN(
      std::string text, RegionPrinter(module, region, symbol).Run(file, print));
  CodegenResult result;
  AddArtifact(codegen_id, kNativeLoader, absl::StrCat(symbol, ".c"),
              std::move(text), &result);
  return result;
}

absl::StatusOr<CodegenResult> MakeCLauncher(const relay::Function& region,
                                            absl::string_view codegen_id,
                                            absl::string_view symbol,
                                            const CFile& file,
                                            DLDeviceType device) {
  std::vector<std::string> arguments;
  const auto add = [&](absl::string_view name,
                       const Value& value) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(const size_t bytes, KnownBytes(value));
    arguments.push_back(absl::StrCat("{(void*)", name, ", ", bytes, "}"));
    return absl::OkStatus();
  };
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(add(absl::StrCat("in", i), Value{region.inputs[i]}));
  }
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(add(absl::StrCat("out", i), region.outputs[i]));
  }
  INGOT_ASSIGN_OR_RETURN(const std::string exported,
                         PrintExport(region, symbol));
  CodegenResult result;
  AddArtifact(codegen_id, kNativeLoader, absl::StrCat(symbol, ".c"),
              absl::StrCat(FileHead(file.cflags, device), file.declarations,
                           "\nstatic int ", symbol, "_(", Parameters(region),
                           ") {\n  const Buffer arguments[] = {",
                           absl::StrJoin(arguments, ", "),
                           "};\n  return LAUNCH(self, arguments, ",
                           arguments.size(), ");\n}\n", exported),
              &result);
  return result;
}

}  // namespace ingot::codegen
