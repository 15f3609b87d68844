#include "runtime/plan/text/plan_printer.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/quote.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/lives.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

constexpr size_t kMostText = size_t{1} << 30;
// Wider cells than this do not push the columns of all other rows apart.
constexpr size_t kWidestCell = 48;

// The bytes of the symbols' names in all expressions: a short plan can name a
// long symbol often.
uint64_t BytesOfNames(const DimExpr& expr, const Plan& plan) {
  uint64_t bytes = 0;
  if (expr.op() == DimExpr::SYMBOL && expr.value() >= 0 &&
      expr.value() < plan.symbols_size()) {
    bytes += plan.symbols(static_cast<int>(expr.value())).name().size();
  }
  for (const DimExpr& operand : expr.operands()) {
    bytes += BytesOfNames(operand, plan);
  }
  return bytes;
}

uint64_t BytesOfNames(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanTensor& tensor : plan.tensors()) {
    for (const DimExpr& dim : PlanTypeOf(plan, tensor).shape()) {
      bytes += BytesOfNames(dim, plan);
    }
  }
  for (const PlanSymbol& symbol : plan.symbols()) {
    bytes += BytesOfNames(symbol.value(), plan);
  }
  for (const PlanStorage& storage : plan.storage()) {
    for (const DimExpr& size : storage.bytes()) {
      bytes += BytesOfNames(size, plan);
    }
  }
  for (const PlanRequirement& requirement : plan.requirements()) {
    bytes += BytesOfNames(requirement.left(), plan);
    bytes += BytesOfNames(requirement.right(), plan);
  }
  for (const Plan& body : plan.bodies()) bytes += BytesOfNames(body);
  return bytes;
}

// A name that cannot be taken for the clause of the line above it.
std::string Word(const std::string& name) {
  for (const absl::string_view clause : {"at", "for", "from", "on", "or"}) {
    if (name == clause) return text::QuotedString(name);
  }
  return text::QuotedSymbol(name);
}

std::vector<std::string> QuotedSymbols(const Plan& plan) {
  std::vector<std::string> names = SymbolNames(plan);
  for (std::string& name : names) name = Word(name);
  return names;
}

// Writes lines, and stops where the text is too long.
class Lines {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    if (IsLong()) return;
    text_.append(2 * depth_, ' ');
    absl::StrAppend(&text_, parts..., "\n");
  }
  template <typename... Parts>
  void Open(const Parts&... parts) {
    Add(parts..., " {");
    ++depth_;
  }
  template <typename... Parts>
  void Close(const Parts&... parts) {
    --depth_;
    Add("}", parts...);
  }

  bool IsLong() const { return text_.size() > kMostText; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  size_t depth_ = 0;
};

// Prints one plan or body; `main` has the devices.
class PlanPrinter {
 public:
  PlanPrinter(const Plan& main, const Plan& plan, Lines* lines)
      : main_(main),
        plan_(plan),
        symbols_(QuotedSymbols(plan)),
        lines_(*lines) {}

  void Print() {
    PrintSymbols();
    PrintEnds("inputs", plan_.inputs());
    PrintEnds("outputs", plan_.outputs());
    PrintStates();
    PrintStorage();
    PrintTensors();
    PrintCalls();
    PrintRequirements();
    for (int i = 0; i < plan_.bodies_size() && !lines_.IsLong(); ++i) {
      lines_.Open("body ", text::QuotedString(plan_.bodies(i).entry()));
      PlanPrinter(main_, plan_.bodies(i), &lines_).Print();
      lines_.Close("  # ", i);
    }
  }

 private:
  const PlanTensor* Find(uint32_t id) const {
    return id < static_cast<uint32_t>(plan_.tensors_size())
               ? &plan_.tensors(static_cast<int>(id))
               : nullptr;
  }

  std::string Name(uint32_t id) const {
    const PlanTensor* tensor = Find(id);
    return tensor == nullptr
               ? absl::StrCat("?", id)
               : absl::StrCat("%", text::QuotedName(tensor->name()));
  }

  std::string Symbol(uint32_t symbol) const {
    return symbol < symbols_.size() ? symbols_[symbol]
                                    : absl::StrCat("?", symbol);
  }

  // " on gpu", unless it is the first device.
  std::string On(uint32_t device) const {
    if (device == 0) return "";
    return device < static_cast<uint32_t>(main_.devices_size())
               ? absl::StrCat(
                     " on ",
                     Word(main_.devices(static_cast<int>(device)).target_key()))
               : absl::StrCat(" on ?", device);
  }

  void PrintSymbols() {
    if (plan_.symbols_size() == 0) return;
    lines_.Open("symbols");
    for (int i = 0; i < plan_.symbols_size(); ++i) {
      const PlanSymbol& symbol = plan_.symbols(i);
      const int64_t least = symbol.lower_bound();
      lines_.Add(
          symbols_[i],
          symbol.has_value()
              ? absl::StrCat(" = ", DimExprToString(symbol.value(), symbols_))
              : "",
          least == 0 ? "" : absl::StrCat(" at least ", least));
    }
    lines_.Close();
  }

