#include "backends/cublas/library.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/library_calls/open_library.h"
#include "base/status_macros.h"

namespace ingot::cublas {
namespace {

absl::StatusOr<const Library*> OpenNewest() {
  INGOT_ASSIGN_OR_RETURN(
      void* const handle,
      library_calls::OpenLibrary(
          "INGOT_CUBLAS_LIBRARY",
          {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
          "NVIDIA's CUDA toolkit"));
  auto library = std::make_unique<Library>();
#define INGOT_CUBLAS_FIND(name, parameters, symbol)                      \
  {                                                                      \
    INGOT_ASSIGN_OR_RETURN(void* const function,                         \
                           library_calls::FindFunction(handle, symbol)); \
    library->name = reinterpret_cast<decltype(library->name)>(function); \
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
