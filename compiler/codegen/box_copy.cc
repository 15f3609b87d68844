#include "compiler/codegen/box_copy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "compiler/codegen/access.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

// CUDA's tensor maps have these limits; places in them have 32 bits.
constexpr int64_t kStrideBytes = 16, kMostInBox = 256;
constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
constexpr size_t kMostDimensions = 5;

// Rows that are swizzled together.
constexpr int64_t kRowsTogether = 8;

// A thread that asks for more boxes would better ask for larger ones.
constexpr size_t kMostBoxes = 16;

// A loop of the nest.
struct Axis {
  tir::VarPtr var;
  int64_t extent;
  int64_t to_stride = 0;  // in elements of shared memory
  size_t dimension = 0;   // of the tensor
};

class Reader {
 public:
  Reader(const tir::For& threads, const tir::PrimFunc& function)
      : threads_(threads), function_(function) {}

  std::optional<BoxCopy> Read() {
    const tir::Store* store = FindStore();
    if (store == nullptr || store->buffer->scope != tir::Scope::kShared ||
        !ReadValue(store->value)) {
      return std::nullopt;
    }
    copy_.to = store->buffer;
    for (const Expr& index : load_->indices) from_.push_back(AffineOf(index));
    tir::Affine to = AffineOf(FlattenIndex(*store->buffer, store->indices));
    if (!ReadTensor() || !ReadAxes(&to) || !to.IsConstant() || !FindBox() ||
        !IsZeroBeyondEnds()) {
      return std::nullopt;
    }
    first_ = to.constant;
    AddBoxes(0, {});
    return std::move(copy_);
  }

 private:
  tir::Affine AffineOf(const Expr& e) const {
    return tir::ToAffine(tir::Simplify(tir::Substitute(e, values_)));
  }

  // The store of a nest in a loop over one thread; null where there is more.
  const tir::Store* FindStore() {
    if (!tir::IsConstInt(threads_.extent, 1)) return nullptr;
    values_[threads_.var.get()] = tir::MakeInt(0);
    const tir::Stmt* body = &threads_.body;
    bool is_tensorized = false;
    for (;;) {
      if (const auto* let = As<tir::LetStmt>(*body)) {
        values_[let->var.get()] = tir::Substitute(let->value, values_);
        body = &let->body;
        continue;
      }
      const auto* loop = As<tir::For>(*body);
      if (loop == nullptr) break;
      int64_t extent = 0;
      if (!tir::IsConstInt(loop->min, 0) ||
          !tir::AsConstInt(loop->extent, &extent)) {
        return nullptr;
      }
      is_tensorized |= loop->for_kind == tir::ForKind::kTensorized;
      if (extent == 1) {
        values_[loop->var.get()] = tir::MakeInt(0);
      } else {
        axes_.push_back({loop->var, extent});
      }
      body = &loop->body;
    }
    return is_tensorized ? As<tir::Store>(*body) : nullptr;
  }

  // A load, or 0 where one of some conditions does not hold.
  bool ReadValue(const Expr& value) {
    if (const auto* select = As<tir::Select>(value)) {
      const auto* zero = As<tir::FloatImm>(select->on_false);
      if (zero == nullptr || zero->value != 0 || std::signbit(zero->value)) {
        return false;
      }
      return ReadCondition(select->condition) && ReadValue(select->on_true);
    }
    load_ = As<tir::Load>(value);
    return load_ != nullptr && load_->dtype.lanes == 1;
  }

  // Indices that are below constants.
  bool ReadCondition(const Expr& condition) {
    const auto* binary = As<tir::Binary>(condition);
    if (binary == nullptr) return false;
    if (binary->op == tir::BinaryOp::kAnd) {
      return ReadCondition(binary->a) && ReadCondition(binary->b);
    }
    if (binary->op != tir::BinaryOp::kLt) return false;
    below_zero_.push_back(AffineOf(binary->a) - AffineOf(binary->b));
    return true;
  }

  bool ReadTensor() {
    // Copies of the device's own do not see what the function itself wrote.
    const auto begin = function_.params.begin(),
               end = begin + function_.num_inputs();
    const auto param = std::find(begin, end, load_->buffer);
    if (param == end || load_->buffer->shape.empty() ||
        load_->buffer->shape.size() > kMostDimensions) {
      return false;
    }
    copy_.map.argument = static_cast<size_t>(param - begin);
    for (const Expr& dim : load_->buffer->shape) {
      int64_t extent = 0;
      if (!tir::AsConstInt(dim, &extent) || extent < 1 ||
          extent > kMostExtent) {
        return false;
      }
      shape_.push_back(extent);
    }
    return shape_.back() * ElementBytes() % kStrideBytes == 0;
  }

