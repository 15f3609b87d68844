#include "backends/cudnn/library.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/library_calls/open_library.h"
#include "base/status_macros.h"

namespace ingot::cudnn {
namespace {

absl::StatusOr<const Library*> OpenNewest() {
  INGOT_ASSIGN_OR_RETURN(
      void* const handle,
      library_calls::OpenLibrary("INGOT_CUDNN_LIBRARY",
                                 {"libcudnn.so.9", "libcudnn.so.8"},
                                 "NVIDIA's cuDNN"));
  auto library = std::make_unique<Library>();
#define INGOT_CUDNN_FIND(name, parameters, symbol)                       \
  {                                                                      \
    INGOT_ASSIGN_OR_RETURN(void* const function,                         \
                           library_calls::FindFunction(handle, symbol)); \
    library->name = reinterpret_cast<decltype(library->name)>(function); \
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
