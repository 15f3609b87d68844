// Loops whose cost is memory: depthwise convolutions and pools. A vector of
// channels (or of neighbouring columns) at a time, a stretch of the row in
// registers, the window unrolled so that neighbours share what they load. Where
// that is channels, padding is no copy: sums leave out the taps that lie on it,
// and the borders of other windows have loops of their own.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/borders.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

constexpr int kHeight = 2, kWidth = 3;  // axes

bool IsBlocked(const Stage& stage) { return stage.axes().size() == 5; }

bool Matches(const ScheduleSite& site) {
  const absl::string_view anchor = TagOf(&site.stage, kAnchor);
  const size_t rank = site.stage.axes().size();
  return (anchor == kDepthwiseNchwc && rank == 5) ||
         (anchor == kPool2d && (rank == 4 || rank == 5));
}

// A padded tile of a row of unknown length is of so many places, so that it is
// on the stack.
constexpr int64_t kColumns = 32;

bool HasColumnBlocks(const Stage& out) {
  return IsBlocked(out) && !ConstExtent(out.output().shape()[kWidth]);
}

// The end of a split of an axis into what padded tiles are for. A tile at the
// end of an axis of unknown length is as large as is left.
Tail EndOf(const Stage& out, int axis) {
  return ConstExtent(out.output().shape()[axis]) ? Tail::kPartition
                                                 : Tail::kShorten;
}

// Rows of output that are made from one padded tile: the tile should stay in
// the first-level cache.
int64_t RowsPerTile(const Stage& out, const Stage& pad,
                    const MachineModel& machine) {
  int64_t row_bytes = pad.output().dtype().bytes();
  for (int i = kHeight + 1; i < pad.output().rank(); ++i) {
    row_bytes *= GuessExtent(pad.output().shape()[i]);
  }
  const int64_t rows = machine.l1_bytes / 2 / std::max<int64_t>(1, row_bytes);
  const int64_t all = GuessExtent(out.output().shape()[kHeight]);
  return std::clamp<int64_t>(rows, 4, std::max<int64_t>(4, all));
}

// Output vectors in registers: neighbours in the row.
int64_t RowTile(const Stage& acc, const MachineModel& machine) {
  int64_t width = GuessExtent(acc.output().shape()[kWidth]);
  if (!IsBlocked(acc)) {
    // Vectors that are made of parts of others need registers for these.
    if (!IsContiguous(&acc, acc.op().axis[kWidth].get())) return 1;
    width = CeilDiv(width, LanesFor(acc, machine));
  }
  int64_t tile = machine.vector_registers >= 32 ? 8 : 4;
  tile = std::min(tile, std::max<int64_t>(1, width));
  if (tile > 1 && width % tile != 0 && width % (tile - 1) == 0) --tile;
  return tile;
}

// Windows of more elements are loops. Scalar code has a statement for each lane
// of a vector, so its sums are loops sooner. Its maxima are not: padding would
// then be copied.
constexpr int64_t kMostUnrolled = 25, kMostUnrolledScalar = 9;

// A row of a window that is a loop is unrolled up to this.
constexpr int64_t kMostTaps = 8;

bool UnrollsRows(const Stage& acc) {
  const auto taps = ConstExtent(acc.op().reduce_extent.back());
  return taps && *taps <= kMostTaps;
}

bool UnrollsWindow(const Stage& acc, const MachineModel& machine) {
  int64_t window = 1;
  for (const Expr& extent : acc.op().reduce_extent) {
    if (!ConstExtent(extent)) return false;
    window *= *ConstExtent(extent);
  }
  const bool is_scalar_sum =
      acc.op().reducer.is_sum && LanesFor(acc, machine) == 1;
  return window <= (is_scalar_sum ? kMostUnrolledScalar : kMostUnrolled);
}

// Whether what lies on padding is left out: by a condition for each row of
// taps and, where only a run knows the columns, for each tile of them.
bool SkipsPadding(const Stage& acc) {
  return IsBlocked(acc) && acc.op().reducer.is_sum &&
         acc.output().dtype().is_float();
}

// Nothing where the padding must be a copy: other windows' conditions would be
// looked at for each element.
std::optional<PlaneInterior> InteriorOfPlane(const Stage& acc, const Stage& pad,
                                             const MachineModel& machine) {
  if (!IsBlocked(acc) || !UnrollsWindow(acc, machine)) return std::nullopt;
  return PlaneInteriorOf(acc, pad);
}

// Makes the loops so that the padding need not be copied.
void LeavePaddingOut(Stage* acc, Stage* out, Stage* pad, int64_t tile,
                     const MachineModel& machine) {
  if (!SkipsPadding(*acc)) {
    CutAtBorders(out, *InteriorOfPlane(*acc, *pad, machine), tile);
  } else {
    if (const auto columns = InteriorOf(*acc, *pad, kWidth)) {
      CutAtBorders(out, kWidth, *columns, tile);
    }
    acc->SkipZeros(acc->axis(kWidth));
  }
  pad->ComputeInline();
}

