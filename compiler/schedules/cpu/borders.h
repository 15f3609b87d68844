// The borders of a reduction over windows, where these read padding. Loops that
// are made for each border by itself know what lies beyond it, so that the
// padding need not be copied.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_BORDERS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_BORDERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/te/schedule.h"

namespace ingot::te::cpu {

// The places of an axis whose windows read no padding.
struct Interior {
  int64_t begin, end;  // begin <= end
};

// Returns these of an axis of `acc`, which reads the padding `pad` at sums of
// multiples of axes; nothing where they are not known.
std::optional<Interior> InteriorOf(const Stage& acc, const Stage& pad,
                                   int axis);

// Returns where to cut an axis of so many places, so that all borders are loops
// of one tile, or a part of one, and the interior has whole tiles.
std::vector<int64_t> TileCuts(const Interior& interior, int64_t extent,
                              int64_t tile);

// Neighbours along an axis whose windows read padding with the same taps, and
// no padding with so many.
struct WindowPart {
  int64_t begin, end;
  int64_t taps;
};

// Returns the parts of an axis of `acc`, which reads the padding `pad` at sums
// of multiples of axes, in order; nothing where they are not known. Those of a
// symbol's places are a guess.
std::optional<std::vector<WindowPart>> WindowParts(const Stage& acc,
                                                   const Stage& pad, int axis);

// A plane whose padding is not copied. Rows of taps that lie on it are left out
// by a condition. Columns are cut into parts whose taps all lie on it or all do
// not; where steps are not over blocks of input channels, which would each look
// at the conditions, into whole tiles. Where only a run knows how many columns
// there are, tiles of them have conditions as rows have.
struct Borders {
  std::vector<WindowPart> rows, columns;
  std::optional<Interior> interior;  // of the columns, which tiles are cut at
  bool is_guess = false;             // of the columns

  // Returns where to cut the columns.
  std::vector<int64_t> Cuts(int64_t tile) const;
};

// Returns how much of the products is left along an axis, of windows of so many
// taps.
double TapsUsed(const std::vector<WindowPart>& parts, int64_t taps);

// The interior of a plane of rows (axis 2) and columns (axis 3).
struct PlaneInterior {
  Interior rows, columns;
};

// Returns that of `acc`, which reads the padding `pad` at sums of multiples of
// axes; nothing where it is not known, or has so many rows around it that the
// padding had better be copied.
std::optional<PlaneInterior> PlaneInteriorOf(const Stage& acc,
                                             const Stage& pad);

// Cuts an axis of `out`, each element of which is made of one of `acc`, or its
// plane, in tiles of a row's columns. What reads padding then has loops of its
// own.
void CutAtBorders(Stage* out, int axis, const Interior& interior, int64_t tile);
void CutAtBorders(Stage* out, const PlaneInterior& interior, int64_t tile);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_BORDERS_H_
