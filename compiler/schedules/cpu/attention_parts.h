// The definition of an attention, taken apart for loops that are written by
// hand.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_PARTS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_PARTS_H_

#include <map>
#include <optional>
#include <vector>

#include "compiler/te/schedule.h"
#include "compiler/tir/ir.h"

namespace ingot::te::cpu {

// The stages of one attention, by their roles (tags.h).
struct AttentionStages {
  Stage *scaled, *product, *scores, *max, *top, *exp, *sum, *values, *result;
};

// Nothing where `product` is no stage of an attention.
std::optional<AttentionStages> FindAttention(const Schedule& schedule,
                                             const Stage& product);

// The scores' definition.
struct ScoreParts {
  explicit ScoreParts(const Operation& scores);

  Expr value;               // where all conditions hold
  std::vector<Expr> other;  // conditions that are looked at for every score
  // Conditions on the key's place, which hold for all keys from the largest of
  // `lower` to the least of `upper`, both included. These bounds do not fall as
  // the query's axis grows.
  std::vector<Expr> by_place, lower, upper;
};

// Elements that stand for whatever is read of a stage's result.
using Elements = std::map<const Stage*, Expr>;

// `value`, a part of the stage's definition, at a point of its axes.
Expr PartAt(const Stage& stage, const Expr& value, const Indices& at,
            const Elements& elements);
// The stage's value at a point of its axes, followed by its reduce axes.
Expr ValueAt(const Stage& stage, const Indices& at, const Elements& elements);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_PARTS_H_
