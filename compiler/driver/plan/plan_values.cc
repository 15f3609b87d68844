#include "compiler/driver/plan/plan_values.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/tir/arith/simplify.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

absl::StatusOr<DimExpr::Op> DimOp(tir::BinaryOp op) {
  switch (op) {
    case tir::BinaryOp::kAdd:
      return DimExpr::ADD;
    case tir::BinaryOp::kSub:
      return DimExpr::SUB;
    case tir::BinaryOp::kMul:
      return DimExpr::MUL;
    case tir::BinaryOp::kFloorDiv:
      return DimExpr::FLOOR_DIV;
    case tir::BinaryOp::kFloorMod:
      return DimExpr::FLOOR_MOD;
    case tir::BinaryOp::kMin:
      return DimExpr::MIN;
    case tir::BinaryOp::kMax:
      return DimExpr::MAX;
    default:
      return absl::InvalidArgumentError(
          "a dimension uses an operation that a plan cannot express");
  }
}

// A quotient that is rounded towards zero, or its remainder, as what is rounded
// down. Extents that may be negative before they are limited are divided so.
absl::StatusOr<tir::Expr> RoundedDown(const tir::Binary& node) {
  int64_t divisor;
  if (!tir::AsConstInt(node.b, &divisor) || divisor < 1) {
    return absl::InvalidArgumentError(
        "a dimension is divided towards zero by what may be negative");
  }
  const tir::Expr zero = tir::MakeInt(0);
  const auto down = [&](const tir::Expr& x) {
    return tir::MakeBinary(tir::BinaryOp::kFloorDiv, x, node.b);
  };
  const tir::Expr quotient =
      down(Max(node.a, zero)) - down(Max(zero - node.a, zero));
  return node.op == tir::BinaryOp::kDiv ? quotient : node.a - quotient * node.b;
}

// Sums of more terms are written as trees: a reader of protobufs refuses a
// message that nests a hundred times, and a concatenation may have as many
// parts.
constexpr size_t kMaxNestedTerms = 16;

struct LongSum {
  std::vector<tir::Expr> added, subtracted;
};

// The terms of a sum, in order; of anything else itself.
LongSum TermsOf(tir::Expr e) {
  LongSum sum;
  while (const auto* binary = tir::As<tir::Binary>(e)) {
    if (binary->op != tir::BinaryOp::kAdd &&
        binary->op != tir::BinaryOp::kSub) {
      break;
    }
    (binary->op == tir::BinaryOp::kAdd ? sum.added : sum.subtracted)
        .push_back(binary->b);
    const tir::Expr rest = binary->a;
    e = rest;
  }
  sum.added.push_back(e);
  std::reverse(sum.added.begin(), sum.added.end());
  std::reverse(sum.subtracted.begin(), sum.subtracted.end());
  return sum;
}

}  // namespace

int PlanValues::AddSymbol(const tir::Var* symbol) {
  symbols_[symbol] = plan_->symbols_size();
  plan_->add_symbols()->set_name(symbol->name);
  return symbols_[symbol];
}

absl::StatusOr<DimExpr> PlanValues::SumOf(
    absl::Span<const tir::Expr> terms) const {
  if (terms.empty()) return DimExpr();  // 0
  if (terms.size() == 1) return ToDimExpr(terms[0]);
  DimExpr out;
  out.set_op(DimExpr::ADD);
  const size_t half = terms.size() / 2;
  INGOT_ASSIGN_OR_RETURN(*out.add_operands(), SumOf(terms.subspan(0, half)));
  INGOT_ASSIGN_OR_RETURN(*out.add_operands(), SumOf(terms.subspan(half)));
  return out;
}

absl::StatusOr<DimExpr> PlanValues::ToDimExpr(const tir::Expr& dim) const {
  DimExpr out;
  const LongSum sum = TermsOf(dim);
  if (sum.added.size() + sum.subtracted.size() > kMaxNestedTerms) {
    INGOT_ASSIGN_OR_RETURN(DimExpr added, SumOf(sum.added));
    if (sum.subtracted.empty()) return added;
    out.set_op(DimExpr::SUB);
    *out.add_operands() = std::move(added);
    INGOT_ASSIGN_OR_RETURN(*out.add_operands(), SumOf(sum.subtracted));
    return out;
  }
  int64_t value;
  if (tir::AsConstInt(dim, &value)) {
    out.set_value(value);
    return out;
  }
  if (const auto* var = tir::As<tir::Var>(dim)) {
    auto it = symbols_.find(var);
    if (it == symbols_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dimension '", var->name,
                       "' does not follow from the inputs' shapes"));
    }
    out.set_op(DimExpr::SYMBOL);
    out.set_value(it->second);
    return out;
  }
  if (const auto* unary = tir::As<tir::Unary>(dim);
      unary != nullptr && unary->op == tir::UnaryOp::kNeg) {
    out.set_op(DimExpr::SUB);
    out.add_operands();  // 0
    INGOT_ASSIGN_OR_RETURN(*out.add_operands(), ToDimExpr(unary->a));
    return out;
  }
  const auto* binary = tir::As<tir::Binary>(dim);
  if (binary != nullptr && (binary->op == tir::BinaryOp::kDiv ||
                            binary->op == tir::BinaryOp::kMod)) {
    INGOT_ASSIGN_OR_RETURN(const tir::Expr rounded_down, RoundedDown(*binary));
    return ToDimExpr(rounded_down);
  }
  if (binary == nullptr) {
    return absl::InvalidArgumentError(
        "a dimension uses an operation that a plan cannot express");
  }
  INGOT_ASSIGN_OR_RETURN(const DimExpr::Op op, DimOp(binary->op));
  out.set_op(op);
  for (const tir::Expr& operand : {binary->a, binary->b}) {
    INGOT_ASSIGN_OR_RETURN(*out.add_operands(), ToDimExpr(operand));
  }
  return out;
}

