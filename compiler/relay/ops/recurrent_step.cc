#include "compiler/relay/ops/recurrent_step.h"

#include <algorithm>

#include "compiler/relay/ops/activation.h"

namespace ingot::relay::ops {

std::optional<StepMatrix> StepMatrixOf(const Shape& weights) {
  const auto shape = ConstShape(weights);
  if (!shape) return std::nullopt;
  const std::vector<int64_t>& d = *shape;
  if (d.size() == 2) return StepMatrix{d[0], d[1]};
  // Products of three such extents fit in 64 bits.
  constexpr int64_t kMost = 1 << 20;
  if (d.size() != 4 || *std::max_element(d.begin(), d.end()) > kMost) {
    return std::nullopt;
  }
  const StepMatrix m = {d[1], d[0] * d[2] * d[3], d[2], d[3]};
  // A gate begins with a panel.
  if (m.width() < 1 || m.hidden % m.width() != 0) return std::nullopt;
  return m;
}

Expr RecurrentStep::Activate(int which, const Expr& x) const {
  const std::vector<std::string> names =
      c.attrs.Get<std::vector<std::string>>("activations");
  auto param = [&](absl::string_view name) -> std::optional<double> {
    const auto values = c.attrs.Get<std::vector<double>>(name);
    if (static_cast<size_t>(which) >= values.size()) return std::nullopt;
    return values[which];
  };
  return Activation(names[which], Clip(x), param("activation_alpha"),
                    param("activation_beta"));
}

Expr RecurrentStep::Clip(const Expr& x) const {
  const double limit = c.attrs.Get<double>("clip");
  if (limit <= 0) return x;
  return Max(MakeConst(x->dtype, -limit), Min(MakeConst(x->dtype, limit), x));
}

Stmt RecurrentStep::AddRecurrent(const Element& from, int first,
                                 int last) const {
  if (matrix.in_panels()) return AddPanels(from, first, last);
  return EachRow([&](const StepRow& row) {
    return AddColumns([&](const Expr& k) { return from(row, k); }, row.batch,
                      first, last);
  });
}

Stmt RecurrentStep::AddColumns(const Term& from, const Expr& batch, int first,
                               int last) const {
  constexpr int64_t kTerms = 8;
  const int64_t whole = hidden / kTerms;
  return tir::MakeSeq(
      {Loop("k", I64(whole),
            [&](const Expr& k) {
              return AddTerms(from, batch, k * kTerms, kTerms, first, last);
            }),
       Loop("k", I64(hidden - whole * kTerms), [&](const Expr& k) {
         return AddTerms(from, batch, k + whole * kTerms, 1, first, last);
       })});
}

Stmt RecurrentStep::AddTerms(const Term& from, const Expr& batch, const Expr& k,
                             int64_t terms, int first, int last) const {
  const te::Tensor w = c.inputs[kWeights];
  return Loop("g", I64((last - first) * hidden), [&](const Expr& g) {
    const Expr at = g + first * hidden;
    Expr sum = gates({batch, at});
    for (int64_t j = 0; j < terms; ++j) {
      sum = tir::MakeCall(tir::Intrinsic::kMulAdd,
                          {from(k + j), w({k + j, at}), sum});
    }
    return MakeStore(gates.buffer, {batch, at}, sum);
  });
}

Expr StepRow::Gate(int g, const Expr& j) const {
  return step.gates({batch, I64(g * step.hidden) + j});
}

Stmt StepRow::SetGate(int g, const Expr& j, const Expr& value) const {
  return MakeStore(step.gates.buffer, {batch, I64(g * step.hidden) + j}, value);
}

StepRow RecurrentStep::RowAt(const Expr& b) const {
  const Expr length =
      c.has(kLengths)
          ? Min(MakeCast(DataType::Int(64), c.inputs[kLengths]({b})), steps)
          : steps;
  const Expr active = Lt(number, length);
  const bool reverse = c.attrs.Get<int64_t>("reverse") != 0;
  const Expr time =
      reverse ? tir::MakeSelect(active, length - 1 - number, number) : number;
  return {*this, b, time, c.has(kLengths) ? active : nullptr};
}

Stmt RecurrentStep::EachActiveRow(const RowFn& body) const {
  return EachRow([&](const StepRow& row) {
    if (row.active == nullptr) return body(row);
    const Stmt zeros = EachUnit([&](const Expr& j) {
      return MakeStore(y.buffer, row.At(j), MakeConst(y.dtype(), 0));
    });
    return tir::MakeIf(row.active, body(row), zeros);
  });
}

// Rows share what they read of the weights: tiles of several rows and few
// vectors meet as many units of a panel as stay in the first-level cache. The
// rows that are left meet whole panels, one at a time, so that they have as
// many sums.
Stmt RecurrentStep::AddPanels(const Element& from, int first, int last) const {
  // At least eight sums, and registers for what they are made of.
  const int64_t vectors = matrix.vectors % 3 == 0   ? 3
                          : matrix.vectors % 2 == 0 ? 2
                                                    : 1;
  const int64_t tile_rows = vectors == 1 ? 8 : 4;
  constexpr int64_t kPartBytes = 16 << 10;
  const int64_t most = kPartBytes / (matrix.width() * gates.dtype().bytes());
  int64_t units = std::clamp<int64_t>(most, 1, hidden);
  while (hidden % units != 0) --units;
  const int64_t panels = hidden / matrix.width();
  const Expr done = rows / I64(tile_rows) * tile_rows;
  const auto add_panel = [&](const Expr& p) {
    const Expr panel = p + first * panels;
    const auto part = [&](const Expr& u) {
      return Loop("b", rows / I64(tile_rows), [&](const Expr& b) {
        return Loop("v", I64(matrix.vectors / vectors), [&](const Expr& v) {
          return AddTile(from, {b * tile_rows, panel, v * vectors, u * units,
                                tile_rows, vectors, units});
        });
      });
    };
    const Stmt rest = Loop("b", rows - done, [&](const Expr& b) {
      return AddTile(
          from, {done + b, panel, I64(0), I64(0), 1, matrix.vectors, hidden});
    });
    return tir::MakeSeq({Loop("u", I64(hidden / units), part), rest});
  };
  // Threads share the panels of a step that takes longer than waking them.
  constexpr int64_t kParallelProducts = 1 << 16;
  const int64_t columns = (last - first) * hidden;
  return Loop("p", I64((last - first) * panels), add_panel,
              hidden * columns >= kParallelProducts ? tir::ForKind::kParallel
                                                    : tir::ForKind::kSerial);
}

// The sums stay in registers, and the weights are read as they lie.
Stmt RecurrentStep::AddTile(const Element& from, const Tile& tile) const {
  const te::Tensor weights = c.inputs[kWeights];
  const int64_t width = tile.vectors * matrix.lanes;
  const tir::Buffer sums = Scratch("sums", gates.dtype(), tile.rows * width);
  // For each sum: set(its row in the tile, its place in a row, its lane).
  using Set = std::function<Stmt(const Expr&, const Expr&, const Indices&)>;
  auto each = [&](const Set& set) {
    const tir::VarPtr r = tir::MakeVar("r"), v = tir::MakeVar("v"),
                      l = tir::MakeVar("l");
    const Stmt one =
        set(r, Expr(v) * matrix.lanes + Expr(l), {tile.vector + Expr(v), l});
    const Stmt vectors =
        tir::MakeFor(v, I64(0), I64(tile.vectors), tir::ForKind::kUnrolled,
                     tir::MakeFor(l, I64(0), I64(matrix.lanes),
                                  tir::ForKind::kVectorized, one));
    return tir::MakeFor(r, I64(0), I64(tile.rows), tir::ForKind::kUnrolled,
                        vectors);
  };
  auto gate_of = [&](const Expr& r, const Expr& i) -> Indices {
    return {tile.batch + r,
            tile.panel * matrix.width() + tile.vector * matrix.lanes + i};
  };
  const Stmt start = each([&](const Expr& r, const Expr& i, const Indices&) {
    return MakeStore(sums, {r * width + i}, gates(gate_of(r, i)));
  });
  const Stmt sum = Loop("k", I64(tile.units), [&](const Expr& i) {
    const Expr k = tile.unit + i;
    return each([&](const Expr& r, const Expr& i, const Indices& lane) {
      const Expr w = weights({tile.panel, k, lane[0], lane[1]});
      const Expr at = r * width + i;
      return MakeStore(sums, {at},
                       tir::MakeCall(tir::Intrinsic::kMulAdd,
                                     {from(RowAt(tile.batch + r), k), w,
                                      MakeLoad(sums, {at})}));
    });
  });
  const Stmt finish = each([&](const Expr& r, const Expr& i, const Indices&) {
    return MakeStore(gates.buffer, gate_of(r, i),
                     MakeLoad(sums, {r * width + i}));
  });
  return tir::MakeAllocate(sums, tir::MakeSeq({start, sum, finish}));
}

}  // namespace ingot::relay::ops
