#include "compiler/codegen/llvm/out_of_memory.h"

#include <mutex>
#include <new>

#include "llvm/Support/ErrorHandling.h"

namespace ingot::codegen {

void ThrowWithoutMemory() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler(
        [](void*, const char*, bool) { throw std::bad_alloc(); });
  });
}

}  // namespace ingot::codegen
