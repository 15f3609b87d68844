// The live object in an artifact for the loader `callback`.
#ifndef INGOT_BACKENDS_CALLBACK_LIVE_FUNCTION_H_
#define INGOT_BACKENDS_CALLBACK_LIVE_FUNCTION_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/call_spec.h"

namespace ingot::callback {

inline constexpr char kLoader[] = "callback";

// A function of this process. Every artifact that names the loader and has a
// live object has one of these.
struct LiveFunction {
  std::string symbol;
  CallSpec spec;
  // Called with the first elements of the inputs, then of the outputs, once
  // they are as `spec` says. It may be called from several threads at once.
  std::function<absl::Status(absl::Span<void* const> tensors)> run;
};

}  // namespace ingot::callback

#endif  // INGOT_BACKENDS_CALLBACK_LIVE_FUNCTION_H_
