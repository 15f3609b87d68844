// docs/relay_operators.md, from the definitions of relay's operators.
#ifndef INGOT_TESTS_DOCS_RELAY_OPERATORS_H_
#define INGOT_TESTS_DOCS_RELAY_OPERATORS_H_

#include <string>

namespace ingot {

// The whole document.
std::string RelayOperatorsDocument();

}  // namespace ingot

#endif  // INGOT_TESTS_DOCS_RELAY_OPERATORS_H_
