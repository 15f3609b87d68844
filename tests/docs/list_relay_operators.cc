// Prints docs/relay_operators.md.
#include <cstdio>

#include "tests/docs/relay_operators.h"

int main() {
  std::fputs(ingot::RelayOperatorsDocument().c_str(), stdout);
  return 0;
}
