#include "compiler/relay/parser.h"

#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parse_constant.h"
#include "compiler/relay/parse_parts.h"
#include "compiler/relay/verifier.h"
#include "runtime/safetensors.h"

namespace ingot::relay {

using text::ErrorAt;
using text::Token;
using text::TokenKind;

namespace {

class Parser : private PartsParser {
 public:
  Parser(absl::string_view text, const std::map<std::string, Tensor>& constants)
      : PartsParser(text), constants_(constants) {}

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(ExpectWord("module"));
    INGOT_RETURN_IF_ERROR(Expect("{"));
    while (!token_.IsSymbol("}")) INGOT_RETURN_IF_ERROR(ParseFunction());
    INGOT_RETURN_IF_ERROR(Advance());
    if (token_.kind != TokenKind::kEnd) return Error("text after the module");
    return std::move(module_);
  }

 private:
  struct Reference {  // %name#index, not yet looked up
    Token token;
    int64_t index = 0;
  };

  // -------------------------------------------------------------- functions

  absl::StatusOr<Reference> ParseReference() {
    Reference ref;
    ref.token = token_;
    if (token_.kind != TokenKind::kPercentName) return Unexpected("a %value");
    INGOT_RETURN_IF_ERROR(Advance());
    if (token_.IsSymbol("#")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_ASSIGN_OR_RETURN(ref.index, ParseInt());
    }
    return ref;
  }

  absl::StatusOr<Value> Resolve(const Reference& ref) const {
    auto it = nodes_.find(ref.token.text);
    if (it == nodes_.end()) {
      return ErrorAt(ref.token,
                     absl::StrCat("no value %", QuoteName(ref.token.text),
                                  " stands before this"));
    }
    const int64_t count = static_cast<int64_t>(it->second->outputs.size());
    if (ref.index < 0 || ref.index >= count) {
      return ErrorAt(ref.token, absl::StrCat("%", QuoteName(ref.token.text),
                                             " has ", count, " results"));
    }
    return Value{it->second, static_cast<int>(ref.index)};
  }

  absl::Status Define(const Token& at, Node* node) {
    nodes_[at.text] = node;
    return absl::OkStatus();
  }
  absl::Status CheckNew(const Token& at) const {
    if (nodes_.count(at.text) == 0) return absl::OkStatus();
    return ErrorAt(at,
                   absl::StrCat("%", QuoteName(at.text), " is defined twice"));
  }

