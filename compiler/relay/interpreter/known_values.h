// Finds the values of a function whose elements are known before a run.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_VALUES_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_VALUES_H_

#include <map>
#include <memory>
#include <vector>

#include "compiler/relay/interpreter/known.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

struct Partial;

// Follows small values of one function through its calls, by the definitions of
// the operators: constants, `dims`, and whatever is computed from them. A
// frontend asks it where it needs numbers or formulas, such as the target of a
// reshape or the bounds of a slice, and need not evaluate anything itself.
//
// Answers are kept. They hold as long as nodes that were asked about live and
// are not changed, as in a function that only grows. Not thread-safe.
class KnownValues {
 public:
  KnownValues();
  KnownValues(KnownValues&&) noexcept;
  KnownValues& operator=(KnownValues&&) noexcept;
  ~KnownValues();

  // Takes the elements of an input to be these.
  void Set(const Value& value, const Known& known);

  // All elements of a value; null where one of them is not known, or where
  // there are more than kMostKnownElements. Lives as long as this object.
  const Known* Of(const Value& value);

  // The elements of a scalar or vector of integers, each null where it is not
  // known. Empty for other values and where their number is not known.
  std::vector<tir::Expr> Integers(const Value& value);

 private:
  const Partial* Find(const Value& value);
  void Evaluate(const Node& node);

  // Null: nothing is known.
  std::map<Value, std::unique_ptr<Partial>> values_;
  std::map<Value, Known> all_known_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_KNOWN_VALUES_H_
