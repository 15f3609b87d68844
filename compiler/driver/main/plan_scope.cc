#include "compiler/driver/main/plan_scope.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/main/dims.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

bool IsSet(const DimExpr& dim, const std::vector<tir::Expr>& symbols) {
  if (dim.op() == DimExpr::SYMBOL) return symbols[dim.value()] != nullptr;
  return std::all_of(
      dim.operands().begin(), dim.operands().end(),
      [&symbols](const DimExpr& operand) { return IsSet(operand, symbols); });
}

}  // namespace

PlanScope::PlanScope(const Plan& plan)
    : plan_(plan),
      symbols_(plan.symbols_size()),
      roots_(RootsOf(plan)),
      offsets_in_roots_(OffsetsInRoots(plan)),
      places_(plan.tensors_size()) {}

Place PlanScope::PlaceOf(uint32_t t) const {
  Place place = places_[roots_[t]];
  if (const uint64_t offset = offsets_in_roots_[t]; offset > 0) {
    place.offset = tir::Simplify(place.offset + static_cast<int64_t>(offset));
  }
  return place;
}

tir::Expr PlanScope::Dim(const DimExpr& dim) const {
  return ToExpr(dim, symbols_);
}

std::vector<tir::Expr> PlanScope::Shape(uint32_t t) const {
  std::vector<tir::Expr> shape;
  for (const DimExpr& dim : PlanTypeOf(plan_, t).shape())
    shape.push_back(Dim(dim));
  return shape;
}

tir::Expr PlanScope::Elements(uint32_t t) const {
  tir::Expr elements = tir::MakeInt(1);
  for (const tir::Expr& dim : Shape(t)) elements = elements * dim;
  return tir::Simplify(elements);
}

tir::Expr PlanScope::Bytes(uint32_t t) const {
  return tir::Simplify(Elements(t) * static_cast<int64_t>(Type(t).bytes()));
}

DataType PlanScope::Type(uint32_t t) const {
  DataType type;
  const DataTypeProto& dtype = PlanTypeOf(plan_, t).dtype();
  type.code = static_cast<uint8_t>(dtype.code());
  type.bits = static_cast<uint8_t>(dtype.bits());
  return type;
}

bool PlanScope::KnowsShape(uint32_t t) const {
  const auto& shape = PlanTypeOf(plan_, t).shape();
  return std::all_of(shape.begin(), shape.end(), [this](const DimExpr& dim) {
    return IsSet(dim, symbols_);
  });
}

// The bytes of a storage that these of its tensors need: up to the end of the
// last one, where that is a constant.
tir::Expr PlanScope::StorageBytes(const PlanStorage& storage,
                                  const std::vector<uint32_t>& tensors) const {
  int64_t end = 0;
  bool is_constant = true;
  for (uint32_t t : tensors) {
    int64_t size = 0;
    // A tensor of a later phase may be as large as the storage.
    is_constant =
        is_constant && KnowsShape(t) && tir::AsConstInt(Bytes(t), &size);
    end = std::max(end, static_cast<int64_t>(tensor(t).offset()) + size);
  }
  if (is_constant) return tir::MakeInt(end);
  tir::Expr bytes = tir::MakeInt(0);
  for (const DimExpr& size : storage.bytes()) {
    bytes = tir::Max(bytes, Dim(size));
  }
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  return tir::Simplify(bytes, &bounds);
}

absl::Status PlanScope::PlaceStorage(uint32_t p, const tir::Buffer& arena,
                                     const std::vector<const tir::Var*>& dims,
                                     ArenaLayout* layout) {
  // By storage: the tensors that have no other place.
  std::vector<std::vector<uint32_t>> tensors(plan_.storage_size());
  for (int t = 0; t < plan_.tensors_size(); ++t) {
    const PlanTensor& placed = plan_.tensors(t);
    if (placed.has_storage() && !HasPlace(static_cast<uint32_t>(t))) {
      tensors[placed.storage()].push_back(static_cast<uint32_t>(t));
    }
  }
  for (int i = 0; i < plan_.storage_size(); ++i) {
    const PlanStorage& storage = plan_.storage(i);
    if (storage.phase() != p || tensors[i].empty()) continue;
    tir::Expr bytes = StorageBytes(storage, tensors[i]);
    for (const tir::Var* var : tir::VarsOf(bytes)) {
      if (std::find(dims.begin(), dims.end(), var) != dims.end()) continue;
      return absl::UnimplementedError(
          absl::StrCat("the dimension ", var->name,
                       " and with it the memory that it takes is known only "
                       "while the model runs"));
    }
    const tir::Expr offset = layout->Allocate(bytes);
    for (uint32_t t : tensors[i]) {
      places_[t] = {arena, offset + static_cast<int64_t>(tensor(t).offset())};
    }
  }
  return absl::OkStatus();
}

