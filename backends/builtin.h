// Everything that is built in. Programs that only run models include
// builtin_loaders.h, which brings no code generator along.
#ifndef INGOT_BACKENDS_BUILTIN_H_
#define INGOT_BACKENDS_BUILTIN_H_

#include "backends/builtin_inspectors.h"
#include "backends/builtin_loaders.h"
#include "backends/builtin_targets.h"

#endif  // INGOT_BACKENDS_BUILTIN_H_
