// Where the elements of a tensor, or of a box of them, are kept.
#ifndef INGOT_COMPILER_TE_PLACE_H_
#define INGOT_COMPILER_TE_PLACE_H_

#include <optional>
#include <vector>

#include "compiler/te/schedule.h"
#include "compiler/te/side.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

Affine FloorDiv(const Affine& a, const Affine& b, const Bounds& bounds);
Affine FloorMod(const Affine& a, const Affine& b, const Bounds& bounds);

// Element i is at buffer[i - origin].
struct Place {
  tir::Buffer buffer;
  std::vector<Affine> origin;
  // Registers: element i is at buffer[thread, own] after that.
  std::vector<ThreadShare> shares;
  // The first index is the part's, if there are any.
  std::optional<BoxParts> parts = std::nullopt;

  // The indices of an element in the buffer.
  std::vector<Expr> At(std::vector<Affine> element, const Bounds& bounds) const;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_PLACE_H_