  void PrintEnds(
      absl::string_view title,
      const google::protobuf::RepeatedField<google::protobuf::uint32>& ids) {
    lines_.Open(title);
    for (const uint32_t id : ids) {
      const PlanTensor* tensor = Find(id);
      lines_.Add(
          Name(id),
          tensor == nullptr
              ? ""
              : absl::StrCat("  # ", TypeToString(plan_, *tensor, symbols_)));
    }
    lines_.Close();
  }

  void PrintStates() {
    if (plan_.states_size() == 0) return;
    lines_.Open("states");
    for (int i = 0; i < plan_.states_size(); ++i) {
      const PlanTensor* tensor = Find(plan_.states(i));
      const std::string result =
          i < plan_.state_results_size() ? plan_.state_results(i) : "";
      lines_.Add(
          Name(plan_.states(i)),
          result.empty() ? ""
                         : absl::StrCat(" becomes %", text::QuotedName(result)),
          tensor == nullptr
              ? ""
              : absl::StrCat("  # ", TypeToString(plan_, *tensor, symbols_)));
    }
    lines_.Close();
  }

  std::string Place(const PlanTensor& tensor) const {
    switch (tensor.place_case()) {
      case PlanTensor::kInput:
        return "input";
      case PlanTensor::kState:
        return "state";
      case PlanTensor::kConstant:
        return absl::StrCat("constant ", text::QuotedString(tensor.constant()),
                            On(tensor.device()));
      case PlanTensor::kStorage:
        return absl::StrCat("storage ", tensor.storage(), " at ",
                            tensor.offset());
      case PlanTensor::kViewOf:
        return absl::StrCat("view of ", Name(tensor.view_of()));
      case PlanTensor::kPartOf:
        return absl::StrCat("part of ", Name(tensor.part_of()), " at ",
                            tensor.offset());
      case PlanTensor::PLACE_NOT_SET:
        return "held";
    }
    return "?";
  }

