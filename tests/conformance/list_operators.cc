// Prints docs/operators.md.
#include <cstdio>

#include "tests/conformance/operators_document.h"

int main() {
  const absl::StatusOr<std::string> text = ingot::OperatorsDocument();
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
