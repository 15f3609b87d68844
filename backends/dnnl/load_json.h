// For tests: the JSON of a graph to a module.
#ifndef INGOT_BACKENDS_DNNL_LOAD_JSON_H_
#define INGOT_BACKENDS_DNNL_LOAD_JSON_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot::dnnl_backend {

// As the load stage does it, as the artifact region.dnnl.json. `constants` are
// those of the set.
absl::StatusOr<std::shared_ptr<Module>> LoadJson(
    absl::string_view json, std::map<std::string, Tensor> constants = {});

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_LOAD_JSON_H_
