#include "compiler/codegen/llvm/warp_nest.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/box_copy.h"
#include "compiler/codegen/llvm/sum_of_products.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

absl::Status Misfit(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("a tensorized loop is no multiplication by warps: ", what));
}

class Reader {
 public:
  Reader(const tir::For& threads, const tir::Bounds& bounds)
      : threads_(threads), bounds_(bounds) {
    nest_.warp = tir::MakeVar("warp", DataType::Int(64));
    row_ = tir::MakeVar("row", DataType::Int(64));
    column_ = tir::MakeVar("column", DataType::Int(64));
    bounds_.Set(row_.get(), 0, WarpNest::kRowThreads - 1);
    bounds_.Set(column_.get(), 0, WarpNest::kColumnThreads - 1);
    values_[threads.var.get()] = Expr(nest_.warp) * WarpNest::kThreads +
                                 Expr(row_) * WarpNest::kColumnThreads +
                                 Expr(column_);
  }

  absl::StatusOr<WarpNest> Read() {
    int64_t threads = 0;
    if (!tir::AsConstInt(threads_.extent, &threads) ||
        threads % WarpNest::kThreads != 0) {
      return Misfit("the threads are not whole warps");
    }
    nest_.warps = threads / WarpNest::kThreads;
    bounds_.Set(nest_.warp.get(), 0, nest_.warps - 1);
    const tir::Stmt* body = &threads_.body;
    while (const auto* let = As<tir::LetStmt>(*body)) {
      values_[let->var.get()] = tir::Substitute(let->value, values_);
      body = &let->body;
    }
    for (; As<tir::For>(*body) != nullptr; body = &As<tir::For>(*body)->body) {
      const auto* loop = As<tir::For>(*body);
      bounds_.SetLoop(loop->var.get(), loop->min, loop->extent);
      loops_.push_back(loop);
    }
    const auto* store = As<tir::Store>(*body);
    if (store == nullptr) return Misfit("the body is no store");
    INGOT_RETURN_IF_ERROR(ReadAccesses(*store));
    for (const tir::For* loop : loops_) {
      INGOT_RETURN_IF_ERROR(Classify(*loop));
    }
    INGOT_RETURN_IF_ERROR(Check());
    nest_.fits_groups = FitsGroups();
    nest_.a.offset = a_.ToExpr();
    nest_.b.offset = b_.ToExpr();
    nest_.sum_offset = sum_.ToExpr();
    return std::move(nest_);
  }

 private:
  tir::Affine OffsetOf(const tir::BufferNode& buffer,
                       const std::vector<Expr>& indices) const {
    const Expr offset = tir::Substitute(FlattenIndex(buffer, indices), values_);
    return tir::ToAffine(tir::Simplify(offset, &bounds_));
  }

  absl::Status ReadAccesses(const tir::Store& store) {
    std::vector<LoadProduct> products;
    const tir::Load* before = ReadSumOfProducts(store.value, &products);
    if (before == nullptr || products.size() != 1 ||
        before->buffer != store.buffer ||
        store.buffer->dtype != DataType::Float(32)) {
      return Misfit("the body adds no product to a sum");
    }
    const LoadProduct& product = products[0];
    if (product.a->buffer->scope != tir::Scope::kShared ||
        product.b->buffer->scope != tir::Scope::kShared ||
        store.buffer->scope != tir::Scope::kStack) {
      return Misfit("operands are not shared, or sums are");
    }
    if (product.a->dtype != product.b->dtype) {
      return Misfit("operands differ in type");
    }
    sum_ = OffsetOf(*store.buffer, store.indices);
    if (!(sum_ == OffsetOf(*before->buffer, before->indices))) {
      return Misfit("another element is added to");
    }
    nest_.sum = store.buffer;
    nest_.a.buffer = product.a->buffer;
    nest_.b.buffer = product.b->buffer;
    a_ = OffsetOf(*product.a->buffer, product.a->indices);
    b_ = OffsetOf(*product.b->buffer, product.b->indices);
    // The operand of rows comes first or last.
    if (a_.CoefficientOf(row_.get()) == 0) {
      std::swap(nest_.a.buffer, nest_.b.buffer);
      std::swap(a_, b_);
    }
    nest_.a.element_stride = Take(row_, &a_);
    const int64_t pair = Take(column_, &b_);
    nest_.b.element_stride = pair / 2;
    if (pair % 2 != 0) return Misfit("columns do not come in pairs");
    return absl::OkStatus();
  }

  // The offset's stride in the variable, which it has no more.
  static int64_t Take(const tir::VarPtr& var, tir::Affine* offset) {
    const int64_t stride = offset->CoefficientOf(var.get());
    offset->Add(tir::Affine::Atom(var), -stride);
    return stride;
  }

