#include "loaders/metadata/plan_inspector.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "artifact/artifact_set.h"
#include "loaders/load_names.h"
#include "runtime/data_type.h"
#include "runtime/dim_expr.h"
#include "runtime/plan.pb.h"

namespace ingot {
namespace {

// Renders one plan. Indices may be out of range, since nothing has checked the
// plan: they print as they are.
class PlanPrinter {
 public:
  explicit PlanPrinter(const Plan& plan)
      : plan_(plan), symbols_(plan.symbols().begin(), plan.symbols().end()) {}

  std::string Print() {
    absl::StrAppend(&text_, "plan ", plan_.entry(), " (version ",
                    plan_.version(), ")\n");
    PrintPlan();
    return std::move(text_);
  }

 private:
  void PrintPlan() {
    if (!symbols_.empty()) {
      absl::StrAppend(&text_, "symbols: ", absl::StrJoin(symbols_, ", "), "\n");
    }
    PrintEnds("inputs", plan_.inputs());
    PrintEnds("outputs", plan_.outputs());
    PrintStorage();
    absl::StrAppend(&text_, "\ncalls (", plan_.calls_size(), "):\n");
    for (int i = 0; i < plan_.calls_size(); ++i) PrintCall(i);
    PrintRequirements();
    for (int i = 0; i < plan_.bodies_size(); ++i) {
      PlanPrinter body(plan_.bodies(i));
      absl::StrAppend(&body.text_, "\nbody ", i, " (", plan_.bodies(i).entry(),
                      ")\n");
      body.PrintPlan();
      text_ += absl::StrReplaceAll(body.text_, {{"\n", "\n    "}});
      text_ += "\n";
    }
  }

  // What the call does: a function's name, or the words for the rest.
  static std::string Verb(const PlanCall& call) {
    auto body = [](uint32_t b) {
      return b == 0 ? std::string("none") : absl::StrCat("body ", b - 1);
    };
    if (call.has_branch()) {
      return absl::StrCat("if[then ", body(call.branch().then_body()),
                          ", else ", body(call.branch().else_body()), "]");
    }
    if (call.has_loop()) {
      return absl::StrCat("loop[body ", call.loop().body(), ", carried ",
                          call.loop().carried(), "]");
    }
    if (call.has_list()) {
      return absl::StrCat(call.list().op(), "[axis ", call.list().axis(),
                          call.list().flag() ? ", flag" : "", "]");
    }
    if (call.has_random_state()) return "random_state";
    return call.function().empty() ? "bind" : call.function();
  }

  std::string SymbolName(uint32_t symbol) const {
    return symbol < symbols_.size() ? symbols_[symbol]
                                    : absl::StrCat("#", symbol, "?");
  }

  std::string Type(const PlanTensor& tensor) const {
    DataType dtype;
    dtype.code = static_cast<uint8_t>(tensor.dtype().code());
    dtype.bits = static_cast<uint8_t>(tensor.dtype().bits());
    if (tensor.is_list()) {
      return absl::StrCat("list<", dtype.ToString(), ">");
    }
    std::vector<std::string> dims;
    for (const DimExpr& dim : tensor.shape()) {
      dims.push_back(DimExprToString(dim, symbols_));
    }
    return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(dims, ", "), "]");
  }

  const PlanTensor* Find(uint32_t id) const {
    return id < static_cast<uint32_t>(plan_.tensors_size())
               ? &plan_.tensors(static_cast<int>(id))
               : nullptr;
  }

  std::string Name(uint32_t id) const {
    const PlanTensor* tensor = Find(id);
    return tensor == nullptr ? absl::StrCat("#", id, "?") : tensor->name();
  }

  void PrintEnds(
      absl::string_view title,
      const google::protobuf::RepeatedField<google::protobuf::uint32>& ids) {
    absl::StrAppend(&text_, "\n", title, ":\n");
    for (uint32_t id : ids) {
      const PlanTensor* tensor = Find(id);
      absl::StrAppendFormat(&text_, "  %-32s %s\n", Name(id),
                            tensor == nullptr ? "?" : Type(*tensor));
    }
  }

  void PrintStorage() {
    absl::StrAppend(&text_, "\nstorage (", plan_.storage_size(), "):\n");
    std::vector<std::vector<std::string>> users(plan_.storage_size());
    for (const PlanTensor& tensor : plan_.tensors()) {
      if (tensor.place_case() == PlanTensor::kStorage &&
          tensor.storage() < users.size()) {
        users[tensor.storage()].push_back(tensor.name());
      }
    }
    for (int i = 0; i < plan_.storage_size(); ++i) {
      std::vector<std::string> sizes;
      for (const DimExpr& bytes : plan_.storage(i).bytes()) {
        sizes.push_back(DimExprToString(bytes, symbols_));
      }
      absl::StrAppendFormat(&text_, "  #%-4d %12s bytes  %s\n", i,
                            absl::StrJoin(sizes, " | "),
                            absl::StrJoin(users[i], " "));
    }
  }

  void PrintCall(int index) {
    const PlanCall& call = plan_.calls(index);
    std::vector<std::string> reads, writes;
    for (int i = 0; i < call.args_size(); ++i) {
      const bool written =
          i + static_cast<int64_t>(call.num_outputs()) >= call.args_size();
      (written ? writes : reads).push_back(Name(call.args(i)));
    }
    absl::StrAppendFormat(&text_, "  %4d  %s = %s(%s)", index,
                          absl::StrJoin(writes, ", "), Verb(call),
                          absl::StrJoin(reads, ", "));
    if (call.args_size() > 0) {
      if (const PlanTensor* t = Find(call.args(call.args_size() - 1))) {
        absl::StrAppend(&text_, " : ", Type(*t));
      }
    }
    for (const PlanBind& bind : call.binds()) {
      absl::StrAppend(&text_, ", ", SymbolName(bind.symbol()), " := ",
                      call.control_case() == PlanCall::CONTROL_NOT_SET
                          ? absl::StrCat("element ", bind.index())
                          : absl::StrCat("dimension ", bind.index(),
                                         " of result ", bind.output()));
    }
    if (!call.source().empty()) absl::StrAppend(&text_, "   # ", call.source());
    text_ += "\n";
  }

  void PrintRequirements() {
    if (plan_.requirements_size() == 0) return;
    absl::StrAppend(&text_, "\nrequirements:\n");
    for (const PlanRequirement& requirement : plan_.requirements()) {
      absl::StrAppend(&text_, "  ",
                      DimExprToString(requirement.left(), symbols_), " = ",
                      DimExprToString(requirement.right(), symbols_),
                      requirement.or_one() ? ", or one of them is 1" : "",
                      "   # ", requirement.source(), "\n");
    }
  }

  const Plan& plan_;
  const std::vector<std::string> symbols_;
  std::string text_;
};

}  // namespace

absl::Status RegisterPlanInspector(InspectorRegistry* inspectors) {
  InspectorRule rule;
  rule.name = "plan";
  rule.loader = kMetadataLoader;
  rule.output_suffix = ".txt";
  rule.inspect = [](const Artifact& artifact) -> absl::StatusOr<std::string> {
    Plan plan;
    if (artifact.content.size() > (size_t{1} << 30) ||
        !plan.ParseFromArray(artifact.content.data(),
                             static_cast<int>(artifact.content.size()))) {
      return absl::InvalidArgumentError("these bytes are no plan");
    }
    return PlanPrinter(plan).Print();
  };
  return inspectors->Register(std::move(rule));
}

}  // namespace ingot
