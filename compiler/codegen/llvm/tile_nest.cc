#include "compiler/codegen/llvm/tile_nest.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/llvm/sum_of_products.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

constexpr int64_t kMaxTiles = 2;  // of rows and of columns

absl::Status Misfit(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("a tensorized loop is no multiplication of tiles: ", what));
}

const tir::Binary* AsBinary(const Expr& e, tir::BinaryOp op) {
  const auto* binary = As<tir::Binary>(e);
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

// Takes the word apart that LoadWord (compiler/relay/ops/common.h) puts
// together of four bytes, of which the one `shift` bits up comes at place
// shift / 8.
bool ReadWord(const Expr& e, int64_t shift,
              std::array<const tir::Load*, 4>* bytes) {
  if (const auto* both = AsBinary(e, tir::BinaryOp::kBitOr)) {
    return ReadWord(both->a, shift, bytes) && ReadWord(both->b, shift, bytes);
  }
  if (const auto* up = AsBinary(e, tir::BinaryOp::kShl)) {
    int64_t more;
    return tir::AsConstInt(up->b, &more) &&
           ReadWord(up->a, shift + more, bytes);
  }
  const auto* cast = As<tir::Cast>(e);
  const bool is_place = shift >= 0 && shift < 32 && shift % 8 == 0;
  if (!is_place || cast == nullptr || cast->dtype != DataType::Int(32) ||
      cast->value->dtype != DataType::UInt(8)) {
    return false;
  }
  const tir::Load*& byte = (*bytes)[shift / 8];
  if (byte != nullptr) return false;
  byte = As<tir::Load>(cast->value);
  return byte != nullptr;
}

// Puts 1 in the place of factors that are known to be 1, as a dimension may be,
// so that strides are constants.
Expr WithoutOnes(const Expr& e, const tir::Bounds& bounds) {
  std::map<const tir::Var*, Expr> ones;
  for (const tir::Term& term : tir::ToAffine(e).terms) {
    if (term.factors.size() == 1) continue;
    for (const Expr& factor : term.factors) {
      const auto* var = As<tir::Var>(factor);
      const tir::Affine value = tir::Affine::Atom(factor), one(1);
      if (var != nullptr && bounds.ProveNonNegative(value - one) &&
          bounds.ProveNonNegative(one - value)) {
        ones[var] = tir::MakeInt(1);
      }
    }
  }
  return ones.empty() ? e : tir::Simplify(tir::Substitute(e, ones));
}

// Says how many elements further an access is when a loop's variable grows by
// one.
class Strides {
 public:
  Strides(const tir::BufferNode& buffer, const std::vector<Expr>& indices,
          const tir::Bounds& bounds)
      : offset_(WithoutOnes(FlattenIndex(buffer, indices, &bounds), bounds)),
        affine_(tir::ToAffine(offset_)) {}

  int64_t Of(const tir::For& loop) const {
    return affine_.CoefficientOf(loop.var.get());
  }
  // Whether the variable occurs in no other way.
  bool IsAffineIn(const tir::For& loop) const {
    tir::Affine rest = affine_;
    rest.Add(tir::Affine::Atom(loop.var), -Of(loop));
    return !tir::Uses(rest.ToExpr(), loop.var.get());
  }
  // The offset where the variables of `loops` are 0.
  Expr Start(const std::vector<const tir::For*>& loops) const {
    std::map<const tir::Var*, Expr> zeros;
    for (const tir::For* loop : loops) {
      zeros[loop->var.get()] = tir::MakeInt(0);
    }
    return tir::Simplify(tir::Substitute(offset_, zeros));
  }

 private:
  Expr offset_;
  tir::Affine affine_;
};

// Whether these are four bytes side by side.
bool IsOneWord(const std::array<const tir::Load*, 4>& bytes,
               const tir::Bounds& bounds) {
  if (bytes[0] == nullptr) return false;
  const Strides first(*bytes[0]->buffer, bytes[0]->indices, bounds);
  for (int64_t j = 1; j < 4; ++j) {
    if (bytes[j] == nullptr || bytes[j]->buffer != bytes[0]->buffer) {
      return false;
    }
    const Strides next(*bytes[j]->buffer, bytes[j]->indices, bounds);
    const tir::Affine between =
        tir::ToAffine(next.Start({})) - tir::ToAffine(first.Start({}));
    if (between.AsConst() != j) return false;
  }
  return true;
}

// Takes apart what the products of words are added to and these.
const tir::Load* ReadByteSum(const Expr& e, const tir::Bounds& bounds,
                             std::vector<LoadProduct>* products) {
  const auto* call = As<tir::Call>(e);
  if (call == nullptr || call->intrinsic != tir::Intrinsic::kDot4) {
    return As<tir::Load>(e);
  }
  // The second factor's bytes are the signed ones.
  const bool is_a_signed = As<tir::Load>(call->args[0]) != nullptr;
  std::array<const tir::Load*, 4> bytes = {};
  const auto* b = As<tir::Load>(call->args[is_a_signed ? 0 : 1]);
  if (b == nullptr || !ReadWord(call->args[is_a_signed ? 1 : 0], 0, &bytes) ||
      !IsOneWord(bytes, bounds)) {
    return nullptr;
  }
  products->push_back({bytes[0], b, is_a_signed});
  return ReadByteSum(call->args[2], bounds, products);
}

class Reader {
 public:
  Reader(const tir::For& loop, const tir::Bounds& bounds) : bounds_(bounds) {
    for (const tir::For* l = &loop; l != nullptr; l = As<tir::For>(l->body)) {
      loops_.push_back(l);
      bounds_.SetLoop(l->var.get(), l->min, l->extent);
    }
  }

  absl::StatusOr<TileNest> Read() {
    INGOT_RETURN_IF_ERROR(ReadBody());
    for (const tir::For* loop : loops_) {
      INGOT_RETURN_IF_ERROR(Classify(*loop));
    }
    if (!has_group_ || !has_depth_) return Misfit("rows have no words");
    nest_.columns = lanes_ * column_tiles_;
    if (nest_.rows > kMaxTiles * TileNest::kRows || column_tiles_ > kMaxTiles ||
        (column_tiles_ > 1 && lanes_ != TileNest::kColumns)) {
      return Misfit("too many rows or columns");
    }
    nest_.sum.offset = sum_->Start(inner_);
    for (size_t t = 0; t < nest_.terms.size(); ++t) {
      nest_.terms[t].a.offset = a_[t].Start(inner_);
      nest_.terms[t].b.offset = b_[t].Start(inner_);
    }
    return std::move(nest_);
  }

 private:
  absl::Status ReadBody() {
    const auto* store = As<tir::Store>(loops_.back()->body);
    if (store == nullptr) return Misfit("the body is no store");
    std::vector<LoadProduct> products;
    const DataType type = store->buffer->dtype;
    nest_.is_of_bytes = type == DataType::Int(32);
    const tir::Load* before =
        nest_.is_of_bytes ? ReadByteSum(store->value, bounds_, &products)
                          : ReadSumOfProducts(store->value, &products);
    if (before == nullptr || before->buffer != store->buffer ||
        products.empty() ||
        (!nest_.is_of_bytes && type != DataType::Float(32))) {
      return Misfit("the body is no sum of products");
    }
    if (nest_.is_of_bytes) {
      // A word is one step of its row.
      group_of_a_ = 4;
      group_of_b_ = 1;
      has_group_ = true;
    }
    nest_.sum.buffer = store->buffer;
    sum_.emplace(*store->buffer, store->indices, bounds_);
    const Strides read(*before->buffer, before->indices, bounds_);
    if (!(tir::ToAffine(sum_->Start({})) == tir::ToAffine(read.Start({})))) {
      return Misfit("another element is added to");
    }
    nest_.is_a_signed = products[0].is_a_signed;
    for (const LoadProduct& product : products) {
      if (!nest_.is_of_bytes && (product.a->dtype != DataType::BFloat16() ||
                                 product.b->dtype != DataType::BFloat16())) {
        return Misfit("the elements are not bf16");
      }
      if (product.is_a_signed != nest_.is_a_signed) {
        return Misfit("other bytes are signed in another term");
      }
      nest_.terms.push_back(
          {{product.a->buffer, nullptr}, {product.b->buffer, nullptr}});
      a_.emplace_back(*product.a->buffer, product.a->indices, bounds_);
      b_.emplace_back(*product.b->buffer, product.b->indices, bounds_);
    }
    return absl::OkStatus();
  }

  // Finds out what a loop is for by the strides of its variable, which must be
  // the same in all terms. Only those of a step may be anything.
  absl::Status Classify(const tir::For& loop) {
    const int64_t s = sum_->Of(loop);
    const int64_t a = a_[0].Of(loop), b = b_[0].Of(loop);
    bool same = true;
    for (size_t t = 0; t < a_.size(); ++t) {
      same = same && a_[t].Of(loop) == a && a_[t].IsAffineIn(loop) &&
             b_[t].Of(loop) == b && b_[t].IsAffineIn(loop);
    }
    const bool in_group = !has_group_ && a == 1 && b == 1;
    const bool in_row =
        same && (in_group || (a == group_of_a_ && b >= group_of_b_));
    if (!sum_->IsAffineIn(loop)) return Misfit("sums have no strides");
    if (s == 0 && !in_row) {
      if (!inner_.empty()) return Misfit("a step is inside of a tile");
      nest_.steps.push_back(&loop);
      return absl::OkStatus();
    }
    if (!same) return Misfit("operands have no strides");
    int64_t extent = 0;
    inner_.push_back(&loop);
    if (!tir::AsConstInt(loop.extent, &extent) ||
        !tir::IsConstInt(loop.min, 0)) {
      return Misfit("an extent is not constant");
    }
    if (s == 0) {
      bool& has = in_group ? has_group_ : has_depth_;
      const bool fits = in_group
                            ? extent == group_of_a_
                            : extent >= 1 && extent <= TileNest::kMostDepth;
      if (has || !fits) return Misfit("a row is not of up to 64 bytes");
      has = true;
      if (in_group) return absl::OkStatus();
      nest_.depth = extent;
      for (TileNest::Term& term : nest_.terms) term.b.row_stride = b;
    } else if (b == 0 && !has_rows_) {
      has_rows_ = true;
      nest_.rows = extent;
      nest_.sum.row_stride = s;
      for (TileNest::Term& term : nest_.terms) term.a.row_stride = a;
    } else if (a == 0 && s == 1 && b == group_of_b_ && lanes_ == 1 &&
               extent <= TileNest::kColumns) {
      lanes_ = extent;
    } else if (a == 0 && column_tiles_ == 1) {
      column_tiles_ = extent;
      nest_.sum.column_stride = s;
      for (TileNest::Term& term : nest_.terms) term.b.column_stride = b;
    } else {
      return Misfit("a loop is neither of rows nor of columns");
    }
    return absl::OkStatus();
  }

  tir::Bounds bounds_;
  std::vector<const tir::For*> loops_, inner_;
  TileNest nest_;
  std::optional<Strides> sum_;
  std::vector<Strides> a_, b_;  // of the terms
  // Elements of 4 bytes: of bf16, until bytes are found.
  int64_t group_of_a_ = 2, group_of_b_ = 2;
  bool has_group_ = false, has_depth_ = false, has_rows_ = false;
  int64_t lanes_ = 1, column_tiles_ = 1;
};

}  // namespace

absl::StatusOr<TileNest> ReadTileNest(const tir::For& loop,
                                      const tir::Bounds& bounds) {
  return Reader(loop, bounds).Read();
}

}  // namespace ingot::codegen
