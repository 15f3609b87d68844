// Products of matrices: a register tile of rows x vectors in the inside, a
// block of rows that stays in the second-level cache around it, and panels of
// the right operand that are read one vector after the other.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/cpu/transposition.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// Whether a product converts such an operand of floats, of 16 bits, to the type
// of its sums.
bool IsConverted(const Stage& product, const tir::Load& operand) {
  return operand.dtype.is_float() && operand.dtype != product.op().value->dtype;
}

// Copies the right operand into panels [batch..., n / width, k, width], the
// columns beyond n 0, so that tiles never read outside.
Stage* PackRight(Schedule* schedule, Stage* acc, int64_t width) {
  const Operation op = acc->op();
  const tir::Load* right = RightOperand(*acc);
  const size_t rank = op.axis.size();
  const Expr n = acc->output().shape()[rank - 1];
  const Expr k = op.reduce_extent[0];
  if (DependsOn(*right, op.axis[RowAxis(*acc)].get())) return nullptr;
  // Other axes that the operand depends on.
  std::vector<size_t> batch;
  for (size_t i = 0; i + 1 < rank; ++i) {
    if (DependsOn(*right, op.axis[i].get())) batch.push_back(i);
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
  const DataType type = op.value->dtype;
  const bool converts = IsConverted(*acc, *right);  // once
  auto value = [&](const Indices& i) {
    std::map<const tir::Var*, Expr> map;
    for (size_t b = 0; b < batch.size(); ++b) {
      map[op.axis[batch[b]].get()] = i[b];
    }
    const size_t at = batch.size();
    const Expr column = i[at] * width + i[at + 2];
    map[op.axis[rank - 1].get()] = column;
    map[op.reduce_axis[0].get()] = i[at + 1];
    std::vector<Expr> from;
    for (const Expr& e : indices) from.push_back(tir::Substitute(e, map));
    Expr read = tir::MakeLoad(source, std::move(from));
    if (converts) read = tir::MakeCast(type, std::move(read));
    return whole ? read
                 : tir::MakeSelect(tir::Lt(column, n), read,
                                   tir::MakeConst(read->dtype, 0));
  };
  Indices panel;
  for (size_t i : batch) panel.push_back(op.axis[i]);
  panel.push_back(Expr(op.axis[rank - 1]) / w);
  panel.push_back(op.reduce_axis[0]);
  panel.push_back(Expr(op.axis[rank - 1]) % w);
  return schedule->CacheRead(acc, *right, absl::StrCat(source->name, ".panels"),
                             shape, value, panel);
}

void SchedulePanels(Stage* panels, const MachineModel& machine) {
  if (IsTransposition(*panels, machine)) {
    ScheduleTransposition(panels, machine);
    return;
  }
  const int rank = static_cast<int>(panels->axes().size());
  const int64_t lanes = LanesFor(*panels, machine);
  auto [outer, inner] = panels->Split(panels->axis(rank - 1), lanes);
  panels->Unroll(outer);
  panels->Vectorize(inner);
  FuseParallel(panels, rank - 2, GuessWork(panels) >= kParallelWork);
}

// Finds the operand of a product that does not depend on the columns: a load,
// or what a load is converted to. Words of bytes are several loads.
class LeftOperand : public tir::ExprVisitor {
 public:
  explicit LeftOperand(const Stage& product)
      : column_(product.op().axis.back().get()),
        term_(product.op().reduce_axis[0].get()) {
    Visit(product.op().value);
  }
  Expr value;
  const tir::Load* load = nullptr;
  int loads = 0;

  void Visit(const Expr& e) override {
    const auto* cast = tir::As<tir::Cast>(e);
    const auto* found = tir::As<tir::Load>(cast != nullptr ? cast->value : e);
    if (found == nullptr || DependsOn(*found, column_) ||
        !DependsOn(*found, term_)) {
      return tir::ExprVisitor::Visit(e);
    }
    value = e;
    load = found;
    ++loads;
  }

 private:
  const tir::Var* column_;
  const tir::Var* term_;
};

// Copies the left operand, [batch..., rows, k], where tiles would convert its
// elements one at a time, or many of them find these far apart.
void CopyLeft(Schedule* schedule, Stage* acc, int64_t width,
              const MachineModel& machine) {
  const Operation op = acc->op();
  const LeftOperand left(*acc);
  if (left.loads != 1) return;
  const bool converts = left.value.get() != left.load;
  constexpr int64_t kEnoughTiles = 4;
  if (!converts &&
      (AccessStride(*left.load, op.reduce_axis[0].get()) == 1 ||
       GuessExtent(acc->output().shape().back()) < kEnoughTiles * width)) {
    return;
  }
  std::vector<Expr> shape;
  Indices place;
  for (size_t i = 0; i < op.axis.size(); ++i) {
    if (!DependsOn(*left.load, op.axis[i].get())) continue;
    shape.push_back(acc->output().shape()[i]);
    place.push_back(op.axis[i]);
  }
  shape.push_back(op.reduce_extent[0]);
  place.push_back(op.reduce_axis[0]);
  const auto value = [&](const Indices& at) {
    std::map<const tir::Var*, Expr> map;
    for (size_t i = 0; i < at.size(); ++i) {
      map[tir::As<tir::Var>(place[i])] = at[i];
    }
    return tir::Substitute(left.value, map);
  };
  Stage* copy = schedule->CacheRead(
      acc, *left.load, absl::StrCat(left.load->buffer->name, ".rows"), shape,
      value, place);
  if (IsTransposition(*copy, machine)) {
    ScheduleTransposition(copy, machine);
  } else {
    ScheduleElementwise(copy, machine);
  }
}

// Converts packed weights of 16 bits for many rows: a tile's columns at a time,
// inside of `columns`, which the tiles of all rows then share.
void ConvertPanels(Schedule* schedule, Stage* acc, Stage* out, Loop columns,
                   int64_t lanes) {
  const tir::Load* right = RightOperand(*acc);
  const tir::Buffer source = right->buffer;
  Stage* panels = schedule->CacheRead(
      acc, *right, absl::StrCat(source->name, ".columns"), source->shape,
      [&](const Indices& i) {
        return tir::MakeCast(acc->op().value->dtype, tir::MakeLoad(source, i));
      },
      right->indices);
  panels->ComputeAt(out, columns);
  const int last = static_cast<int>(panels->axes().size()) - 1;
  auto [vectors, lane] = panels->Split(panels->axis(last), lanes);
  panels->Unroll(vectors);
  panels->Vectorize(lane);
}

// Whether the right operand is in words of numbers of few bits.
bool HasWords(const Stage* stage) {
  return TagOf(stage, kAnchor) == kDenseWords;
}

bool IsPacked(const Stage* stage) {
  return TagOf(stage, kAnchor) == kDensePacked || HasWords(stage);
}

bool Matches(const ScheduleSite& site) {
  const absl::string_view anchor = TagOf(&site.stage, kAnchor);
  return (anchor == kMatmul || IsPacked(&site.stage)) &&
         site.stage.axes().size() >= 2 && site.stage.reduce_axes().size() == 1;
}

// Whether products are of packed weights of 16 bits, as f32.
bool ConvertsWeights(const Stage& stage) {
  const tir::Load* right = RightOperand(stage);
  return IsPacked(&stage) && right != nullptr && IsConverted(stage, *right);
}

// The vectors of a panel of packed weights; 0: they are not packed.
int64_t PanelVectors(const Stage& stage, int64_t lanes) {
  if (!IsPacked(&stage)) return 0;
  const tir::Load* right = RightOperand(stage);
  int64_t width = 0;
  if (right == nullptr ||
      !tir::AsConstInt(right->buffer->shape.back(), &width)) {
    return 0;
  }
  return std::max<int64_t>(1, width / lanes);
}

// The vectors of a tile where the operation leaves no choice: as many as the
// panels of packed weights have, or as the columns fill. Otherwise 0.
int64_t GivenVectors(const Stage& stage, int64_t n, int64_t lanes,
                     const MachineModel& machine) {
  const int64_t panel = PanelVectors(stage, lanes);
  if (panel != 0) return panel;
  const int64_t vectors = ProductTile(machine).vectors;
  return vectors > 1 && (vectors - 1) * lanes >= n ? (n + lanes - 1) / lanes
                                                   : 0;
}

// The vectors of tiles of whole panels: several of them side by side keep the
// multipliers, and what reads ahead in memory, busy where rows are few. Where
// several tiles of rows share them, they must not be too long. Threads share
// what is left.
std::vector<int64_t> WholePanels(const Stage& stage,
                                 const MachineModel& machine, int64_t panel,
                                 int64_t m, int64_t n, int64_t lanes) {
  constexpr int64_t kMostVectors = 8, kEnoughTiles = 8;
  std::vector<int64_t> vectors = {panel};
  if (!IsPacked(&stage) || HasWords(&stage)) return vectors;
  const int64_t column_bytes =
      GuessExtent(stage.op().reduce_extent[0]) *
      static_cast<int64_t>(RightOperand(stage)->buffer->dtype.bytes());
  for (int64_t v = 2 * panel; v <= kMostVectors; v += panel) {
    if (m > CeilDiv(kEnoughAccumulators, v) &&
        !IsPanelNear(machine, v * lanes * column_bytes)) {
      break;
    }
    if (CeilDiv(n, v * lanes) >= kEnoughTiles) vectors.push_back(v);
  }
  return vectors;
}

std::vector<int64_t> UpTo(int64_t most) {
  std::vector<int64_t> values;
  for (int64_t v = 1; v <= most; ++v) values.push_back(v);
  return values;
}

// Rows of the left operand that fill 1 / part of the second-level cache, in
// whole tiles. Where these are few, more of them come from behind it, which
// costs less than reading all of the right operand for each block.
int64_t BlockRows(const MachineModel& machine, const Stage& acc, int64_t part,
                  int64_t tile_rows) {
  // A group of 32 bytes has a scale and a sum.
  constexpr int64_t kGroupBytes = 40;
  const int64_t step_bytes =
      HasWords(&acc) ? kGroupBytes : acc.output().dtype().bytes();
  const int64_t row_bytes =
      std::max<int64_t>(1, GuessExtent(acc.op().reduce_extent[0]) * step_bytes);
  constexpr int64_t kFewestRows = 128;
  const int64_t rows =
      std::max(kFewestRows, machine.l2_bytes / part / row_bytes);
  return rows / tile_rows * tile_rows;
}

// The parts of the second-level cache that blocks may fill. Where even the
// smallest block would hold all of `m` rows, there is nothing to choose.
std::vector<int64_t> CacheParts(const Stage& stage, const MachineModel& machine,
                                int64_t m) {
  const int64_t smallest = BlockRows(machine, stage, 4, 1) - (kMaxTileRows - 1);
  return m <= 2 * smallest ? std::vector<int64_t>{2}
                           : std::vector<int64_t>{2, 1, 4};
}

// Estimates the loads that make vectors of a right operand whose columns are
// not side by side, in loads for each vector of products; `shared` rows share
// them.
double GatheringLoads(const Stage& stage, int64_t lanes, int64_t shared) {
  const tir::Load* right = RightOperand(stage);
  if (IsPacked(&stage) || right == nullptr ||
      AccessStride(*right, stage.op().axis.back().get()) == 1) {
    return 0;
  }
  return static_cast<double>(lanes) / static_cast<double>(shared);
}

// Returns the instructions for a group of 32 numbers of a vector of columns and
// a row of the data, of a tile of so many rows.
double WordInstructions(const MachineModel& machine, int64_t rows) {
  // Numbers are unpacked into so many vectors, and rows share that. What the
  // compiler needs beside these and the rows' sums:
  constexpr int64_t kNumbers = 8, kOthers = 4;
  if (rows > 1 && rows + kNumbers + kOthers > machine.vector_registers) {
    return std::numeric_limits<double>::infinity();
  }
  constexpr double kUnpack = 16, kProducts = 28;
  return kProducts + kUnpack / static_cast<double>(rows);
}

// So many tiles of rows do not wait for memory: they share what is read.
constexpr int64_t kManyTiles = 4;

ScheduleSpace Space(const ScheduleSite& site) {
  const auto& shape = ResultOf(site.schedule, site.stage)->output().shape();
  const int64_t lanes = LanesFor(site.stage, site.machine);
  const int64_t n = GuessExtent(shape.back());
  const int64_t m = GuessExtent(shape[RowAxis(site.stage)]);
  const MachineModel machine = MachineOfTiles(site.stage, site.machine);
  const int64_t given = GivenVectors(site.stage, n, lanes, machine);
  // A vector of few columns takes as long as a whole one.
  const double products = static_cast<double>(GuessWork(&site.stage) / n) *
                          static_cast<double>(CeilDiv(n, lanes));
  // Rows beyond enough accumulators lengthen the tail of a tile whose width is
  // given; where it is not, a wider tile is the better use of registers.
  int64_t rows = kMaxTileRows;
  if (given != 0) {
    rows = std::min({rows, m, CeilDiv(kEnoughAccumulators, given)});
    // A last tile of one row takes as long as one of a few.
    if (ConstExtent(shape[RowAxis(site.stage)]) &&
        m > (kManyTiles - 1) * rows) {
      rows = CeilDiv(m, CeilDiv(m, rows));
    }
  }
  ScheduleSpace space;
  space.parameters = {{"vectors", given == 0 ? UpTo(kMaxTileVectors)
                                             : WholePanels(site.stage, machine,
                                                           given, m, n, lanes)},
                      {"rows", UpTo(rows)},
                      // A block of rows of the left operand fills 1 / n of the
                      // second-level cache.
                      {"l2_part", CacheParts(site.stage, site.machine, m)}};
  if (HasWords(&site.stage)) {
    // More rows than this share nothing that is worth their registers.
    constexpr int64_t kMostRows = 8;
    space.parameters[1].values = UpTo(kMostRows);
    space.cost = [machine, products](const ScheduleChoice& choice) {
      return products * WordInstructions(machine, choice.Get("rows"));
    };
    return space;
  }
  // A vector of packed weights takes as long to convert as two products.
  const double converting = ConvertsWeights(site.stage) ? 1 : 0;
  // Panels are made for all rows at once.
  const double gathering = GatheringLoads(site.stage, lanes, m);
  space.cost = [machine, products, gathering, converting,
                given](const ScheduleChoice& choice) {
    const RegisterTile tile = {choice.Get("rows"), choice.Get("vectors")};
    return products * (gathering + converting / static_cast<double>(tile.rows) +
                       (given == 0 ? SpareProductCycles(machine, tile)
                                   : ProductCycles(machine, tile)));
  };
  return space;
}

// Threads share what is outermost and has enough iterations.
void Parallelize(Stage* acc, Stage* out, size_t row_axis,
                 std::optional<Loop> row_block, Loop columns) {
  // A group of numbers is as much as so many products.
  constexpr int64_t kGroupWork = 8;
  if (GuessWork(acc) * (HasWords(acc) ? kGroupWork : 1) < kParallelWork) return;
  const int outer = static_cast<int>(out->axes().size()) - 2;
  int64_t batch = 1;
  for (size_t i = 0; i + 1 < out->axes().size(); ++i) {
    if (i != row_axis) batch *= GuessExtent(out->output().shape()[i]);
  }
  if (batch >= 4) {
    FuseParallel(out, outer, true);
  } else {
    out->Parallel(row_block.value_or(columns));
  }
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  const bool packed = IsPacked(stage);
  auto [acc, out] = MakeAnchor(schedule, stage);
  const int rank = static_cast<int>(out->axes().size());
  const size_t row_axis = RowAxis(*acc);
  const int64_t lanes = LanesFor(*acc, machine);
  const int64_t m = GuessExtent(out->output().shape()[row_axis]);
  const RegisterTile tile = {choice.Get("rows"), choice.Get("vectors")};
  const int64_t nr = tile.vectors * lanes;
  if (!packed && m >= 2 * tile.rows) {
    if (Stage* panels = PackRight(schedule, acc, nr)) {
      SchedulePanels(panels, machine);
    }
  }
  if (!HasWords(acc)) CopyLeft(schedule, acc, nr, machine);

  const int64_t block =
      BlockRows(machine, *acc, choice.Get("l2_part"), tile.rows);
  const ResultTiles tiles =
      CutIntoTiles(out, static_cast<int>(row_axis), block, tile, lanes);
  acc->ComputeAt(out, tiles.rows);
  if (ConvertsWeights(*acc) && m >= kManyTiles * tile.rows &&
      ConstExtent(out->output().shape()[row_axis])) {
    ConvertPanels(schedule, acc, out, tiles.columns, lanes);
  }
  auto [av, al] = acc->Split(acc->axis(rank - 1), lanes);
  std::vector<Loop> inner = {acc->axis(row_axis), av, al};
  if (const int64_t panel = PanelVectors(*acc, lanes);
      panel != 0 && panel < tile.vectors) {
    auto [panels, of_panel] = acc->Split(av, panel);
    acc->Unroll(panels);
    av = of_panel;
    inner = {acc->axis(row_axis), panels, av, al};
  }
  Loop terms = acc->reduce_axis(0);
  std::vector<Loop> order_of_terms = {terms};
  if (constexpr int64_t kSteps = 4;
      acc->output().dtype().is_float() && !HasWords(acc) &&
      GuessExtent(acc->op().reduce_extent[0]) % kSteps == 0 &&
      IsWorthWritingOut(machine, tile, kSteps)) {
    auto [ko, ki] = acc->Split(terms, kSteps);
    acc->Unroll(ki);
    terms = ko;
    order_of_terms = {ko, ki};
  }
  order_of_terms.insert(order_of_terms.end(), inner.begin(), inner.end());
  acc->Reorder(order_of_terms);
  // A single row, as in a tail, reads so fast that a processor's guesses are
  // better, if its numbers need not be unpacked.
  constexpr int64_t kEnoughRows = 4;
  if (packed) {
    PrefetchWeights(acc, terms, machine, /*in_turns=*/true,
                    HasWords(acc) ? 1 : kEnoughRows);
  }
  acc->Unroll(acc->axis(row_axis));
  acc->Unroll(av);
  acc->Vectorize(al);

  Parallelize(acc, out, row_axis, tiles.row_block, tiles.columns);
}

}  // namespace

ScheduleTemplate Matmul() {
  ScheduleTemplate t;
  t.name = "cpu.matmul";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
