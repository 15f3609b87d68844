// Everything that is built in: target kinds, loaders and inspectors. Programs
// that only run models include light_loaders.h, without a compiler.
#ifndef INGOT_BACKENDS_BUILTIN_H_
#define INGOT_BACKENDS_BUILTIN_H_

#include "backends/builtin_inspectors.h"
#include "backends/builtin_loaders.h"
#include "backends/builtin_targets.h"

#endif  // INGOT_BACKENDS_BUILTIN_H_
