#include "backends/library_calls/open_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::library_calls {

absl::StatusOr<void*> OpenLibrary(const char* variable,
                                  std::initializer_list<const char*> names,
                                  absl::string_view brought_by) {
  if (const char* given = std::getenv(variable)) {
    void* const library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    return absl::NotFoundError(absl::StrCat("this system has no ", given,
                                            ", which ", variable, " names"));
  }
  for (const char* name : names) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
  }
  return absl::NotFoundError(absl::StrCat(
      "this system has none of ", absl::StrJoin(names, ", "), ", which ",
      brought_by, " brings; ", variable, " may name another file"));
}

absl::StatusOr<void*> FindFunction(void* library, const char* name) {
  void* const function = dlsym(library, name);
  if (function != nullptr) return function;
  return absl::NotFoundError(absl::StrCat("the library has no ", name));
}

}  // namespace ingot::library_calls
