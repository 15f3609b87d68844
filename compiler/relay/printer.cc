#include "compiler/relay/printer.h"

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/text/printer.h"
#include "runtime/float16.h"
#include "runtime/safetensors_writer.h"

namespace ingot::relay {
namespace {

// The fewest digits that give the same value back; always recognisable as a
// float where `mark` is set.
std::string FloatText(double value, bool single, bool mark) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int precision : {6, 9, 15, 17}) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", precision, value);
    const double back = std::strtod(buffer, nullptr);
    if (back == value ||
        (single && static_cast<float>(back) == static_cast<float>(value))) {
      break;
    }
  }
  std::string text = buffer;
  if (mark && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string Name(const Node& node) {
  return absl::StrCat("%", QuoteName(node.name));
}

std::string ValueText(const Value& value) {
  if (value.node == nullptr) return "_";
  std::string text = Name(*value.node);
  if (value.node->outputs.size() != 1) absl::StrAppend(&text, "#", value.index);
  return text;
}

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DataType t = tensor.dtype();
  const void* data = tensor.raw_data();
  auto at = [&](auto zero) {
    return static_cast<const decltype(zero)*>(data)[i];
  };
  switch (t.code) {
    case DataType::kFloat:
      if (t.bits == 64) return FloatText(at(double{}), false, false);
      if (t.bits == 32) return FloatText(at(float{}), true, false);
      return FloatText(HalfToFloat(at(uint16_t{})), true, false);
    case DataType::kBFloat:
      return FloatText(BFloat16ToFloat(at(uint16_t{})), true, false);
    case DataType::kBool:
      return at(uint8_t{}) != 0 ? "true" : "false";
    case DataType::kInt:
      if (t.bits == 64) return absl::StrCat(at(int64_t{}));
      if (t.bits == 32) return absl::StrCat(at(int32_t{}));
      if (t.bits == 16) return absl::StrCat(at(int16_t{}));
      return absl::StrCat(static_cast<int>(at(int8_t{})));
    default:
      if (t.bits == 64) return absl::StrCat(at(uint64_t{}));
      if (t.bits == 32) return absl::StrCat(at(uint32_t{}));
      if (t.bits == 16) return absl::StrCat(at(uint16_t{}));
      return absl::StrCat(static_cast<int>(at(uint8_t{})));
  }
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string Run(const Module& module) {
    text::IndentingPrinter p;
    p.Write("module ");
    p.Open();
    for (const auto& function : module.functions()) Run(*function, &p);
    p.Close();
    p.EndLine();
    return p.out;
  }

  // As it stands in a module.
  std::string Run(const Function& f) {
    text::IndentingPrinter p(/*depth=*/1);
    Run(f, &p);
    return p.out;
  }

  std::string Line(const Node& node, absl::string_view function) {
    std::string text = absl::StrCat(Name(node), " = ");
    switch (node.kind) {
      case NodeKind::kInput:
        return absl::StrCat(Name(node), ": ", Types(node));
      case NodeKind::kConstant:
        absl::StrAppend(&text, "const ", Types(node), " ",
                        Constant(node, function));
        AppendSources(node, &text);
        return text;
      case NodeKind::kOp:
        absl::StrAppend(&text, node.op == nullptr ? "?" : node.op->name);
        break;
      case NodeKind::kCallFunction:
        absl::StrAppend(&text, "@", QuoteName(node.callee));
        break;
      case NodeKind::kIf:
        absl::StrAppend(&text, "if");
        break;
      case NodeKind::kLoop:
        absl::StrAppend(&text, "loop");
        break;
    }
    absl::StrAppend(&text, "(",
                    absl::StrJoin(node.inputs, ", ",
                                  [](std::string* out, const Value& value) {
                                    absl::StrAppend(out, ValueText(value));
                                  }),
                    ")");
    if (!node.attrs.values().empty()) {
      absl::StrAppend(&text, " ", Print(node.attrs));
    }
    absl::StrAppend(&text, " : ", Types(node));
    AppendSources(node, &text);
    return text;
  }

 private:
  void Run(const Function& f, text::IndentingPrinter* p) {
    p->BeginLine();
    p->Write("func @", QuoteName(f.name), "(");
    p->List(f.inputs, [p](const Node* input) {
      p->Write(Name(*input), ": ", ToString(input->outputs[0]));
    });
    p->Write(") -> (");
    size_t i = 0;
    p->List(f.outputs, [&](const Value& output) {
      p->Write(ValueText(output));
      if (i < f.output_names.size() && !f.output_names[i].empty()) {
        p->Write(": ", QuoteString(f.output_names[i]));
      }
      ++i;
    });
    p->Write(") ");
    if (!f.attrs.values().empty()) p->Write("attrs ", Print(f.attrs), " ");
    p->Open();
    for (const auto& node : f.nodes()) {
      if (node->kind == NodeKind::kInput) continue;
      p->BeginLine();
      p->Write(Line(*node, f.name));
      p->EndLine();
    }
    p->Close();
    p->EndLine();
  }

  static std::string Types(const Node& node) {
    if (node.outputs.size() == 1) return ToString(node.outputs[0]);
    return absl::StrCat(
        "(",
        absl::StrJoin(node.outputs, ", ",
                      [](std::string* out, const TensorType& t) {
                        absl::StrAppend(out, ToString(t));
                      }),
        ")");
  }

  void AppendSources(const Node& node, std::string* text) const {
    if (options_.omit_sources || node.sources.empty()) return;
    absl::StrAppend(text, " from ",
                    absl::StrJoin(node.sources, ", ",
                                  [](std::string* out, const std::string& s) {
                                    absl::StrAppend(out, QuoteString(s));
                                  }));
  }

  std::string Constant(const Node& node, absl::string_view function) {
    const Tensor& tensor = *node.constant;
    if (tensor.NumElements() > options_.inline_elements) {
      return absl::StrCat("@", QuoteString(Key(node, function)));
    }
    std::string text = "{";
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ", ElementText(tensor, i));
    }
    return text + "}";
  }

  // The node's name, made longer where another constant of the module has it.
  std::string Key(const Node& node, absl::string_view function) {
    std::map<std::string, Tensor>& keys =
        options_.constants == nullptr ? keys_ : *options_.constants;
    std::string key = node.name;
    for (int n = 0;; ++n) {
      auto [it, added] = keys.emplace(key, *node.constant);
      const Tensor& there = it->second;
      if (added || (there.raw_data() == node.constant->raw_data() &&
                    there.TypeString() == node.constant->TypeString())) {
        return key;
      }
      key = n == 0 ? absl::StrCat(function, "/", node.name)
                   : absl::StrCat(function, "/", node.name, "/", n);
    }
  }

  const PrintOptions& options_;
  std::map<std::string, Tensor> keys_;  // where the options have none
};

