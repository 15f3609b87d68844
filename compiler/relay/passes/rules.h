// Rewriting by a table of rules. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_RULES_H_
#define INGOT_COMPILER_RELAY_PASSES_RULES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// The surroundings of the node that a rule looks at.
class RuleContext {
 public:
  explicit RuleContext(Function* function);

  Function* function() const { return function_; }
  // Counts the operands and outputs that are this value, after the rewrites so
  // far.
  int Uses(const Value& value) const;
  bool SingleUse(const Value& value) const { return Uses(value) == 1; }
  // Whether an operator that jumps (kJumps) reads a result of `node`, or what
  // is made of that element by element in a few instructions.
  bool FeedsJump(const Node& node) const {
    return feed_jumps_.count(&node) > 0;
  }

  // A call, computed at once when all its operands are constants. Its name is
  // made from that of the node the rule looks at.
  absl::StatusOr<Value> Add(absl::string_view op, std::vector<Value> inputs,
                            Attrs attrs = {});
  // The same without computing it.
  absl::StatusOr<Value> AddUnfolded(absl::string_view op,
                                    std::vector<Value> inputs, Attrs attrs);
  // A call that stands for `old`, which only the node the rule looks at reads:
  // it takes over the name and the model's names.
  absl::StatusOr<Value> AddLike(const Node& old, std::vector<Value> inputs,
                                Attrs attrs);
  // A constant with all elements the same.
  absl::StatusOr<Value> Splat(DataType dtype, absl::Span<const int64_t> shape,
                              double value);

 private:
  friend absl::StatusOr<bool> ApplyRules(Function* function,
                                         absl::Span<const struct Rule> rules);

  Function* function_;
  std::map<Value, int> uses_;
  std::set<const Node*> named_;  // made by AddLike
  std::set<const Node*> feed_jumps_;
  const Node* node_ = nullptr;
};

struct Rule {
  const char* name;  // for people
  const char* op;    // the operator it looks at; empty: every one
  // The number of operands that it reads without asking whether they are there:
  // a call that has fewer, or leaves one of these out, does not reach it. A
  // generated constant, for one, has none.
  int operands;
  // The value that the node's only result is the same as, made of what stands
  // before it; the null Value when the rule does not apply.
  absl::StatusOr<Value> (*apply)(RuleContext& context, const Node& node);
};

// The rules of one pass.
struct RuleTable {
  const char* pass;
  absl::Span<const Rule> rules;
};

// Every table that a pass applies, for what goes through all rules.
std::vector<RuleTable> AllRuleTables();

// Applies rules, the first that fits, to every node until none fits. Returns
// whether any did. Errors name the rule and the node.
absl::StatusOr<bool> ApplyRules(Function* function,
                                absl::Span<const Rule> rules);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_RULES_H_
