#include "compiler/codegen/shared_offsets.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/codegen/access.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::Affine;

// Whether a size that is no constant multiplies something in it.
bool HasProducts(const Affine& offset) {
  return std::any_of(
      offset.terms.begin(), offset.terms.end(),
      [](const tir::Term& term) { return term.factors.size() > 1; });
}

class OffsetFinder final : public tir::ExprVisitor {
 public:
  explicit OffsetFinder(const tir::Bounds& bounds) : bounds_(bounds) {}

  void VisitStore(const tir::Store& store) {
    Visit(store.value);
    Count(*store.buffer, store.indices);
  }

  std::vector<Affine> TakeShared() {
    std::vector<Affine> shared;
    for (Offset& offset : offsets_) {
      if (offset.uses > 1) shared.push_back(std::move(offset.affine));
    }
    return shared;
  }

 protected:
  void VisitLoad(const tir::Load& load) override {
    tir::ExprVisitor::VisitLoad(load);
    Count(*load.buffer, load.indices);
  }

 private:
  struct Offset {
    Affine affine;
    int uses;
  };

  void Count(const tir::BufferNode& buffer,
             const std::vector<tir::Expr>& indices) {
    const Access access = AnalyzeAccess(buffer, indices, &bounds_);
    if (!access.scalar() && !access.is_ramp()) return;
    // Stores before the access may change what is loaded.
    if (tir::HasLoad(access.base)) return;
    Affine offset = tir::ToAffine(access.base);
    offset.constant = 0;
    if (!HasProducts(offset)) return;
    const auto [place, is_new] =
        places_.emplace(tir::Print(offset.ToExpr()), offsets_.size());
    if (is_new) offsets_.push_back({std::move(offset), 0});
    ++offsets_[place->second].uses;
  }

  const tir::Bounds& bounds_;
  std::vector<Offset> offsets_;
  std::map<std::string, size_t> places_;  // by text, which tells them apart
};

}  // namespace

std::vector<Affine> SharedOffsets(absl::Span<const tir::Store* const> stores,
                                  const tir::Bounds& bounds) {
  OffsetFinder finder(bounds);
  for (const tir::Store* store : stores) finder.VisitStore(*store);
  return finder.TakeShared();
}

}  // namespace ingot::codegen
