// For tests: modules to which each rewrite rule applies.
#ifndef INGOT_COMPILER_RELAY_PASSES_RULE_EXAMPLES_H_
#define INGOT_COMPILER_RELAY_PASSES_RULE_EXAMPLES_H_

#include <map>
#include <string>

namespace ingot::relay {

// By the rule's name, the text of a module that the rule alone changes.
std::map<std::string, std::string> RuleExamples();

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_RULE_EXAMPLES_H_
