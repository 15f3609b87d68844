#include "compiler/schedules/gpu/items.h"

#include <algorithm>
#include <vector>

#include "compiler/schedules/stage_facts.h"

namespace ingot::te::gpu {
namespace {

// A sum of so many terms is left alone.
constexpr int64_t kFewTerms = 32;

// The largest divisor of `extent` up to `most`, where it is at least half of
// that; otherwise `most`, which leaves something over.
int64_t BlockOf(int64_t extent, int64_t most) {
  for (int64_t block = most; 2 * block >= most; --block) {
    if (extent % block == 0) return block;
  }
  return most;
}

bool SameShape(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    int64_t extent = 0;
    if (!tir::AsConstInt(a.shape()[i], &extent) ||
        !tir::IsConstInt(b.shape()[i], extent)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Loop FuseAxes(Stage* stage) {
  const std::vector<Loop> axes = stage->axes();
  return axes.size() == 1 ? axes[0] : stage->Fuse(axes);
}

Stage* OnlyReader(const Schedule& schedule, const Stage& stage) {
  const std::vector<Stage*> readers = schedule.Readers(&stage);
  if (readers.size() != 1 || !readers[0]->is_output() ||
      readers[0]->op().kind != OperationKind::kCompute ||
      !readers[0]->IsUntouched() ||
      !SameShape(readers[0]->output(), stage.output())) {
    return nullptr;
  }
  return readers[0];
}

int64_t TermsOf(const Stage* reduction) {
  int64_t terms = 1;
  for (const Expr& extent : reduction->op().reduce_extent) {
    terms *= GuessExtent(extent);
  }
  return terms;
}

void SumInBlocks(Stage* sum) {
  const Operation& op = sum->op();
  if (!op.reducer.is_sum || !sum->output().dtype().is_float()) return;
  const int64_t terms = TermsOf(sum);
  if (terms <= kFewTerms) return;
  int64_t block = 1;
  while (block * block < terms) block *= 2;
  // The innermost loops that have enough terms together.
  int64_t inside = 1;
  for (size_t i = op.reduce_axis.size(); i-- > 0;) {
    const int64_t extent = GuessExtent(op.reduce_extent[i]);
    if (inside * extent < block) {
      inside *= extent;
      continue;
    }
    const int64_t size = BlockOf(extent, std::max<int64_t>(1, block / inside));
    auto [outer, inner] =
        sum->Split(sum->reduce_axis(static_cast<int>(i)), size);
    sum->ReduceApartAt(outer);
    return;
  }
}

}  // namespace ingot::te::gpu
