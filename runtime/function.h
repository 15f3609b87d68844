#ifndef INGOT_RUNTIME_FUNCTION_H_
#define INGOT_RUNTIME_FUNCTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/any.h"
#include "runtime/c_abi.h"

namespace ingot {

// Something callable through the C ABI, and what keeps its code alive. A value:
// copies are cheap and call the same code; the library that holds the code
// stays loaded as long as any copy lives. A default-made Function is empty.
//
// Calls from several threads at once are as safe as the code that they run.
class Function {
 public:
  Function() = default;

  // `call` must not be null; `handle` is its first argument. `owner` is
  // dropped with the last copy; null if the code outlives every copy.
  Function(TVMFFISafeCallType call, void* handle,
           std::shared_ptr<const void> owner)
      : call_(call), handle_(handle), owner_(std::move(owner)) {}

  // A function made of a C++ callable, which may be called from any thread. It
  // must not throw. The status that it returns reaches the caller.
  static Function FromLambda(
      std::function<absl::Status(absl::Span<const TVMFFIAny> args,
                                 TVMFFIAny* result)>
          body);

  bool defined() const { return call_ != nullptr; }

  // Calls. `*result` is set to None first; the caller then owns what it holds
  // (see ReleaseAny). An error has the code that the callee's error kind stands
  // for and its message; `*result` is then None. Must be defined.
  absl::Status Call(absl::Span<const TVMFFIAny> args, TVMFFIAny* result) const;

  // Calls with tensors alone and drops the result.
  absl::Status Call(absl::Span<DLTensor* const> tensors) const;

  // The parts, for callers that prepare their arguments once. Valid while a
  // copy lives.
  TVMFFISafeCallType call() const { return call_; }
  void* handle() const { return handle_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  TVMFFISafeCallType call_ = nullptr;
  void* handle_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_FUNCTION_H_
