// Vendors' libraries, opened when they are needed.
#ifndef INGOT_BACKENDS_LIBRARY_CALLS_OPEN_LIBRARY_H_
#define INGOT_BACKENDS_LIBRARY_CALLS_OPEN_LIBRARY_H_

#include <initializer_list>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::library_calls {

// Opens the file that the environment's `variable` names or, without it, the
// first of `names` that the system has; it stays open. The result is dlopen's
// handle. NotFound says that `brought_by` brings it.
absl::StatusOr<void*> OpenLibrary(const char* variable,
                                  std::initializer_list<const char*> names,
                                  absl::string_view brought_by);

// The function of that name. NotFound where the library has none.
absl::StatusOr<void*> FindFunction(void* library, const char* name);

}  // namespace ingot::library_calls

#endif  // INGOT_BACKENDS_LIBRARY_CALLS_OPEN_LIBRARY_H_
