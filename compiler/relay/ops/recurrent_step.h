// A step of a recurrent layer: loops over the batch's rows, and the products of
// their states with the weights. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_RECURRENT_STEP_H_
#define INGOT_COMPILER_RELAY_OPS_RECURRENT_STEP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {

// RecurrentOperand positions that all kinds share.
enum RecurrentOperand { kGates = 0, kWeights = 1, kInitialH = 2, kLengths = 3 };

struct RecurrentKind {
  const char* name;
  int gates;
  int extra_inputs;  // after the lengths
  bool cell;         // LSTM's second state
  std::vector<std::string> activations;
};

// The extents of the weights, as a matrix [hidden, columns] or in panels
// [panels, hidden, vectors, lanes].
struct StepMatrix {
  int64_t hidden = 0;
  int64_t columns = 0;
  int64_t vectors = 0, lanes = 0;  // 0 where it is not in panels

  bool in_panels() const { return lanes > 0; }
  int64_t width() const { return vectors * lanes; }
};

// Those of weights in one of these forms; nothing for any other shape.
std::optional<StepMatrix> StepMatrixOf(const Shape& weights);

struct RecurrentStep;

// One sequence of the batch in a step.
struct StepRow {
  const RecurrentStep& step;
  Expr batch;
  Expr time;    // of its input and result
  Expr active;  // whether it goes on so long; null: all do

  Expr Gate(int g, const Expr& j) const;
  Stmt SetGate(int g, const Expr& j, const Expr& value) const;
  // Where its unit j is in y.
  Indices At(const Expr& j) const { return {time, batch, j}; }
};

// Element k of an operand's row.
using Element = std::function<Expr(const StepRow& row, const Expr& k)>;
using RowFn = std::function<Stmt(const StepRow& row)>;

// Operands and gates of one step.
struct RecurrentStep {
  const ComputeContext& c;
  const RecurrentKind& kind;
  StepMatrix matrix;
  int64_t hidden;
  Expr number, steps, rows;
  te::Tensor y, h, cell, gates;  // gates: [batch, gates * hidden], scratch

  Expr Activate(int which, const Expr& x) const;
  Expr Clip(const Expr& x) const;
  Stmt EachUnit(const std::function<Stmt(const Expr&)>& body) const {
    return Loop("j", I64(hidden), body);
  }
  StepRow RowAt(const Expr& b) const;
  // Includes sequences past their end, whose gates nothing reads.
  Stmt EachRow(const RowFn& body) const {
    return Loop("b", rows, [&](const Expr& b) { return body(RowAt(b)); });
  }
  // Those past their end give zeros instead, and keep their state.
  Stmt EachActiveRow(const RowFn& body) const;
  // Element k of the state before the step.
  Element State() const {
    return [this](const StepRow& row, const Expr& k) {
      return h({row.batch, k});
    };
  }
  // gates[first, last) += from * weights, for all units and rows, where `from`
  // gives the operand's elements.
  Stmt AddRecurrent(const Element& from, int first, int last) const;

 private:
  // A tile of rows by vectors of a panel, and the units whose products it adds,
  // from these on.
  struct Tile {
    Expr batch, panel, vector, unit;
    int64_t rows, vectors, units;
  };

  Stmt AddPanels(const Element& from, int first, int last) const;
  Stmt AddTile(const Element& from, const Tile& tile) const;

  // Element k of one row.
  using Term = std::function<Expr(const Expr& k)>;

  // The inner loop runs along memory and has no carried sum. It adds several
  // terms, so that the gates are read and written less often than the weights.
  Stmt AddColumns(const Term& from, const Expr& batch, int first,
                  int last) const;
  // The terms of so many units from k on.
  Stmt AddTerms(const Term& from, const Expr& batch, const Expr& k,
                int64_t terms, int first, int last) const;
};

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_RECURRENT_STEP_H_
