// Small arrays of vectors as variables, and stores of vectors that are no
// vectors of C as several.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/lane_slices.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

// More variables are no registers anyway.
constexpr int kMaxRegisters = 64;

// Whether some loop in a statement runs on several threads, or other code gets
// the buffer, or an access is none to a whole vector at a constant place.
class RegisterFinder : public tir::StmtVisitor {
 public:
  explicit RegisterFinder(const tir::BufferNode& buffer) : buffer_(buffer) {}
  // The lanes of each vector; 0 before the first access.
  int lanes = 0;
  bool fits = true;

 protected:
  void VisitFor(const tir::For& node) override {
    if (node.for_kind == tir::ForKind::kParallel ||
        node.for_kind == tir::ForKind::kBlock) {
      fits = false;
    }
    tir::StmtVisitor::VisitFor(node);
  }
  void VisitStore(const tir::Store& node) override {
    Check(*node.buffer, node.indices);
    tir::StmtVisitor::VisitStore(node);
  }
  void VisitLoad(const tir::Load& node) override {
    Check(*node.buffer, node.indices);
    tir::StmtVisitor::VisitLoad(node);
  }
  void VisitCallExtern(const tir::CallExtern&) override { fits = false; }
  void VisitPart(const tir::Part&) override { fits = false; }
  void VisitPrefetch(const tir::Prefetch& node) override {
    if (node.buffer.get() == &buffer_) fits = false;
  }

 private:
  void Check(const tir::BufferNode& buffer, const std::vector<Expr>& indices) {
    if (&buffer != &buffer_ || !fits) return;
    const Access access = AnalyzeAccess(buffer, indices);
    int64_t base = 0;
    fits = !access.scalar() && access.is_ramp() && access.contiguous() &&
           tir::AsConstInt(access.base, &base) && base % access.lanes == 0 &&
           (lanes == 0 || lanes == access.lanes);
    lanes = access.lanes;
  }

  const tir::BufferNode& buffer_;
};

// Whether an expression reads one of those buffers.
class ReadFinder : public tir::ExprVisitor {
 public:
  ReadFinder(const Expr& e, const std::set<const tir::BufferNode*>& buffers)
      : buffers_(buffers) {
    Visit(e);
  }
  bool found = false;

 protected:
  void VisitLoad(const tir::Load& node) override {
    found = found || buffers_.count(node.buffer.get()) != 0;
    tir::ExprVisitor::VisitLoad(node);
  }

 private:
  const std::set<const tir::BufferNode*>& buffers_;
};

}  // namespace

int CPrinter::RegistersOf(const tir::Allocate& s, int64_t elements) const {
  if (!uses_vectors_) return 0;
  RegisterFinder finder(*s.buffer);
  finder.Visit(s.body);
  const bool fits = finder.fits && finder.lanes > 1 &&
                    elements % finder.lanes == 0 &&
                    elements / finder.lanes <= kMaxRegisters &&
                    HasVectorType(s.buffer->dtype.with_lanes(finder.lanes));
  return fits ? finder.lanes : 0;
}

std::vector<std::string> CPrinter::DeclareRegisters(
    const tir::BufferNode* buffer, int64_t count) {
  while (true) {
    std::vector<std::string> names;
    bool are_free = true;
    for (int64_t i = 0; i < count; ++i) {
      names.push_back(absl::StrCat(NameOf(buffer), "_", i));
      are_free = are_free && taken_.count(names.back()) == 0;
    }
    if (are_free) {
      taken_.insert(names.begin(), names.end());
      return names;
    }
    buffer_names_[buffer] = Declare(absl::StrCat(NameOf(buffer), "_v"));
  }
}

std::string CPrinter::RegisterAt(const tir::BufferNode& buffer,
                                 const Access& access) {
  int64_t base = 0;
  tir::AsConstInt(access.base, &base);
  return absl::StrCat(NameOf(&buffer), "_", base / access.lanes);
}

std::vector<tir::Stmt> CPrinter::SlicesOf(const tir::Store& s) {
  const int all = s.value->dtype.lanes;
  if (!uses_vectors_ || all == 1 || registers_.count(s.buffer.get()) != 0 ||
      ReadFinder(s.value, registers_).found) {
    return {};
  }
  const int lanes = LanesThatFit(s.value, vector_bits_);
  const bool is_power = (all & (all - 1)) == 0;
  if (lanes < 2 || (is_power && lanes >= all)) return {};
  std::vector<tir::Stmt> slices = SliceLanes(s, lanes);
  if (!slices.empty() && !IsVectorStore(*As<tir::Store>(slices[0]))) return {};
  return slices;
}

std::vector<tir::Stmt> CPrinter::SlicesOf(
    absl::Span<const tir::Store* const> stores) {
  std::vector<tir::Stmt> all;
  for (const tir::Store* store : stores) {
    std::vector<tir::Stmt> slices = SlicesOf(*store);
    if (slices.empty()) {
      slices.push_back(
          tir::MakeStore(store->buffer, store->indices, store->value));
    }
    all.insert(all.end(), slices.begin(), slices.end());
  }
  return all;
}

}  // namespace ingot::codegen
