// Questions about values that the translation of operators and of composites
// shares. Internal to the code generator.
#ifndef INGOT_BACKENDS_DNNL_TRANSLATE_VALUES_H_
#define INGOT_BACKENDS_DNNL_TRANSLATE_VALUES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/dnnl/translate.h"

namespace ingot::dnnl_backend {

// The error that says why oneDNN does not take something.
template <typename... Parts>
absl::Status No(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// The value outside of the function that this one stands for.
inline relay::Value Bound(const relay::Value& value, const Bindings& bindings) {
  auto it = bindings.find(value);
  return it == bindings.end() ? value : it->second;
}

// The shape of a value that graphs may hold: static, of f32. A scalar has one
// dimension of 1.
absl::StatusOr<Dims> ShapeOf(const relay::Value& value);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_TRANSLATE_VALUES_H_