  // Reads the strides of a loop over an operand's groups that come in chunks,
  // and leaves the first one's offset.
  void TakeChunks(const tir::For& loop, int64_t extent, tir::Affine* offset,
                  WarpNest::Operand* operand) {
    const Expr all = offset->ToExpr();
    if (!tir::Uses(all, loop.var.get())) return;
    std::vector<int64_t> from_first;
    tir::Affine first;
    for (int64_t i = 0; i < extent; ++i) {
      const tir::Affine at = tir::ToAffine(tir::Simplify(
          tir::Substitute(all, {{loop.var.get(), tir::MakeInt(i)}}), &bounds_));
      if (i == 0) first = at;
      const std::optional<int64_t> difference = (at - first).AsConst();
      if (!difference.has_value()) return;
      from_first.push_back(*difference);
    }
    WarpNest::Operand found;
    found.group_stride = from_first[1];
    int64_t& n = found.chunk_groups;
    for (n = 1; n < extent; ++n) {
      if (from_first[static_cast<size_t>(n)] != n * found.group_stride) break;
    }
    if (n == extent || n % 2 != 0) return;
    found.chunk_stride = from_first[static_cast<size_t>(n)];
    for (int64_t i = 0; i < extent; ++i) {
      if (from_first[static_cast<size_t>(i)] != found.OffsetOfGroup(i)) return;
    }
    operand->group_stride = found.group_stride;
    operand->chunk_groups = found.chunk_groups;
    operand->chunk_stride = found.chunk_stride;
    *offset = first;
  }

  // Finds out what a loop is for by the strides of its variable.
  absl::Status Classify(const tir::For& loop) {
    int64_t extent = 0;
    if (!tir::AsConstInt(loop.extent, &extent) ||
        !tir::IsConstInt(loop.min, 0)) {
      return Misfit("an extent is not constant");
    }
    const int64_t s = Take(loop.var, &sum_);
    const int64_t a = Take(loop.var, &a_);
    if (s != 0 && a == 0 && nest_.column_groups == 0) {
      TakeChunks(loop, extent, &b_, &nest_.b);
      if (nest_.b.chunk_groups != 0) {
        nest_.column_groups = extent;
        nest_.sum_column_stride = s;
        return absl::OkStatus();
      }
    }
    const int64_t b = Take(loop.var, &b_);
    if (s == 0 && a != 0 && b != 0 && nest_.terms == 0) {
      nest_.terms = extent;
      nest_.a.term_stride = a;
      nest_.b.term_stride = b;
      nest_.a.half_stride = nest_.HalfTerms() * a;
      nest_.b.half_stride = nest_.HalfTerms() * b;
    } else if (s == 0 && a != 0 && b != 0 && !has_halves_ &&
               extent == nest_.HalfTerms()) {
      // Those around it were halves.
      has_halves_ = true;
      nest_.terms *= extent;
      nest_.a.half_stride = nest_.a.term_stride;
      nest_.b.half_stride = nest_.b.term_stride;
      nest_.a.term_stride = a;
      nest_.b.term_stride = b;
    } else if (a != 0 && b == 0 && nest_.row_groups == 0) {
      nest_.row_groups = extent;
      nest_.a.group_stride = a;
      nest_.sum_row_stride = s;
    } else if (a == 0 && b == nest_.b.element_stride && extent == 2 &&
               nest_.sum_pair_stride == 0) {
      nest_.sum_pair_stride = s;
    } else if (a == 0 && b != 0 && nest_.column_groups == 0) {
      nest_.column_groups = extent;
      nest_.b.group_stride = b;
      nest_.sum_column_stride = s;
    } else {
      return Misfit("a loop is neither of terms nor of rows nor of columns");
    }
    return absl::OkStatus();
  }

  // Whether what a unit reads at once lies side by side, at multiples of that.
  bool IsInRuns(const WarpNest::Operand& operand,
                const tir::Affine& start) const {
    const bool by_terms = operand.term_stride == 1;
    if (nest_.IsOfTf32() && !by_terms) return true;
    const int64_t run = nest_.HalfTerms();
    const int64_t other =
        by_terms ? operand.element_stride : operand.term_stride;
    return (by_terms || operand.element_stride == 1) && other % run == 0 &&
           operand.half_stride % run == 0 && operand.group_stride % run == 0 &&
           operand.chunk_stride % run == 0 && start.IsMultipleOf(run);
  }

