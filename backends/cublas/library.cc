#include "backends/cublas/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"

namespace ingot::cublas {
namespace {

constexpr const char* kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                  "libcublasLt.so.11"};
// Another file, such as that of a Python package.
constexpr char kVariable[] = "INGOT_CUBLAS_LIBRARY";

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
        "this system has no libcublasLt.so of version 11, 12 or 13, which "
        "NVIDIA's CUDA toolkit brings; ",
        kVariable, " may name another file"));
  }
  auto library = std::make_unique<Library>();
#define INGOT_CUBLAS_FIND(name, parameters, symbol)                     \
  library->name =                                                       \
      reinterpret_cast<decltype(library->name)>(dlsym(handle, symbol)); \
  if (library->name == nullptr) {                                       \
    return absl::NotFoundError(                                         \
        absl::StrCat("libcublasLt.so has no ", symbol));                \
  }
  INGOT_CUBLAS_FUNCTIONS(INGOT_CUBLAS_FIND)
#undef INGOT_CUBLAS_FIND
  return library.release();
}

}  // namespace

absl::StatusOr<const Library*> Library::Open() {
  static const auto* const opened =
      new absl::StatusOr<const Library*>(OpenNewest());
  return *opened;
}

absl::Status ToStatus(absl::string_view doing, int status) {
  if (status == 0) return absl::OkStatus();
  constexpr int kNoMemory = 3;
  const std::string message =
      absl::StrCat(doing, ": cuBLAS gave status ", status);
  return status == kNoMemory ? absl::ResourceExhaustedError(message)
                             : absl::InternalError(message);
}

}  // namespace ingot::cublas
