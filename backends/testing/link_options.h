// How tests link.
#ifndef INGOT_BACKENDS_TESTING_LINK_OPTIONS_H_
#define INGOT_BACKENDS_TESTING_LINK_OPTIONS_H_

#include "loaders/native/linker.h"

namespace ingot::testing_support {

// With the LLD that $INGOT_LLD names, as the ingot command does: the rule
// cc_test of //tools/cc names one that starts in less time than the usual one.
LinkOptions TestLinkOptions();

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_LINK_OPTIONS_H_
