#include "compiler/schedules/row_kernel.h"

#include <set>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

bool ReadsReductions(const Schedule& schedule, const Stage* stage) {
  for (const Tensor& t : stage->op().inputs) {
    const Stage* producer = schedule.Find(t);
    if (producer == nullptr) continue;
    if (producer->IsReduce() || ReadsReductions(schedule, producer)) {
      return true;
    }
  }
  return false;
}

// Returns how many neighbours along `axis` share a value of an index that
// depends on it.
int64_t NeighboursOf(const Expr& index, const tir::Var* axis) {
  const auto* division = tir::As<tir::Binary>(index);
  int64_t n = 1;
  return division != nullptr && division->op == tir::BinaryOp::kFloorDiv &&
                 division->a.get() == axis && tir::AsConstInt(division->b, &n)
             ? n
             : 1;
}

// Sets is_row and neighbours.
void FindRowAxes(RowKernel* kernel) {
  const Stage* out = kernel->out;
  const int rank = static_cast<int>(out->axes().size());
  // An output that reduces has a result at each of its points.
  kernel->is_row.assign(rank, out->IsReduce());
  kernel->neighbours.assign(rank, 1);
  if (out->IsReduce()) return;
  std::set<const tir::BufferNode*> small;
  for (const Stage* stage : kernel->inner) {
    if (stage->IsReduce() || OutputElements(stage) < OutputElements(out)) {
      small.insert(stage->output().buffer.get());
    }
  }
  for (const tir::Load* load : LoadsOf(out->op().value)) {
    if (small.count(load->buffer.get()) == 0) continue;
    for (int i = 0; i < rank; ++i) {
      for (const Expr& index : load->indices) {
        const tir::Var* axis = out->op().axis[i].get();
        if (!tir::Uses(index, axis)) continue;
        const int64_t n = NeighboursOf(index, axis);
        const bool same = !kernel->is_row[i] || kernel->neighbours[i] == n;
        kernel->neighbours[i] = same ? n : 1;
        kernel->is_row[i] = true;
      }
    }
  }
}

}  // namespace

std::optional<RowKernel> FindRowKernel(const Schedule& schedule) {
  RowKernel kernel = {nullptr, {}, {}, {}};
  for (Stage* stage : schedule.stages()) {
    if (!stage->is_output()) continue;
    if (stage->IsReduce() || ReadsReductions(schedule, stage)) {
      if (kernel.out != nullptr) return std::nullopt;
      kernel.out = stage;
    }
  }
  const Stage* out = kernel.out;
  if (out == nullptr || out->op().kind == OperationKind::kExtern ||
      out->axes().empty()) {
    return std::nullopt;
  }
  for (Stage* stage : schedule.stages()) {
    if (stage == out || stage->is_output()) continue;
    if (stage->op().kind == OperationKind::kExtern) return std::nullopt;
    if (stage->IsReduce() || ReadsReductions(schedule, stage)) {
      // A stage that is read only through the output's rows may move there.
      for (const Stage* reader : schedule.Readers(stage)) {
        if (reader->is_output() && reader != out) return std::nullopt;
      }
      kernel.inner.push_back(stage);
    }
  }
  FindRowAxes(&kernel);
  return kernel;
}

}  // namespace ingot::te
