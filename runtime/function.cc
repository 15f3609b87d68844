#include "runtime/function.h"

#include <cassert>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/any.h"
#include "runtime/error.h"

namespace ingot {
namespace {

using Body =
    std::function<absl::Status(absl::Span<const TVMFFIAny>, TVMFFIAny*)>;

int CallBody(void* handle, const TVMFFIAny* args, int32_t num_args,
             TVMFFIAny* result) {
  const Body& body = *static_cast<const Body*>(handle);
  absl::Status status =
      body(absl::MakeConstSpan(args, static_cast<size_t>(num_args)), result);
  if (status.ok()) return 0;
  SetLastError(status);
  return -1;
}

}  // namespace

Function Function::FromLambda(Body body) {
  auto owner = std::make_shared<Body>(std::move(body));
  void* handle = owner.get();
  return Function(&CallBody, handle, std::move(owner));
}

absl::Status Function::Call(absl::Span<const TVMFFIAny> args,
                            TVMFFIAny* result) const {
  assert(defined());
  *result = AnyNone();
  if (call_(handle_, args.data(), static_cast<int32_t>(args.size()), result) ==
      0) {
    return absl::OkStatus();
  }
  ReleaseAny(result);
  return TakeLastErrorAsStatus();
}

absl::Status Function::Call(absl::Span<DLTensor* const> tensors) const {
  absl::InlinedVector<TVMFFIAny, 8> args;
  args.reserve(tensors.size());
  for (DLTensor* tensor : tensors) args.push_back(AnyTensor(tensor));
  TVMFFIAny result;
  absl::Status status = Call(args, &result);
  ReleaseAny(&result);
  return status;
}

}  // namespace ingot