  // A line for each storage, and a comment for each tensor in it.
  void PrintStorage() {
    const std::vector<Life> lives = FindLives(plan_);
    std::vector<std::vector<int>> users(plan_.storage_size());
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      if (tensor.has_storage() && tensor.storage() < users.size()) {
        users[tensor.storage()].push_back(i);
      }
    }
    if (users.empty()) return;
    lines_.Open("storage");
    for (int i = 0; i < plan_.storage_size() && !lines_.IsLong(); ++i) {
      const PlanStorage& storage = plan_.storage(i);
      std::vector<std::string> sizes;
      for (const DimExpr& bytes : storage.bytes()) {
        sizes.push_back(DimExprToString(bytes, symbols_));
      }
      lines_.Add(i, ": [", absl::StrJoin(sizes, ", "), "]",
                 On(storage.device()));
      if (users[i].empty()) continue;
      lines_.Add(absl::StrFormat("#   %10s  %10s  %5s  %5s  %s", "offset",
                                 "bytes", "first", "last", "tensor"));
      for (const int t : users[i]) lines_.Add(User(t, lives[t]));
    }
    lines_.Close();
  }

  std::string User(int index, const Life& life) const {
    const PlanTensor& tensor = plan_.tensors(index);
    const std::optional<int64_t> bytes = KnownBytes(plan_, tensor);
    return absl::StrFormat(
        "#   %10d  %10s  %5d  %5s  %s", tensor.offset(),
        bytes ? absl::StrCat(*bytes) : "varies", life.first,
        life.last == plan_.calls_size() ? "end" : absl::StrCat(life.last),
        Name(static_cast<uint32_t>(index)));
  }

  void PrintTensors() {
    size_t name_width = 0, type_width = 0;
    const auto widen = [](size_t* width, size_t size) {
      if (size <= kWidestCell) *width = std::max(*width, size);
    };
    for (const PlanTensor& tensor : plan_.tensors()) {
      widen(&name_width, text::QuotedName(tensor.name()).size() + 2);
      widen(&type_width, TypeToString(plan_, tensor, symbols_).size());
    }
    lines_.Open("tensors");
    for (int i = 0; i < plan_.tensors_size() && !lines_.IsLong(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      lines_.Add(
          absl::StrFormat("%-*s  %-*s  ", name_width, Name(i) + ":", type_width,
                          TypeToString(plan_, tensor, symbols_)),
          Place(tensor));
    }
    lines_.Close();
  }

  void PrintCalls() {
    lines_.Open("calls");
    for (int i = 0; i < plan_.calls_size() && !lines_.IsLong(); ++i)
      PrintCall(i);
    lines_.Close();
  }

  // The attributes of a step, which stand beside its operands in braces.
  static std::string Attributes(const PlanCall& call) {
    std::vector<std::string> parts;
    if (call.has_branch()) {
      const PlanBranch& branch = call.branch();
      if (branch.has_then_body()) {
        parts.push_back(absl::StrCat("then=", branch.then_body()));
      }
      if (branch.has_else_body()) {
        parts.push_back(absl::StrCat("else=", branch.else_body()));
      }
    } else if (call.has_loop()) {
      parts.push_back(absl::StrCat("body=", call.loop().body()));
      parts.push_back(absl::StrCat("carried=", call.loop().carried()));
      if (call.loop().has_max_iterations()) parts.push_back("max_iterations");
      if (call.loop().has_condition()) parts.push_back("condition");
    } else if (call.has_sequence()) {
      parts.push_back(absl::StrCat("axis=", call.sequence().axis()));
      if (call.sequence().flag()) parts.push_back("flag");
    }
    return parts.empty() ? ""
                         : absl::StrCat(" {", absl::StrJoin(parts, ", "), "}");
  }

  // The values that symbols are bound to, and what takes the place of what.
  std::string Effects(const PlanCall& call) const {
    std::vector<std::string> binds, in_place;
    for (const PlanBind& bind : call.binds()) {
      binds.push_back(absl::StrCat(
          Symbol(bind.symbol()), " = ",
          call.has_bind_dims() ? absl::StrCat("element ", bind.index())
                               : absl::StrCat("dimension ", bind.index(),
                                              " of result ", bind.output())));
    }
    for (const PlanInPlace& pair : call.in_place()) {
      in_place.push_back(absl::StrCat("result ", pair.result(), " = operand ",
                                      pair.operand()));
    }
    return absl::StrCat(
        binds.empty() ? "" : " binds ", absl::StrJoin(binds, ", "),
        in_place.empty() ? "" : " in_place ", absl::StrJoin(in_place, ", "));
  }

  void PrintCall(int index) {
    const PlanCall& call = plan_.calls(index);
    const int64_t reads = int64_t{call.args_size()} - call.num_outputs();
    std::string operands, results, types;
    for (int i = 0; i < call.args_size(); ++i) {
      if (operands.size() + results.size() + types.size() > kMostText) break;
      std::string* list = i < reads ? &operands : &results;
      absl::StrAppend(list, list->empty() ? "" : ", ", Name(call.args(i)));
      const PlanTensor* tensor = Find(call.args(i));
      if (i < reads || tensor == nullptr) continue;
      absl::StrAppend(&types, types.empty() ? ": " : ", ",
                      TypeToString(plan_, *tensor, symbols_));
    }
    if (!results.empty()) results += " = ";
    const std::string step = StepToString(call);
    lines_.Add(results,
               call.has_function() ? absl::StrCat("@", text::QuotedName(step))
                                   : text::QuotedSymbol(step),
               "(", operands, ")", Attributes(call), Effects(call),
               On(call.device()),
               call.operations() == 0
                   ? ""
                   : absl::StrCat(" operations ", call.operations()),
               call.source().empty()
                   ? ""
                   : absl::StrCat(" from ", text::QuotedString(call.source())),
               "  # ", index, types);
  }

  void PrintRequirements() {
    if (plan_.requirements_size() == 0) return;
    lines_.Open("requirements");
    for (const PlanRequirement& requirement : plan_.requirements()) {
      lines_.Add(DimExprToString(requirement.left(), symbols_), " = ",
                 DimExprToString(requirement.right(), symbols_),
                 requirement.or_one() ? " or one" : "",
                 requirement.source().empty()
                     ? ""
                     : absl::StrCat(" from ",
                                    text::QuotedString(requirement.source())));
    }
    lines_.Close();
  }

  const Plan& main_;
  const Plan& plan_;
  const std::vector<std::string> symbols_;
  Lines& lines_;
};

}  // namespace

absl::StatusOr<std::string> PrintPlan(const Plan& plan) {
  const absl::Status too_large =
      absl::ResourceExhaustedError("the plan is too large to be shown as text");
  if (BytesOfNames(plan) > kMostText) return too_large;
  Lines lines;
  lines.Open("plan ", text::QuotedString(plan.entry()), " version ",
             plan.version());
  lines.Open("devices");
  for (const PlanDevice& device : plan.devices()) {
    std::string served;
    if (!device.target_key().empty()) {
      served = absl::StrCat(" for ", Word(device.target_key()));
    }
    for (const std::string& key : device.shared_by()) {
      absl::StrAppend(&served, ", ", Word(key));
    }
    lines.Add(Word(device.kind()), served);
  }
  lines.Close();
  PlanPrinter(plan, plan, &lines).Print();
  lines.Close();
  if (lines.IsLong()) return too_large;
  return lines.Take();
}

}  // namespace ingot
