#include "backends/testing/link_options.h"

#include <cstdlib>

namespace ingot::testing_support {

LinkOptions TestLinkOptions() {
  LinkOptions options;
  if (const char* lld = std::getenv("INGOT_LLD")) options.lld = lld;
  return options;
}

}  // namespace ingot::testing_support
