// Products of matrices: a register tile of rows x vectors in the inside, a
// block of rows that stays in the second-level cache around it, and panels of
// the right operand that are read one vector after the other.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"
#include "compiler/te/schedules/schedule_for_cpu.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// The operand that depends on the last axis: the right one.
const tir::Load* RightOperand(const Stage* stage) {
  const tir::Var* n = stage->op().axis.back().get();
  for (const tir::Load* load : LoadsOf(stage->op().value)) {
    for (const Expr& index : load->indices) {
      if (tir::Uses(index, n)) return load;
    }
  }
  return nullptr;
}

// Copies the right operand into panels [batch..., n / width, k, width], the
// columns beyond n repeating the last one, so that tiles never read outside.
Stage* PackRight(Schedule* schedule, Stage* acc, int64_t width) {
  const Operation op = acc->op();
  const tir::Load* right = RightOperand(acc);
  const size_t rank = op.axis.size();
  const Expr n = acc->output().shape()[rank - 1];
  const Expr k = op.reduce_extent[0];
  const tir::Var* m_axis = op.axis[rank - 2].get();

  // Batch axes that the operand depends on.
  std::vector<size_t> batch;
  for (size_t i = 0; i + 2 < rank; ++i) {
    for (const Expr& index : right->indices) {
      if (tir::Uses(index, op.axis[i].get())) {
        batch.push_back(i);
        break;
      }
    }
  }
  for (const Expr& index : right->indices) {
    if (tir::Uses(index, m_axis)) return nullptr;
  }
  std::vector<Expr> shape;
  for (size_t i : batch) shape.push_back(acc->output().shape()[i]);
  const Expr w = tir::MakeInt(width);
  shape.push_back(tir::ToAffine((n + (width - 1)) / w).ToExpr());
  shape.push_back(k);
  shape.push_back(w);
  const tir::Buffer source = right->buffer;
  const std::vector<Expr> indices = right->indices;
  const bool whole = tir::ToAffine(n).IsMultipleOf(width);
  auto value = [&](const Indices& i) {
    std::map<const tir::Var*, Expr> map;
    for (size_t b = 0; b < batch.size(); ++b) {
      map[op.axis[batch[b]].get()] = i[b];
    }
    const size_t at = batch.size();
    Expr column = i[at] * width + i[at + 2];
    if (!whole) column = tir::Min(column, n - 1);
    map[op.axis[rank - 1].get()] = column;
    map[op.reduce_axis[0].get()] = i[at + 1];
    std::vector<Expr> from;
    for (const Expr& e : indices) from.push_back(tir::Substitute(e, map));
    return tir::MakeLoad(source, std::move(from));
  };
  Indices panel;
  for (size_t i : batch) panel.push_back(op.axis[i]);
  panel.push_back(Expr(op.axis[rank - 1]) / w);
  panel.push_back(op.reduce_axis[0]);
  panel.push_back(Expr(op.axis[rank - 1]) % w);
  return schedule->CacheRead(acc, *right, absl::StrCat(source->name, ".panels"),
                             shape, value, panel);
}

void SchedulePanels(Stage* panels, const CpuModel& cpu) {
  const int rank = static_cast<int>(panels->axes().size());
  const int64_t lanes = LanesFor(panels, cpu);
  auto [outer, inner] = panels->Split(panels->axis(rank - 1), lanes);
  panels->Unroll(outer);
  panels->Vectorize(inner);
  FuseParallel(panels, rank - 2, GuessWork(panels) >= kParallelWork);
}

}  // namespace

void ScheduleMatmul(Schedule* schedule, Stage* stage, const CpuModel& cpu) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const int rank = static_cast<int>(out->axes().size());
  const auto& shape = out->output().shape();
  const DataType t = acc->output().dtype();
  const int64_t lanes = LanesFor(acc, cpu);
  const int64_t m = GuessExtent(shape[rank - 2]);
  const int64_t n = GuessExtent(shape[rank - 1]);
  const int64_t k = GuessExtent(acc->op().reduce_extent[0]);

  RegisterTile tile = MatmulTile(cpu);
  if (tile.vectors > 1 && (tile.vectors - 1) * lanes >= n) {
    tile.vectors = (n + lanes - 1) / lanes;
    tile.rows = MatmulRows(cpu, tile.vectors);
  }
  const bool packed = TagOf(acc, kAnchor) == kDensePacked;
  if (packed) {
    // The weight's own panel width.
    const tir::Load* right = RightOperand(acc);
    int64_t width = 0;
    if (right != nullptr &&
        tir::AsConstInt(right->buffer->shape.back(), &width)) {
      tile.vectors = std::max<int64_t>(1, width / lanes);
      tile.rows = MatmulRows(cpu, tile.vectors);
    }
  }
  const int64_t nr = tile.vectors * lanes;
  if (!packed && m >= 2 * tile.rows) {
    if (Stage* panels = PackRight(schedule, acc, nr)) {
      SchedulePanels(panels, cpu);
    }
  }

  // A block of rows of the left operand fills half of the second-level cache.
  int64_t block = cpu.l2_bytes / 2 / std::max<int64_t>(1, k * t.bytes());
  block = std::max<int64_t>(1, block / tile.rows) * tile.rows;
  const bool blocked = m > 2 * block;

  Loop rows = out->axis(rank - 2), columns = out->axis(rank - 1);
  std::vector<Loop> order(out->axes().begin(), out->axes().end() - 2);
  std::optional<Loop> row_block;
  if (blocked) {
    auto [o, i] = out->Split(rows, block);
    row_block = o;
    rows = i;
    order.push_back(o);
  }
  auto [mo, mi] = out->Split(rows, tile.rows);
  auto [no, ni] = out->Split(columns, nr);
  auto [nv, nl] = out->Split(ni, lanes);
  for (Loop loop : {no, mo, mi, nv, nl}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(mi);
  out->Unroll(nv);
  out->Vectorize(nl);

  acc->ComputeAt(out, mo);
  auto [av, al] = acc->Split(acc->axis(rank - 1), lanes);
  acc->Reorder({acc->reduce_axis(0), acc->axis(rank - 2), av, al});
  acc->Unroll(acc->axis(rank - 2));
  acc->Unroll(av);
  acc->Vectorize(al);

  if (GuessWork(acc) < kParallelWork) return;
  int64_t batch = 1;
  for (int i = 0; i + 2 < rank; ++i) batch *= GuessExtent(shape[i]);
  if (batch >= 4) {
    FuseParallel(out, rank - 2, true);
  } else if (blocked) {
    out->Parallel(*row_block);
  } else {
    out->Parallel(no);
  }
}

}  // namespace ingot::te
