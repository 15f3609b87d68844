#ifndef INGOT_RUNTIME_HOST_API_H_
#define INGOT_RUNTIME_HOST_API_H_

#include "runtime/c_abi.h"

namespace ingot {

// This program's services for generated code, valid for ever. Whoever loads a
// library that defines INGOT_HOST_API_SYMBOL stores this pointer in it before
// the first call. parallel_for uses ThreadPool::Current() of its caller's
// thread.
const IngotHostApi* GetHostApi();

}  // namespace ingot

#endif  // INGOT_RUNTIME_HOST_API_H_
