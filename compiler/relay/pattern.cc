#include "compiler/relay/pattern.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

struct Pattern::Form {
  enum Kind { kAny, kConstant, kOp };
  Kind kind = kAny;
  std::vector<std::string> ops;
  std::vector<Pattern> operands;
  bool optional = false;  // operands[0] will do in its place
};

Pattern Pattern::Any() { return Pattern(std::make_shared<Form>()); }

Pattern Pattern::Constant() {
  auto form = std::make_shared<Form>();
  form->kind = Form::kConstant;
  return Pattern(std::move(form));
}

Pattern Pattern::Op(std::vector<std::string> ops,
                    std::vector<Pattern> operands) {
  auto form = std::make_shared<Form>();
  form->kind = Form::kOp;
  form->ops = std::move(ops);
  form->operands = std::move(operands);
  return Pattern(std::move(form));
}

Pattern Pattern::Maybe(std::vector<std::string> ops, Pattern inner,
                       std::vector<Pattern> other_operands) {
  auto form = std::make_shared<Form>();
  form->kind = Form::kOp;
  form->ops = std::move(ops);
  form->operands = std::move(other_operands);
  form->operands.insert(form->operands.begin(), std::move(inner));
  form->optional = true;
  return Pattern(std::move(form));
}

std::string Pattern::ToString() const {
  if (form_->kind == Form::kAny) return "*";
  if (form_->kind == Form::kConstant) return "const";
  std::string text = absl::StrJoin(form_->ops, "|");
  if (form_->optional) text = absl::StrCat("[", text, "]");
  if (form_->operands.empty()) return text;
  if (form_->ops.size() > 1 && !form_->optional) {
    text = absl::StrCat("(", text, ")");
  }
  return absl::StrCat(
      text, "(",
      absl::StrJoin(form_->operands, ", ",
                    [](std::string* out, const Pattern& operand) {
                      absl::StrAppend(out, operand.ToString());
                    }),
      ")");
}

class PatternMatcher {
 public:
  PatternMatcher(const std::map<const Node*, std::vector<Node*>>& users,
                 const std::vector<Value>& outputs)
      : users_(users) {
    for (const Value& output : outputs) outputs_.insert(output.node);
  }

  // On success nodes_ grew by what matched; otherwise it is as it was.
  bool Match(const Pattern& pattern, const Value& value, bool is_root) {
    using Form = Pattern::Form;
    const Form& form = *pattern.form_;
    if (form.kind == Form::kAny) return true;
    if (value.node == nullptr) return false;
    if (form.kind == Form::kConstant) {
      return value.node->kind == NodeKind::kConstant;
    }
    if (MatchCall(form, value, is_root)) return true;
    return form.optional && Match(form.operands[0], value, is_root);
  }

  std::vector<Node*> Take() { return std::move(nodes_); }

 private:
  bool MatchCall(const Pattern::Form& form, const Value& value, bool is_root) {
    Node* node = value.node;
    if (node->kind != NodeKind::kOp || node->outputs.size() != 1 ||
        std::find(form.ops.begin(), form.ops.end(), node->op->name) ==
            form.ops.end() ||
        node->inputs.size() < form.operands.size()) {
      return false;
    }
    if (!is_root && (outputs_.count(node) > 0 || Uses(node) != 1)) {
      return false;
    }
    const size_t start = nodes_.size();
    if (MatchOperands(form, *node, false) ||
        (node->op->Has(kCommutes) && form.operands.size() == 2 &&
         MatchOperands(form, *node, true))) {
      nodes_.push_back(node);
      return true;
    }
    nodes_.resize(start);
    return false;
  }

  bool MatchOperands(const Pattern::Form& form, const Node& node,
                     bool swapped) {
    const size_t start = nodes_.size();
    for (size_t i = 0; i < form.operands.size(); ++i) {
      if (!Match(form.operands[i], node.inputs[swapped ? 1 - i : i], false)) {
        nodes_.resize(start);
        return false;
      }
    }
    return true;
  }

  // Operands that are this node, counted one by one: x * x uses x twice.
  size_t Uses(const Node* node) const {
    auto it = users_.find(node);
    if (it == users_.end()) return 0;
    size_t uses = 0;
    for (const Node* user :
         std::set<const Node*>(it->second.begin(), it->second.end())) {
      for (const Value& input : user->inputs) uses += input.node == node;
    }
    return uses;
  }

  const std::map<const Node*, std::vector<Node*>>& users_;
  std::set<const Node*> outputs_;
  std::vector<Node*> nodes_;
};

std::vector<Node*> Match(const Pattern& pattern, Node* root,
                         const std::map<const Node*, std::vector<Node*>>& users,
                         const std::vector<Value>& outputs) {
  PatternMatcher matcher(users, outputs);
  if (!matcher.Match(pattern, Value{root, 0}, /*is_root=*/true)) return {};
  return matcher.Take();
}

}  // namespace ingot::relay
