#include "backends/cudnn/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"

namespace ingot::cudnn {
namespace {

constexpr const char* kNames[] = {"libcudnn.so.9", "libcudnn.so.8"};
// Another file, such as that of a Python package.
constexpr char kVariable[] = "INGOT_CUDNN_LIBRARY";

absl::StatusOr<const Library*> OpenNewest() {
  void* handle = nullptr;
  if (const char* given = std::getenv(kVariable)) {
    handle = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return absl::NotFoundError(absl::StrCat("this system has no ", given,
                                              ", which ", kVariable, " names"));
    }
  }
  for (const char* name : kNames) {
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "this system has no libcudnn.so of version 8 or 9, which NVIDIA's "
        "cuDNN brings; ",
        kVariable, " may name another file"));
  }
  auto library = std::make_unique<Library>();
#define INGOT_CUDNN_FIND(name, parameters, symbol)                           \
  library->name =                                                            \
      reinterpret_cast<decltype(library->name)>(dlsym(handle, symbol));      \
  if (library->name == nullptr) {                                            \
    return absl::NotFoundError(absl::StrCat("libcudnn.so has no ", symbol)); \
  }
  INGOT_CUDNN_FUNCTIONS(INGOT_CUDNN_FIND)
  INGOT_CUDNN_FIND(Explain, , "cudnnGetErrorString")
#undef INGOT_CUDNN_FIND
  return library.release();
}

}  // namespace

absl::StatusOr<const Library*> Library::Open() {
  static const auto* const opened =
      new absl::StatusOr<const Library*>(OpenNewest());
  return *opened;
}

absl::Status Library::ToStatus(absl::string_view doing, int status) const {
  if (status == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(doing, ": ", Explain(status)));
}

}  // namespace ingot::cudnn
