#include "compiler/schedules/gpu/items.h"

#include <vector>

namespace ingot::te::gpu {
namespace {

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
      !SameShape(readers[0]->output(), stage.output())) {
    return nullptr;
  }
  return readers[0];
}

}  // namespace ingot::te::gpu
