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

}  // namespace ingot::relay