// These loops wait for memory, so that no count of cycles tells tiles apart.
ScheduleSpace Space(const ScheduleSite& site) {
  const Stage& out = *ResultOf(site.schedule, site.stage);
  ScheduleSpace space;
  const int64_t tile = RowTile(site.stage, site.machine);
  space.parameters = {{"width", {tile}}};
  for (int64_t other : {1, 2, 4, 8}) {
    if (other != tile) space.parameters[0].values.push_back(other);
  }
  if (const Stage* pad = FindPad(site.schedule, site.stage)) {
    const int64_t rows = RowsPerTile(out, *pad, site.machine);
    space.parameters.push_back({"rows", {rows, 2 * rows, rows / 2}});
    space.parameters.push_back({"copies_padding", {1}});
    if (SkipsPadding(site.stage) ||
        InteriorOfPlane(site.stage, *pad, site.machine)) {
      space.parameters.back().values = {0, 1};
    }
  }
  return space;
}

// The loops of one tile of the accumulator: the window unrolled where it is
// small, vectors in the inside.
void ScheduleAccumulator(Stage* acc, const MachineModel& machine) {
  const int64_t lanes = LanesFor(*acc, machine);
  const bool unrolls = UnrollsWindow(*acc, machine);
  std::vector<Loop> inner(acc->axes().begin(), acc->axes().begin() + 3);
  for (Loop loop : acc->reduce_axes()) {
    inner.push_back(loop);
    if (unrolls) acc->Unroll(loop);
  }
  if (UnrollsRows(*acc)) acc->Unroll(acc->reduce_axes().back());
  if (IsBlocked(*acc)) {
    auto [bv, bl] = acc->Split(acc->axis(4), lanes);
    for (Loop loop : {acc->axis(kWidth), bv, bl}) inner.push_back(loop);
    acc->Unroll(acc->axis(kWidth));
    acc->Unroll(bv);
    acc->Vectorize(bl);
  } else {
    auto [wv, wl] = acc->Split(acc->axis(kWidth), lanes);
    for (Loop loop : {wv, wl}) inner.push_back(loop);
    acc->Unroll(wv);
    acc->Vectorize(wl);
  }
  acc->Reorder(inner);
}

// Parts of an image's rows that threads share. A part of fewer rows than
// kLeastRows reads too much of its neighbours' again, for each channel.
constexpr int64_t kShares = 8, kLeastRows = 4;

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const int64_t lanes = LanesFor(*acc, machine);
  Stage* pad = FindPad(*schedule, *acc);
  const bool cut = pad != nullptr && choice.Get("copies_padding") == 0;
  if (cut) {
    LeavePaddingOut(acc, out, pad, choice.Get("width"), machine);
    pad = nullptr;
  }
  const bool parallel = GuessWork(acc) >= kParallelWork;
  const bool rows_known =
      ConstExtent(out->output().shape()[kHeight]).has_value();
  const bool by_rows =
      parallel && SharesRows(*out) && RowsOfShare(*out, kShares) >= kLeastRows;
  std::vector<Loop> order = {out->axis(0), out->axis(1)};
  Loop row = out->axis(kHeight), column = out->axis(kWidth);
  std::optional<Loop> block;  // around what a padded tile is for
  if (pad != nullptr) {
    std::tie(block, row) =
        out->Split(row, choice.Get("rows"), EndOf(*out, kHeight));
    order.insert(by_rows ? order.begin() + 1 : order.end(), *block);
    if (by_rows) block = out->axis(1);
    if (HasColumnBlocks(*out)) {
      std::tie(block, column) =
          out->Split(column, kColumns, EndOf(*out, kWidth));
      order.push_back(*block);
    }
  }
  if (by_rows && pad == nullptr) {
    const auto [share, of_share] =
        out->Split(row, rows_known ? RowsOfShare(*out, kShares) : kLeastRows,
                   Tail::kShorten);
    order.insert(order.begin() + 1, share);
    row = of_share;
  }
  order.push_back(row);
  Loop attach;
  if (IsBlocked(*out)) {
    auto [wo, wi] = out->Split(column, choice.Get("width"));
    auto [bv, bl] = out->Split(out->axis(4), lanes);
    for (Loop loop : {wo, wi, bv, bl}) order.push_back(loop);
    out->Unroll(wi);
    out->Unroll(bv);
    out->Vectorize(bl);
    attach = wo;
  } else {
    auto [wo, wi] = out->Split(column, choice.Get("width") * lanes);
    auto [wv, wl] = out->Split(wi, lanes);
    for (Loop loop : {wo, wv, wl}) order.push_back(loop);
    out->Unroll(wv);
    out->Vectorize(wl);
    attach = wo;
  }
  out->Reorder(order);
  if (by_rows && cut && rows_known) {
    out->Parallel(out->leaves()[1]);
  } else {
    FuseParallel(out, block || cut || by_rows ? 2 : 3, parallel);
  }
  if (pad != nullptr) {
    pad->ComputeAt(out, *block);
    ScheduleElementwise(pad, machine);
  }

  acc->ComputeAt(out, attach);
  ScheduleAccumulator(acc, machine);
}

}  // namespace

ScheduleTemplate Window() {
  ScheduleTemplate t;
  t.name = "cpu.window";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
