#ifndef INGOT_TOOLS_EXPORT_MLF_PARAMS_H_
#define INGOT_TOOLS_EXPORT_MLF_PARAMS_H_

#include <string>

#include "runtime/safetensors.h"

namespace ingot {

// The bytes of a file of named arrays as tvm.relay.load_param_dict reads it.
std::string ParamsFile(const NamedTensors& tensors);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_MLF_PARAMS_H_