  absl::Status ParseFunction() {
    INGOT_RETURN_IF_ERROR(ExpectWord("func"));
    const Token at = token_;
    INGOT_ASSIGN_OR_RETURN(
        std::string name,
        ExpectText(TokenKind::kAtName, "the function's @name"));
    if (module_->Find(name) != nullptr) {
      return ErrorAt(at,
                     absl::StrCat("@", QuoteName(name), " is defined twice"));
    }
    function_ = module_->AddFunction(name);
    nodes_.clear();
    INGOT_RETURN_IF_ERROR(Expect("("));
    INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      const Token input = token_;
      if (token_.kind != TokenKind::kPercentName) return Unexpected("an input");
      INGOT_RETURN_IF_ERROR(CheckNew(input));
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(Expect(":"));
      INGOT_ASSIGN_OR_RETURN(TensorType type, ParseType());
      return Define(input, function_->AddInput(input.text, std::move(type)));
    }));
    INGOT_RETURN_IF_ERROR(Expect("->"));
    INGOT_RETURN_IF_ERROR(Expect("("));
    std::vector<Reference> outputs;
    INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      INGOT_ASSIGN_OR_RETURN(Reference ref, ParseReference());
      outputs.push_back(std::move(ref));
      INGOT_ASSIGN_OR_RETURN(bool named, Accept(":"));
      if (!named) return absl::OkStatus();
      INGOT_ASSIGN_OR_RETURN(
          std::string output_name,
          ExpectText(TokenKind::kString, "an output's name"));
      function_->output_names.resize(outputs.size());
      function_->output_names.back() = std::move(output_name);
      return absl::OkStatus();
    }));
    if (!function_->output_names.empty()) {
      function_->output_names.resize(outputs.size());
    }
    if (token_.IsWord("attrs")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_ASSIGN_OR_RETURN(function_->attrs, ParseAttrs(nullptr));
    }
    INGOT_RETURN_IF_ERROR(Expect("{"));
    while (!token_.IsSymbol("}")) INGOT_RETURN_IF_ERROR(ParseNode());
    INGOT_RETURN_IF_ERROR(Advance());
    for (const Reference& ref : outputs) {
      INGOT_ASSIGN_OR_RETURN(Value value, Resolve(ref));
      function_->outputs.push_back(value);
    }
    return absl::OkStatus();
  }

  absl::Status ParseNode() {
    const Token name = token_;
    if (token_.kind != TokenKind::kPercentName)
      return Unexpected("a %value or '}'");
    INGOT_RETURN_IF_ERROR(CheckNew(name));
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect("="));
    Node* node = nullptr;
    if (token_.IsWord("const")) {
      INGOT_ASSIGN_OR_RETURN(node, ParseConstant(name));
    } else {
      INGOT_ASSIGN_OR_RETURN(node, ParseCall(name));
    }
    if (token_.IsWord("from")) {
      do {
        INGOT_RETURN_IF_ERROR(Advance());
        INGOT_ASSIGN_OR_RETURN(
            std::string source,
            ExpectText(TokenKind::kString, "the name of a model's node"));
        node->sources.Add(std::move(source));
      } while (token_.IsSymbol(","));
    }
    return Define(name, node);
  }

  absl::StatusOr<Node*> ParseConstant(const Token& name) {
    INGOT_RETURN_IF_ERROR(Advance());
    const Token at = token_;
    INGOT_ASSIGN_OR_RETURN(TensorType type, ParseType());
    if (type.is_sequence) return ErrorAt(at, "no constant is a sequence");
    const auto shape = ConstShape(type.shape);
    if (!shape.has_value()) {
      return ErrorAt(at, "a constant's shape has no symbols");
    }
    const Token form = token_;
    if (form.kind == TokenKind::kAtName) {
      auto it = constants_.find(form.text);
      if (it == constants_.end()) {
        return Error(absl::StrCat("there is no constant ",
                                  QuoteString(form.text), " beside this text"));
      }
      if (it->second.dtype() != type.dtype ||
          it->second.shape() != absl::MakeConstSpan(*shape)) {
        return Error(absl::StrCat("the constant ", QuoteString(form.text),
                                  " is ", it->second.TypeString()));
      }
      INGOT_RETURN_IF_ERROR(Advance());
      return function_->AddConstant(name.text, it->second);
    }
    std::vector<std::string> items;
    absl::StatusOr<Tensor> tensor = Tensor();
    if (form.IsSymbol("{")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(List("}", [&] { return ParseItem(&items); }));
      tensor = ConstantFromItems(type.dtype, *shape, items);
    } else if (form.IsWord("random") || form.IsWord("fill")) {
      INGOT_RETURN_IF_ERROR(Advance());
      INGOT_RETURN_IF_ERROR(Expect("("));
      INGOT_RETURN_IF_ERROR(ParseItem(&items));
      INGOT_RETURN_IF_ERROR(Expect(")"));
      tensor = form.IsWord("fill")
                   ? FilledConstant(type.dtype, *shape, items[0])
                   : RandomConstant(type.dtype, *shape, items[0]);
    } else {
      return Unexpected("'{', @\"key\", fill or random");
    }
    if (!tensor.ok()) return ErrorAt(form, tensor.status().message());
    return function_->AddConstant(name.text, *std::move(tensor));
  }

  absl::Status ParseItem(std::vector<std::string>* items) {
    INGOT_ASSIGN_OR_RETURN(bool negative, Accept("-"));
    if (!token_.IsNumber() && token_.kind != TokenKind::kWord) {
      return Unexpected("a value");
    }
    items->push_back(absl::StrCat(negative ? "-" : "", token_.text));
    return Advance();
  }

  absl::StatusOr<Node*> ParseCall(const Token& name) {
    const Token callee = token_;
    const OpDef* op = nullptr;
    const bool control = token_.IsWord("if") || token_.IsWord("loop");
    if (control) {
      // Its functions are its attributes.
    } else if (callee.kind == TokenKind::kWord) {
      op = StandardOps().Find(callee.text);
      if (op == nullptr) {
        return Error(absl::StrCat("there is no operator '", callee.text, "'"));
      }
    } else if (callee.kind != TokenKind::kAtName) {
      return Unexpected("an operator, a @function or const");
    }
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Expect("("));
    std::vector<Value> operands;
    INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      if (token_.IsWord("_")) {
        operands.emplace_back();
        return Advance();
      }
      INGOT_ASSIGN_OR_RETURN(Reference ref, ParseReference());
      INGOT_ASSIGN_OR_RETURN(Value value, Resolve(ref));
      operands.push_back(value);
      return absl::OkStatus();
    }));
    Attrs attrs;
    if (token_.IsSymbol("{")) {
      INGOT_ASSIGN_OR_RETURN(attrs, ParseAttrs(op));
    }
    const Token at = token_;
    std::vector<TensorType> types;
    INGOT_ASSIGN_OR_RETURN(bool typed, Accept(":"));
    if (typed) {
      INGOT_ASSIGN_OR_RETURN(types, ParseTypes());
    } else if (op == nullptr) {
      return Unexpected("':' and the type of the call's results");
    }
    if (control) {
      const NodeKind kind =
          callee.IsWord("if") ? NodeKind::kIf : NodeKind::kLoop;
      if (absl::Status s = CheckControlAttrs(kind, attrs); !s.ok()) {
        return ErrorAt(callee, s.message());
      }
      return function_->AddControl(kind, name.text, std::move(operands),
                                   std::move(attrs), std::move(types));
    }
    if (op == nullptr) {
      Node* node = function_->AddCall(callee.text, name.text,
                                      std::move(operands), std::move(types));
      node->attrs = std::move(attrs);
      return node;
    }
    absl::StatusOr<Node*> node = function_->AddOp(
        op->name, name.text, std::move(operands), std::move(attrs));
    if (!node.ok()) return ErrorAt(callee, node.status().message());
    if (typed) INGOT_RETURN_IF_ERROR(CheckTypes(at, **node, types));
    // As written, so that what is printed again reads the same.
    if (typed) (*node)->outputs = std::move(types);
    return *node;
  }

  static absl::Status CheckTypes(const Token& at, const Node& node,
                                 absl::Span<const TensorType> types) {
    bool same = types.size() == node.outputs.size();
    for (size_t i = 0; same && i < types.size(); ++i) {
      same = Agrees(types[i], node.outputs[i]);
    }
    if (same) return absl::OkStatus();
    std::string inferred;
    for (const TensorType& type : node.outputs) {
      absl::StrAppend(&inferred, inferred.empty() ? "" : ", ", ToString(type));
    }
    return ErrorAt(
        at, absl::StrCat("the results of ", node.op->name, " are ", inferred));
  }

  const std::map<std::string, Tensor>& constants_;
  Function* function_ = nullptr;
  std::map<std::string, Node*> nodes_;  // of the function so far
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    absl::string_view text, const std::map<std::string, Tensor>& constants) {
  return Parser(text, constants).Run();
}

absl::StatusOr<std::map<std::string, Tensor>> ReadConstantsOf(
    absl::string_view path) {
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  for (const std::string& weights :
       {absl::StrCat(path, ".weights"), absl::StrCat(folder, kSharedWeights)}) {
    if (std::ifstream(weights).good()) return ReadSafetensorsFile(weights);
  }
  return std::map<std::string, Tensor>();
}

absl::StatusOr<std::unique_ptr<Module>> ReadModuleFile(absl::string_view path) {
  const std::string name(path);
  std::ifstream in(name, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  const std::string text{std::istreambuf_iterator<char>(in),
                         std::istreambuf_iterator<char>()};
  INGOT_ASSIGN_OR_RETURN(const auto constants, ReadConstantsOf(path));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text, constants);
  if (!module.ok()) {
    return absl::Status(module.status().code(),
                        absl::StrCat(path, ":", module.status().message()));
  }
  return module;
}

}  // namespace ingot::relay