  // Each loop goes along one dimension of the tensor, in equal steps.
  bool ReadAxes(tir::Affine* to) {
    for (Axis& axis : axes_) {
      axis.to_stride = Take(axis.var, to);
      size_t dimensions = 0;
      for (size_t d = 0; d < from_.size(); ++d) {
        tir::Affine rest = from_[d];
        if (Take(axis.var, &rest) != 0) {
          ++dimensions;
          axis.dimension = d;
        }
        if (tir::Uses(rest.ToExpr(), axis.var.get())) return false;
      }
      if (dimensions != 1) return false;
    }
    return true;
  }

  // The place's stride in the variable, which it has no more.
  static int64_t Take(const tir::VarPtr& var, tir::Affine* place) {
    const int64_t stride = place->CoefficientOf(var.get());
    place->Add(tir::Affine::Atom(var), -stride);
    return stride;
  }

  // Takes the loops over a row and over neighbouring rows from the axes.
  bool FindBox() {
    const int64_t row = BoxCopy::kRowBytes / ElementBytes();
    copy_.map.box.assign(shape_.size(), 1);
    const auto take = [this](int64_t to_stride, size_t* dimension) {
      const auto found =
          std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) {
            return axis.to_stride == to_stride &&
                   from_[axis.dimension].CoefficientOf(axis.var.get()) == 1;
          });
      if (found == axes_.end()) return int64_t{0};
      const int64_t extent = found->extent;
      *dimension = found->dimension;
      values_[found->var.get()] = tir::MakeInt(0);
      axes_.erase(found);
      return extent;
    };
    size_t along_row = 0, along_rows = 0;
    if (take(1, &along_row) != row || along_row + 1 != from_.size()) {
      return false;
    }
    const int64_t rows = take(row, &along_rows);
    if (rows == 0 || rows % kRowsTogether != 0 || rows > kMostInBox ||
        along_rows == along_row) {
      return false;
    }
    copy_.map.box[along_row] = row;
    copy_.map.box[along_rows] = rows;
    size_t boxes = 1;
    for (const Axis& axis : axes_) boxes *= static_cast<size_t>(axis.extent);
    const auto is_whole = [&](const Axis& axis) {
      return axis.to_stride % (row * rows) == 0;
    };
    return boxes <= kMostBoxes &&
           std::all_of(axes_.begin(), axes_.end(), is_whole);
  }

  // A device gives zeros beyond the tensor's ends, and only there.
  bool IsZeroBeyondEnds() const {
    return std::all_of(below_zero_.begin(), below_zero_.end(),
                       [this](const tir::Affine& b) {
                         for (size_t d = 0; d < from_.size(); ++d) {
                           if (b == from_[d] - tir::Affine(shape_[d]))
                             return true;
                         }
                         return false;
                       });
  }

  // One box for each iteration of the other loops.
  void AddBoxes(size_t axis, std::map<const tir::Var*, Expr> at) {
    if (axis < axes_.size()) {
      for (int64_t i = 0; i < axes_[axis].extent; ++i) {
        at[axes_[axis].var.get()] = tir::MakeInt(i);
        AddBoxes(axis + 1, at);
      }
      return;
    }
    BoxCopy::Box box;
    box.to = first_;
    for (const Axis& each : axes_) {
      int64_t i = 0;
      tir::AsConstInt(at[each.var.get()], &i);
      box.to += i * each.to_stride;
    }
    for (const Expr& index : load_->indices) {
      box.from.push_back(
          tir::Simplify(tir::Substitute(tir::Substitute(index, values_), at)));
    }
    copy_.boxes.push_back(std::move(box));
  }

  int64_t ElementBytes() const { return load_->dtype.bytes(); }

  const tir::For& threads_;
  const tir::PrimFunc& function_;
  BoxCopy copy_;
  const tir::Load* load_ = nullptr;
  std::map<const tir::Var*, Expr> values_;  // of what the nest names
  std::vector<int64_t> shape_;              // of the tensor
  std::vector<Axis> axes_;
  std::vector<tir::Affine> from_;        // the load's indices
  std::vector<tir::Affine> below_zero_;  // conditions: these are negative
  int64_t first_ = 0;                    // element of shared memory
};

}  // namespace

int64_t BoxCopy::Bytes() const {
  int64_t bytes = to->dtype.bytes() * static_cast<int64_t>(boxes.size());
  for (const int64_t extent : map.box) bytes *= extent;
  return bytes;
}

std::optional<BoxCopy> ReadBoxCopy(const tir::For& threads,
                                   const tir::PrimFunc& function) {
  return Reader(threads, function).Read();
}

}  // namespace ingot::codegen
