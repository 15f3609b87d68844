#include "runtime/host_api.h"

#include <cstdint>

#include "runtime/c_abi.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace ingot {
namespace {

int ParallelFor(int (*body)(void* ctx, int64_t begin, int64_t end), void* ctx,
                int64_t n) {
  if (ThreadPool* pool = ThreadPool::Current()) {
    return pool->ParallelFor(body, ctx, n);
  }
  return n <= 0 ? 0 : body(ctx, 0, n);
}

void SetError(const char* kind, const char* message) {
  SetLastError(kind == nullptr ? "" : kind, message == nullptr ? "" : message);
}

}  // namespace

const IngotHostApi* GetHostApi() {
  static constexpr IngotHostApi kApi = {INGOT_HOST_API_VERSION, &ParallelFor,
                                        &SetError};
  return &kApi;
}

}  // namespace ingot