absl::StatusOr<int> PlanValues::AddTensor(absl::string_view name,
                                          const relay::TensorType& type) {
  const int id = plan_->tensors_size();
  PlanTensor* tensor = plan_->add_tensors();
  int& uses = names_[std::string(name)];
  tensor->set_name(uses == 0 ? std::string(name)
                             : absl::StrCat(name, "#", uses));
  ++uses;
  tensor->set_is_sequence(type.is_sequence);
  PlanType plan_type;
  plan_type.mutable_dtype()->set_code(type.dtype.code);
  plan_type.mutable_dtype()->set_bits(type.dtype.bits);
  for (const tir::Expr& dim : type.shape) {
    INGOT_ASSIGN_OR_RETURN(*plan_type.add_shape(),
                           ToDimExpr(tir::Simplify(dim)));
  }
  tensor->set_type(types_.Add(plan_type));
  return id;
}

absl::StatusOr<int> PlanValues::AddPart(absl::string_view name,
                                        const relay::TensorType& type,
                                        int whole, uint64_t offset) {
  INGOT_ASSIGN_OR_RETURN(const int id, AddTensor(name, type));
  PlanTensor* part = plan_->mutable_tensors(id);
  part->set_part_of(static_cast<uint32_t>(whole));
  part->set_offset(offset);
  return id;
}

void PlanValues::Write(int tensor, const relay::TensorType& type, int call,
                       uint32_t device) {
  if (type.is_sequence) return;
  tir::Expr bytes = tir::MakeInt(static_cast<int64_t>(type.dtype.bytes()));
  for (const tir::Expr& dim : type.shape) bytes = bytes * dim;
  requests_of_[tensor] = static_cast<int>(requests_.size());
  StorageRequest request;
  request.bytes = tir::Simplify(bytes);
  request.first = request.last = call;
  requests_.push_back(std::move(request));
  devices_.push_back(device);
}

void PlanValues::Read(int tensor, int call) {
  const auto root = RootOf(*plan_, static_cast<uint32_t>(tensor));
  auto it = requests_of_.find(static_cast<int>(root));
  if (it != requests_of_.end()) requests_[it->second].last = call;
}

void PlanValues::PlaceStorage() {
  for (const auto& [tensor, request] : requests_of_) {
    requests_[request].phase = static_cast<int>(plan_->tensors(tensor).phase());
  }
  // Results in place join the request of their operand, call by call.
  std::vector<int> joined(requests_.size());
  for (size_t i = 0; i < joined.size(); ++i) joined[i] = static_cast<int>(i);
  for (PlanCall& call : *plan_->mutable_calls()) {
    const int reads = call.args_size() - static_cast<int>(call.num_outputs());
    for (const PlanInPlace& pair : call.in_place()) {
      const uint32_t operand = call.args(static_cast<int>(pair.operand()));
      const uint32_t result =
          call.args(reads + static_cast<int>(pair.result()));
      if (plan_->tensors(static_cast<int>(operand)).is_sequence()) continue;
      const int from =
          joined[requests_of_.at(static_cast<int>(RootOf(*plan_, operand)))];
      const int to = requests_of_.at(static_cast<int>(result));
      requests_[from].last = std::max(requests_[from].last, requests_[to].last);
      joined[to] = from;
    }
  }
  const std::vector<StorageAssignment> places = AssignDevices(joined);
  for (const auto& [tensor, request] : requests_of_) {
    const StorageAssignment& place = places[joined[request]];
    PlanTensor* placed = plan_->mutable_tensors(tensor);
    placed->set_storage(static_cast<uint32_t>(place.storage));
    placed->set_offset(static_cast<uint64_t>(place.offset));
  }
}

std::vector<StorageAssignment> PlanValues::AssignDevices(
    const std::vector<int>& joined) {
  std::vector<StorageAssignment> places(requests_.size());
  for (const uint32_t device :
       std::set<uint32_t>(devices_.begin(), devices_.end())) {
    std::vector<StorageRequest> alone;
    std::vector<size_t> requests;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (joined[i] != static_cast<int>(i) || devices_[i] != device) continue;
      alone.push_back(requests_[i]);
      requests.push_back(i);
    }
    const StoragePlan storage = AssignStorage(alone);
    const int first = plan_->storage_size();
    for (size_t i = 0; i < storage.storages.size(); ++i) {
      PlanStorage* added = plan_->add_storage();
      for (const tir::Expr& size : storage.storages[i]) {
        // Sizes are products of dimensions that were converted before.
        *added->add_bytes() = *ToDimExpr(size);
      }
      added->set_phase(static_cast<uint32_t>(storage.phases[i]));
      added->set_device(device);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      places[requests[i]] = storage.assignments[i];
      places[requests[i]].storage += first;
    }
  }
  return places;
}

}  // namespace ingot
