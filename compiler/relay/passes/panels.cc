#include "compiler/relay/passes/panels.h"

#include <algorithm>

#include "base/status_macros.h"
#include "compiler/relay/strided.h"

namespace ingot::relay {

absl::StatusOr<Tensor> Panels(const Tensor& w, int64_t rows, int64_t columns,
                              int64_t row, int64_t column, int64_t nr) {
  const int64_t panels = (columns + nr - 1) / nr;
  INGOT_ASSIGN_OR_RETURN(Tensor packed,
                         Tensor::Empty(w.dtype(), {panels, rows, nr}));
  const size_t element = w.dtype().bytes();
  auto* to = static_cast<char*>(packed.mutable_raw_data());
  std::fill(to, to + packed.bytes(), 0);
  const auto* from = static_cast<const char*>(w.raw_data());
  const int64_t whole = columns / nr;
  CopyStrided(from, {nr * column, row, column}, to, {rows * nr, nr, 1},
              {whole, rows, nr}, element);
  CopyStrided(from + whole * nr * column * element, {row, column},
              to + whole * rows * nr * element, {nr, 1},
              {rows, columns - whole * nr}, element);
  return packed;
}

bool PaysToPack(const Node& product) {
  const auto x = ConstShape(product.inputs[0].type().shape);
  const auto w = ConstShape(product.inputs[1].type().shape);
  if (!x || !w || x->size() != w->size() || x->size() < 2 ||
      !std::equal(x->begin(), x->end() - 2, w->begin())) {
    return false;
  }
  // Packing touches each element of the right operand a few times.
  constexpr int64_t kRows = 16, kTerms = 16, kColumns = 16;
  const size_t last = x->size() - 1;
  return (*x)[last - 1] >= kRows && (*x)[last] >= kTerms &&
         (*w)[last] >= kColumns &&
         std::all_of(x->begin(), x->end(), [](int64_t n) { return n > 0; });
}

}  // namespace ingot::relay
