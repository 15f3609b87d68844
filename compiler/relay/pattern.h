// Shapes of subgraphs that a target takes whole, such as a convolution with its
// bias and activation.
//
//   Pattern conv = Pattern::Op({"conv2d"}, {Pattern::Any(),
//                                           Pattern::Constant()});
//   Pattern biased = Pattern::Op({"add"}, {conv, Pattern::Constant()});
//   Pattern whole = Pattern::Maybe({"relu", "clip"}, biased);
#ifndef INGOT_COMPILER_RELAY_PATTERN_H_
#define INGOT_COMPILER_RELAY_PATTERN_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/relay/ir.h"

namespace ingot::relay {

// A value, cheap to copy, immutable.
class Pattern {
 public:
  // Any value, which stays outside of the match.
  static Pattern Any();
  // A constant, which stays outside of the match: a backend sees its elements.
  static Pattern Constant();
  // A call of one of `ops`. Its operands must match `operands`, one for one;
  // those after the last one given may be anything. Of an operator
  // that commutes (kCommutes) either order of its two will do.
  static Pattern Op(std::vector<std::string> ops,
                    std::vector<Pattern> operands = {});
  // A call of one of `ops` with `inner` as its first operand, or just `inner`.
  static Pattern Maybe(std::vector<std::string> ops, Pattern inner,
                       std::vector<Pattern> other_operands = {});

  // A text to show: "[relu](add(conv2d(*, const), const))". "*" is any value,
  // "a|b" a choice, and "[a](x)" may be just x.
  std::string ToString() const;

 private:
  friend class PatternMatcher;
  struct Form;
  explicit Pattern(std::shared_ptr<const Form> form) : form_(std::move(form)) {}
  std::shared_ptr<const Form> form_;
};

// The operators of `pattern` found with `root` as the last one, operands before
// what reads them; empty when it does not match. Only the results of `root` are
// used outside of the match, by a node or as an output of the function; `users`
// are those of its function (Function::Users), `outputs` its outputs.
std::vector<Node*> Match(const Pattern& pattern, Node* root,
                         const std::map<const Node*, std::vector<Node*>>& users,
                         const std::vector<Value>& outputs);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PATTERN_H_
