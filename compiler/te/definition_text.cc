#include "compiler/te/definition_text.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/text.h"
#include "runtime/data_type.h"

namespace ingot::te {
namespace {

using tir::As;

class DefinitionPrinter {
 public:
  std::string Print(const Graph& graph, absl::Span<const Tensor> outputs) {
    for (const auto& operation : graph.operations()) Add(*operation);
    std::vector<std::string> names;
    for (const Tensor& t : outputs) names.push_back(NameOf(t.buffer.get()));
    absl::StrAppend(&text_, "outputs ", absl::StrJoin(names, " "), "\n");
    return std::move(text_);
  }

 private:
  void Add(const Operation& op) {
    // A part of a formula stands for one value within one operation alone.
    parts_.clear();
    known_.clear();
    parts_text_.clear();
    NameAxes(op);
    std::vector<std::string> heads;
    for (const Tensor& t : op.outputs) {
      heads.push_back(absl::StrCat(NameOf(t.buffer.get()), " = ", KindOf(op),
                                   " ", t.dtype().ToString(), List(t.shape())));
    }
    std::string head = absl::StrJoin(heads, ", ");
    if (op.kind == OperationKind::kReduce) {
      absl::StrAppend(&head, " over ", List(op.reduce_extent));
    }
    if (!op.tags.empty()) {
      absl::StrAppend(&head, " {",
                      absl::StrJoin(op.tags, ", ", absl::PairFormatter("=")),
                      "}");
    }
    const std::string last = ValueOf(op);
    absl::StrAppend(&text_, head, "\n", parts_text_);
    if (!last.empty()) absl::StrAppend(&text_, "  ", last, "\n");
  }

  static absl::string_view KindOf(const Operation& op) {
    switch (op.kind) {
      case OperationKind::kPlaceholder:
        return "placeholder";
      case OperationKind::kCompute:
        return "compute";
      case OperationKind::kReduce:
        return "reduce";
      case OperationKind::kExtern:
        return "extern";
    }
  }

  void NameAxes(const Operation& op) {
    for (size_t i = 0; i < op.axis.size(); ++i) {
      variables_[op.axis[i].get()] = absl::StrCat("i", i);
    }
    for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
      variables_[op.reduce_axis[i].get()] = absl::StrCat("r", i);
    }
  }

  std::string ValueOf(const Operation& op) {
    switch (op.kind) {
      case OperationKind::kPlaceholder:
        return "";
      case OperationKind::kExtern:
        return tir::Print(op.body);
      case OperationKind::kCompute:
        return absl::StrCat("value ", Text(op.value));
      case OperationKind::kReduce:
        break;
    }
    return ReductionOf(op);
  }

  std::string ReductionOf(const Operation& op) {
    const DataType dtype = op.reducer.identity->dtype;
    const tir::VarPtr acc = tir::MakeVar("acc", dtype);
    const tir::VarPtr term = tir::MakeVar("term", dtype);
    variables_[acc.get()] = "acc";
    variables_[term.get()] = "term";
    const Expr combined = op.reducer.combine(acc, term);
    // In this order, which the numbers of parts follow.
    const std::string identity = Text(op.reducer.identity);
    const std::string combine = Text(combined);
    const std::string value = Text(op.value);
    variables_.erase(acc.get());
    variables_.erase(term.get());
    return absl::StrCat("identity ", identity, " combine ", combine, " value ",
                        value);
  }

  std::string NameOf(const tir::BufferNode* buffer) {
    const auto [it, is_new] = tensors_.emplace(buffer, "");
    if (is_new) it->second = absl::StrCat("t", tensors_.size() - 1);
    return it->second;
  }

  std::string NameOf(const tir::Var& var) {
    const auto [it, is_new] = variables_.emplace(&var, "");
    if (is_new) it->second = absl::StrCat("s", symbols_++);
    return it->second;
  }

  std::string List(const std::vector<Expr>& exprs) {
    std::vector<std::string> texts;
    for (const Expr& e : exprs) texts.push_back(Text(e));
    return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  }

  // A leaf itself, or the number of the part that the expression is.
  std::string Text(const Expr& e) {
    if (const auto* n = As<tir::IntImm>(e)) {
      if (n->dtype == DataType::Int(64)) return absl::StrCat(n->value);
      return absl::StrCat(n->dtype.ToString(), "(", n->value, ")");
    }
    if (const auto* n = As<tir::FloatImm>(e)) {
      return absl::StrFormat("%s(%a)", n->dtype.ToString(), n->value);
    }
    if (const auto* n = As<tir::Var>(e)) return NameOf(*n);
    const auto done = parts_.find(e.get());
    if (done != parts_.end()) return done->second;
    const std::string line =
        absl::StrCat(Formula(e), " : ", e->dtype.ToString());
    const auto [known, is_new] = known_.emplace(line, "");
    if (is_new) {
      known->second = absl::StrCat("e", known_.size() - 1);
      absl::StrAppend(&parts_text_, "  ", known->second, " = ", line, "\n");
    }
    return parts_[e.get()] = known->second;
  }

  std::string Formula(const Expr& e) {
    if (const auto* n = As<tir::Unary>(e)) {
      return absl::StrCat(tir::SpellingOf(n->op), Text(n->a));
    }
    if (const auto* n = As<tir::Binary>(e)) {
      const std::string a = Text(n->a), b = Text(n->b);
      return absl::StrCat(a, " ", tir::SpellingOf(n->op).text, " ", b);
    }
    if (const auto* n = As<tir::Select>(e)) {
      return absl::StrCat("select",
                          List({n->condition, n->on_true, n->on_false}));
    }
    if (const auto* n = As<tir::Cast>(e)) {
      return absl::StrCat("cast", List({n->value}));
    }
    if (const auto* n = As<tir::Load>(e)) {
      return absl::StrCat("load ", NameOf(n->buffer.get()), List(n->indices));
    }
    if (const auto* n = As<tir::Ramp>(e)) {
      return absl::StrCat("ramp", List({n->base, n->stride}));
    }
    if (const auto* n = As<tir::Broadcast>(e)) {
      return absl::StrCat("broadcast", List({n->value}));
    }
    const auto* n = As<tir::Call>(e);
    return absl::StrCat(tir::IntrinsicName(n->intrinsic), List(n->args));
  }

  std::string text_;
  std::map<const tir::BufferNode*, std::string> tensors_;
  std::map<const tir::Var*, std::string> variables_;
  int symbols_ = 0;
  // The parts of one operation by address, and by what they are.
  std::map<const tir::ExprNode*, std::string> parts_;
  std::map<std::string, std::string> known_;
  std::string parts_text_;
};

}  // namespace

std::string DefinitionText(const Graph& graph,
                           absl::Span<const Tensor> outputs) {
  return DefinitionPrinter().Print(graph, outputs);
}

}  // namespace ingot::te
