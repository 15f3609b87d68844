// Kernels of reductions along rows with what is done to the rows: softmax,
// normalizations, means. For templates, whatever their machine.
#ifndef INGOT_COMPILER_SCHEDULES_ROW_KERNEL_H_
#define INGOT_COMPILER_SCHEDULES_ROW_KERNEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/te/schedule.h"

namespace ingot::te {

struct RowKernel {
  Stage* out;                 // the only output that depends on reductions
  std::vector<Stage*> inner;  // all that it depends on
  std::vector<bool> is_row;   // axes of `out` that reductions' results have
  // So many neighbours along such an axis have one result: more than 1 where it
  // is read at axis // n alone, as by groups of channels.
  std::vector<int64_t> neighbours;
};

// Nothing where the kernel has another form. No axis is one of rows where there
// is one result for everything.
std::optional<RowKernel> FindRowKernel(const Schedule& schedule);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_ROW_KERNEL_H_