// Adds the checks that BoundPlan makes when it binds a phase. Those that always
// hold go away when the function is simplified.
void PlanScope::AddChecks(uint32_t p, Statements* out) const {
  const std::vector<std::string> names = SymbolNames(plan_);
  const PlanPhase& phase = plan_.phases(static_cast<int>(p));
  for (uint32_t symbol : phase.symbols()) {
    const PlanSymbol& declared = plan_.symbols(static_cast<int>(symbol));
    out->Add(tir::MakeAssert(
        tir::Ge(symbols_[symbol], tir::MakeInt(declared.lower_bound())),
        absl::StrCat("the dimension ", declared.name(), " would be less than ",
                     declared.lower_bound(), ", the least it can be")));
  }
  for (int t = 0; t < plan_.tensors_size(); ++t) {
    const PlanTensor& checked = plan_.tensors(t);
    if (checked.phase() != p || checked.is_sequence()) continue;
    for (const DimExpr& dim : PlanTypeOf(plan_, checked).shape()) {
      if (!HasSymbols(dim)) continue;
      out->Add(tir::MakeAssert(
          tir::Ge(Dim(dim), tir::MakeInt(0)),
          absl::StrCat("the dimension ", DimExprToString(dim, names), " of '",
                       checked.name(), "' would be negative")));
    }
    if (!checked.has_view_of()) continue;  // parts have constant shapes
    out->Add(tir::MakeAssert(
        tir::Eq(Bytes(static_cast<uint32_t>(t)), Bytes(checked.view_of())),
        absl::StrCat("'", tensor(checked.view_of()).name(),
                     "' has not as many elements as '", checked.name(),
                     "' has with these dimensions")));
  }
  for (const PlanRequirement& requirement : plan_.requirements()) {
    if (requirement.phase() != p) continue;
    const tir::Expr left = Dim(requirement.left());
    const tir::Expr right = Dim(requirement.right());
    tir::Expr holds = tir::Eq(left, right);
    if (requirement.or_one()) {
      holds = tir::Or(holds, tir::Or(tir::Eq(left, tir::MakeInt(1)),
                                     tir::Eq(right, tir::MakeInt(1))));
    }
    out->Add(tir::MakeAssert(
        holds,
        absl::StrCat("dimensions ", DimExprToString(requirement.left(), names),
                     " and ", DimExprToString(requirement.right(), names),
                     " must be equal",
                     requirement.or_one() ? ", or one of them 1," : "", " for ",
                     requirement.source())));
  }
}

absl::Status PlanScope::BeginNextPhase(const tir::Buffer& arena,
                                       const std::vector<const tir::Var*>& dims,
                                       ArenaLayout* layout, Statements* out) {
  const uint32_t phase = next_phase_++;
  for (int i = 0; i < plan_.symbols_size(); ++i) {
    const DimExpr& value = plan_.symbols(i).value();
    if (symbols_[i] == nullptr && plan_.symbols(i).has_value() &&
        IsSet(value, symbols_)) {
      symbols_[i] = Dim(value);
    }
  }
  AddChecks(phase, out);
  return PlaceStorage(phase, arena, dims, layout);
}

tir::Buffer PlanScope::BufferOf(uint32_t t, std::vector<PartOf>* parts) const {
  const Place place = PlaceOf(t);
  const DataType type = Type(t);
  std::vector<tir::Expr> shape = Shape(t);
  // An input or an output by its own name.
  bool same = tir::IsConstInt(place.offset, 0) && place.whole->dtype == type &&
              place.whole->shape.size() == shape.size();
  for (size_t d = 0; same && d < shape.size(); ++d) {
    same = tir::ProveEqual(shape[d], place.whole->shape[d]);
  }
  if (same) return place.whole;
  tir::Buffer part = tir::MakeBuffer(tensor(t).name(), type, std::move(shape),
                                     tir::Scope::kPart);
  parts->push_back({part, place});
  return part;
}

tir::Stmt WithParts(const std::vector<PlanScope::PartOf>& parts,
                    tir::Stmt body) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    body = tir::MakePart(part->buffer, part->place.whole, part->place.offset,
                         std::move(body));
  }
  return body;
}

tir::Stmt Copy(const Place& from, const Place& to, const tir::Expr& elements,
               int width) {
  const DataType type = DataType::UInt(8 * width);
  std::vector<PlanScope::PartOf> parts;
  for (const auto& [place, name] : {std::pair(from, "from"), {to, "to"}}) {
    parts.push_back(
        {tir::MakeBuffer(name, type, {elements}, tir::Scope::kPart), place});
  }
  const tir::VarPtr i = tir::MakeVar("i");
  tir::Stmt loop =
      tir::MakeFor(i, tir::MakeInt(0), elements, tir::ForKind::kSerial,
                   tir::MakeStore(parts[1].buffer, {i},
                                  tir::MakeLoad(parts[0].buffer, {i})));
  return WithParts(parts, std::move(loop));
}

}  // namespace ingot
