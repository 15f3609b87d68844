#ifndef INGOT_COMPILER_DRIVER_MAIN_PLAN_SCOPE_H_
#define INGOT_COMPILER_DRIVER_MAIN_PLAN_SCOPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/driver/main/arena_layout.h"
#include "compiler/driver/main/statements.h"
#include "compiler/tir/ir.h"
#include "runtime/data_type.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// A tensor's elements begin `offset` bytes into `whole`.
struct Place {
  tir::Buffer whole;
  tir::Expr offset;
};

// A plan, or a body in one, while its calls become statements: the values of
// its symbols and the places of its tensors, as far as they are known.
class PlanScope {
 public:
  // The plan outlives the scope and has passed CheckPlan.
  explicit PlanScope(const Plan& plan);

  const Plan& plan() const { return plan_; }
  const PlanTensor& tensor(uint32_t t) const {
    return plan_.tensors(static_cast<int>(t));
  }

  void SetSymbol(uint32_t symbol, tir::Expr value) {
    symbols_[symbol] = std::move(value);
  }
  bool HasSymbol(uint32_t symbol) const { return symbols_[symbol] != nullptr; }
  // For expressions whose symbols are all set.
  tir::Expr Dim(const DimExpr& dim) const;
  std::vector<tir::Expr> Shape(uint32_t t) const;
  tir::Expr Bytes(uint32_t t) const;
  tir::Expr Elements(uint32_t t) const;
  DataType Type(uint32_t t) const;
  // Whether all symbols in the shape are set.
  bool KnowsShape(uint32_t t) const;

  // Puts tensor `t`, which is no view or part, somewhere; its views and parts
  // are there too.
  void SetPlace(uint32_t t, Place place) { places_[t] = std::move(place); }
  bool HasPlace(uint32_t t) const {
    return places_[roots_[t]].whole != nullptr;
  }
  Place PlaceOf(uint32_t t) const;
  uint32_t Root(uint32_t t) const { return roots_[t]; }

  // Begins the first phase, or the next one, whose symbols are set: gives the
  // storages whose size is known now places in `layout`, an arena that `arena`
  // stands for, puts those tensors there that have no place yet, and adds the
  // checks of what is to hold of the symbols to `out`. Unimplemented for sizes
  // that are not made of `dims`, the symbols that are known before a run.
  absl::Status BeginNextPhase(const tir::Buffer& arena,
                              const std::vector<const tir::Var*>& dims,
                              ArenaLayout* layout, Statements* out);

  // A buffer for the elements of `t`: the parameter where `t` is just that, or
  // else a part, which goes to `parts`.
  struct PartOf {
    tir::Buffer buffer;
    Place place;
  };
  tir::Buffer BufferOf(uint32_t t, std::vector<PartOf>* parts) const;

 private:
  tir::Expr StorageBytes(const PlanStorage& storage,
                         const std::vector<uint32_t>& tensors) const;
  absl::Status PlaceStorage(uint32_t p, const tir::Buffer& arena,
                            const std::vector<const tir::Var*>& dims,
                            ArenaLayout* layout);
  void AddChecks(uint32_t p, Statements* out) const;

  const Plan& plan_;
  uint32_t next_phase_ = 0;
  std::vector<tir::Expr> symbols_;
  const std::vector<uint32_t> roots_;
  const std::vector<uint64_t> offsets_in_roots_;
  std::vector<Place> places_;  // of roots
};

// `body` inside of the parts.
tir::Stmt WithParts(const std::vector<PlanScope::PartOf>& parts,
                    tir::Stmt body);

// Copies so many elements of `width` bytes between places that do not overlap,
// bit by bit.
tir::Stmt Copy(const Place& from, const Place& to, const tir::Expr& elements,
               int width);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_PLAN_SCOPE_H_