  // Whether it lies in rows such as units of groups read.
  bool IsOfRows(const WarpNest::Operand& operand) const {
    const int64_t row = BoxCopy::kRowBytes /
                        static_cast<int64_t>(operand.buffer->dtype.bytes());
    if (operand.TermsAreTogether()) {
      return operand.element_stride == row && nest_.terms == row &&
             operand.group_stride == WarpNest::kGroup * row &&
             operand.chunk_groups == 0;
    }
    const int64_t groups = &operand == &nest_.a
                               ? WarpNest::kGroupWarps * nest_.row_groups
                               : nest_.column_groups;
    const int64_t in_row = row / WarpNest::kGroup;
    return operand.term_stride == row &&
           operand.group_stride == WarpNest::kGroup &&
           (operand.chunk_groups == 0 ? groups <= in_row
                                      : operand.chunk_groups == in_row);
  }

  // Whether four neighbouring warps have neighbouring rows of `a`, and all of
  // `b`.
  bool HaveNeighbouringRows() const {
    const tir::VarPtr four = tir::MakeVar("four", DataType::Int(64));
    tir::Bounds bounds = bounds_;
    bounds.Set(four.get(), 0, nest_.warps / WarpNest::kGroupWarps - 1);
    const auto offset_of = [&](int64_t warp) {
      const Expr number =
          Expr(four) * WarpNest::kGroupWarps + tir::MakeInt(warp);
      return tir::ToAffine(tir::Simplify(
          tir::Substitute(a_.ToExpr(), {{nest_.warp.get(), number}}), &bounds));
    };
    const tir::Affine first = offset_of(0);
    for (int64_t warp = 1; warp < WarpNest::kGroupWarps; ++warp) {
      const int64_t stride = nest_.row_groups * nest_.a.group_stride;
      if (!(offset_of(warp) - first == tir::Affine(warp * stride))) {
        return false;
      }
    }
    return !tir::Uses(b_.ToExpr(), nest_.warp.get());
  }

  bool FitsGroups() const {
    constexpr int64_t kMostColumns = 256;
    int64_t first = 0;
    return nest_.warps % WarpNest::kGroupWarps == 0 &&
           nest_.a.buffer->dtype.bits == 16 && nest_.row_groups == 2 &&
           nest_.column_groups * WarpNest::kGroup <= kMostColumns &&
           tir::AsConstInt(sum_.ToExpr(), &first) && IsOfRows(nest_.a) &&
           IsOfRows(nest_.b) && HaveNeighbouringRows();
  }

  absl::Status Check() const {
    const auto has_no_thread = [this](const tir::Affine& offset) {
      const Expr e = offset.ToExpr();
      for (const tir::For* loop : loops_) {
        if (tir::Uses(e, loop->var.get())) return false;
      }
      return !tir::Uses(e, row_.get()) && !tir::Uses(e, column_.get());
    };
    if (!has_no_thread(a_) || !has_no_thread(b_) || !has_no_thread(sum_)) {
      return Misfit("operands have no strides");
    }
    if (nest_.terms == 0 || nest_.terms % (2 * nest_.HalfTerms()) != 0 ||
        nest_.row_groups == 0 || nest_.row_groups % 2 != 0 ||
        nest_.column_groups == 0 || nest_.column_groups % 2 != 0 ||
        nest_.sum_pair_stride == 0) {
      return Misfit("rows, columns or terms do not come in 16");
    }
    if (nest_.a.element_stride == 0 || nest_.b.element_stride == 0) {
      return Misfit("threads share their elements");
    }
    if (!IsInRuns(nest_.a, a_) || !IsInRuns(nest_.b, b_)) {
      return Misfit("elements of an operand do not lie side by side");
    }
    return absl::OkStatus();
  }

  const tir::For& threads_;
  tir::Bounds bounds_;
  WarpNest nest_;
  tir::VarPtr row_, column_;
  // Gives what is named in the threads' loop, in terms of warp, row and column.
  std::map<const tir::Var*, Expr> values_;
  std::vector<const tir::For*> loops_;
  bool has_halves_ = false;  // one loop of terms is around another
  tir::Affine sum_, a_, b_;
};

}  // namespace

const tir::For* TensorizedIn(const tir::For& threads) {
  const tir::Stmt* body = &threads.body;
  while (const auto* let = As<tir::LetStmt>(*body)) body = &let->body;
  const auto* loop = As<tir::For>(*body);
  const bool found =
      loop != nullptr && loop->for_kind == tir::ForKind::kTensorized;
  return found ? loop : nullptr;
}

absl::StatusOr<WarpNest> ReadWarpNest(const tir::For& threads,
                                      const tir::Bounds& bounds) {
  return Reader(threads, bounds).Read();
}

}  // namespace ingot::codegen