template <typename T, typename F>
std::string List(const std::vector<T>& items, const F& text) {
  return absl::StrCat("[",
                      absl::StrJoin(items, ", ",
                                    [&](std::string* out, const T& item) {
                                      absl::StrAppend(out, text(item));
                                    }),
                      "]");
}

}  // namespace

std::string Print(const AttrValue& value) {
  struct Visitor {
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const { return FloatText(v, false, true); }
    std::string operator()(const std::string& v) const {
      return QuoteString(v);
    }
    std::string operator()(const std::vector<int64_t>& v) const {
      return List(v, [](int64_t x) { return absl::StrCat(x); });
    }
    std::string operator()(const std::vector<double>& v) const {
      return List(v, [](double x) { return FloatText(x, false, true); });
    }
    std::string operator()(const std::vector<std::string>& v) const {
      return List(v, [](const std::string& x) { return QuoteString(x); });
    }
    std::string operator()(DataType v) const { return v.ToString(); }
    std::string operator()(const Shape& v) const { return ShapeToString(v); }
  };
  return std::visit(Visitor{}, value);
}

std::string Print(const Attrs& attrs) {
  if (attrs.values().empty()) return "";
  return absl::StrCat("{",
                      absl::StrJoin(attrs.values(), ", ",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(out, entry.first, "=",
                                                      Print(entry.second));
                                    }),
                      "}");
}

std::string Print(const Module& module, const PrintOptions& options) {
  return Printer(options).Run(module);
}

std::string Print(const Function& function, const PrintOptions& options) {
  return Printer(options).Run(function);
}

std::string Print(const Node& node) {
  PrintOptions options;
  options.omit_sources = true;
  return Printer(options).Line(node, "");
}

absl::Status WriteModuleFiles(const Module& module, absl::string_view path) {
  std::map<std::string, Tensor> constants;
  PrintOptions options;
  options.constants = &constants;
  const std::string text = Print(module, options);
  if (!constants.empty()) {
    INGOT_RETURN_IF_ERROR(
        WriteSafetensorsFile(constants, absl::StrCat(path, ".weights")));
  }
  return ReplaceFileWith(path, text);
}

}  // namespace ingot::relay
