#include "loaders/inspectors/plan_inspector.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "artifact/artifact_set.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/lives.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {
namespace {

// Renders one plan. Indices may be out of range, since nothing has checked the
// plan: they print as they are.
class PlanPrinter {
 public:
  explicit PlanPrinter(const Plan& plan)
      : plan_(plan), symbols_(SymbolNames(plan)) {}

  std::string Print() {
    absl::StrAppend(&text_, "plan ", plan_.entry(), " (version ",
                    plan_.version(), ")\n");
    std::vector<std::string> devices;
    for (const PlanDevice& device : plan_.devices()) {
      devices.push_back(
          device.target_key().empty()
              ? device.kind()
              : absl::StrCat(device.kind(), " for ", device.target_key()));
    }
    absl::StrAppend(&text_, "devices: ", absl::StrJoin(devices, ", "), "\n");
    PrintPlan();
    return std::move(text_);
  }

 private:
  void PrintPlan() {
    PrintEnds("inputs", plan_.inputs());
    PrintEnds("outputs", plan_.outputs());
    PrintPhases();
    PrintStorage();
    PrintViews();
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

  // Names what the call does: a function's name, or the words for the rest.
  static std::string Verb(const PlanCall& call) {
    if (call.has_branch()) {
      const PlanBranch& branch = call.branch();
      auto body = [](bool is_there, uint32_t b) {
        return is_there ? absl::StrCat("body ", b) : std::string("none");
      };
      return absl::StrCat(
          "if[then ", body(branch.has_then_body(), branch.then_body()),
          ", else ", body(branch.has_else_body(), branch.else_body()), "]");
    }
    if (call.has_loop()) {
      return absl::StrCat("loop[body ", call.loop().body(), ", carried ",
                          call.loop().carried(), "]");
    }
    if (call.has_sequence()) {
      return absl::StrCat(call.sequence().op(), "[axis ",
                          call.sequence().axis(),
                          call.sequence().flag() ? ", flag" : "", "]");
    }
    if (call.has_random_state()) return "random_state";
    if (call.has_bind_dims()) return "bind_dims";
    if (call.has_copy()) return "copy";
    return call.has_function() ? call.function() : "nothing";
  }

  std::string SymbolName(uint32_t symbol) const {
    return symbol < symbols_.size() ? symbols_[symbol]
                                    : absl::StrCat("#", symbol, "?");
  }

  std::string Type(const PlanTensor& tensor) const {
    DataType dtype;
    dtype.code = static_cast<uint8_t>(tensor.dtype().code());
    dtype.bits = static_cast<uint8_t>(tensor.dtype().bits());
    if (tensor.is_sequence()) {
      return absl::StrCat("sequence<", dtype.ToString(), ">");
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

  void PrintPhases() {
    absl::StrAppend(&text_, "\nphases (", plan_.phases_size(), "):\n");
    for (int p = 0; p < plan_.phases_size(); ++p) {
      const PlanPhase& phase = plan_.phases(p);
      std::vector<std::string> bound;
      for (uint32_t symbol : phase.symbols()) {
        bound.push_back(absl::StrCat(SymbolName(symbol), AtLeast(symbol)));
      }
      absl::StrAppendFormat(&text_, "  %-4d from call %d%s%s\n", p,
                            phase.first_call(), bound.empty() ? "" : ", binds ",
                            absl::StrJoin(bound, ", "));
    }
  }

  // A lower bound that is not the usual one.
  std::string AtLeast(uint32_t symbol) const {
    if (symbol >= symbols_.size()) return "";
    const int64_t bound = plan_.symbols(static_cast<int>(symbol)).lower_bound();
    return bound == 0 ? "" : absl::StrCat(" (at least ", bound, ")");
  }

  // A tensor's size: a number, or a product of dimensions.
  std::string Bytes(const PlanTensor& tensor) const {
    DimExpr bytes;
    bytes.set_value((tensor.dtype().bits() + 7) / 8);
    int64_t number = bytes.value();
    bool known = true;
    for (const DimExpr& dim : tensor.shape()) {
      known = known && dim.op() == DimExpr::CONST &&
              !__builtin_mul_overflow(number, dim.value(), &number);
      DimExpr product;
      product.set_op(DimExpr::MUL);
      *product.add_operands() = bytes;
      *product.add_operands() = dim;
      bytes = product;
    }
    return known ? absl::StrCat(number) : DimExprToString(bytes, symbols_);
  }

  // Each storage, and a line for each tensor in it.
  void PrintStorage() {
    absl::StrAppend(&text_, "\nstorage (", plan_.storage_size(), "):\n");
    const std::vector<Life> lives = FindLives(plan_);
    std::vector<std::vector<int>> users(plan_.storage_size());
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      if (tensor.has_storage() && tensor.storage() < users.size()) {
        users[tensor.storage()].push_back(i);
      }
    }
    for (int i = 0; i < plan_.storage_size(); ++i) {
      const PlanStorage& storage = plan_.storage(i);
      std::vector<std::string> sizes;
      for (const DimExpr& bytes : storage.bytes()) {
        sizes.push_back(DimExprToString(bytes, symbols_));
      }
      absl::StrAppendFormat(
          &text_, "  #%d: %s bytes on device %d, from phase %d\n", i,
          absl::StrJoin(sizes, " | "), storage.device(), storage.phase());
      absl::StrAppendFormat(&text_, "  %12s %12s  %5s %5s  %s\n", "offset",
                            "bytes", "first", "last", "tensor");
      for (int t : users[i]) {
        const PlanTensor& tensor = plan_.tensors(t);
        const std::string last = lives[t].last == plan_.calls_size()
                                     ? "end"
                                     : absl::StrCat(lives[t].last);
        absl::StrAppendFormat(&text_, "  %12d %12s  %5d %5s  %s\n",
                              tensor.offset(), Bytes(tensor), lives[t].first,
                              last, tensor.name());
      }
    }
  }

  void PrintViews() {
    bool any = false;
    for (const PlanTensor& tensor : plan_.tensors()) {
      if (!tensor.has_view_of()) continue;
      if (!any) absl::StrAppend(&text_, "\nviews:\n");
      any = true;
      absl::StrAppend(&text_, "  ", tensor.name(), " : ", Type(tensor), " of ",
                      Name(tensor.view_of()), "\n");
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
                      call.has_bind_dims()
                          ? absl::StrCat("element ", bind.index())
                          : absl::StrCat("dimension ", bind.index(),
                                         " of result ", bind.output()));
    }
    for (const PlanInPlace& pair : call.in_place()) {
      absl::StrAppend(&text_, ", ", At(writes, pair.result()),
                      " in the place of ", At(reads, pair.operand()));
    }
    if (call.device() != 0) absl::StrAppend(&text_, ", device ", call.device());
    if (!call.source().empty()) absl::StrAppend(&text_, "   # ", call.source());
    text_ += "\n";
  }

  static std::string At(const std::vector<std::string>& names, uint32_t i) {
    return i < names.size() ? names[i] : absl::StrCat("#", i, "?");
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
