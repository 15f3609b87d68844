#include "backends/gpu/driver.h"

#include <dlfcn.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::gpu {
namespace {

// Both drivers give it this number.
constexpr int kOutOfMemory = 2;

// Addresses and CUDA's CUdeviceptr, a 64-bit number, are passed alike.
static_assert(sizeof(void*) == sizeof(unsigned long long));  // NOLINT

absl::StatusOr<const Driver*> OpenLibrary(const Family& family) {
  void* const library = dlopen(family.library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("this system has no ",
                                            family.library, ", which ",
                                            family.package, " brings"));
  }
  const bool is_cuda = &family == &kCuda;
  auto driver = std::make_unique<Driver>();
  driver->family = &family;
#define INGOT_GPU_FIND_BY(name, symbol)                                       \
  driver->name =                                                              \
      reinterpret_cast<decltype(driver->name)>(dlsym(library, symbol));       \
  if (driver->name == nullptr) {                                              \
    return absl::NotFoundError(                                               \
        absl::StrCat(family.library, " has no ", symbol, ": it is too old")); \
  }
#define INGOT_GPU_FIND(name, parameters, cuda, hip) \
  INGOT_GPU_FIND_BY(name, is_cuda ? cuda : hip)
#define INGOT_CUDA_FIND(name, parameters, cuda) INGOT_GPU_FIND_BY(name, cuda)
  INGOT_GPU_FUNCTIONS(INGOT_GPU_FIND)
  if (is_cuda) {
    INGOT_CUDA_FUNCTIONS(INGOT_CUDA_FIND)
#define INGOT_CUDA_12_FIND(name, parameters, cuda) \
  driver->name = reinterpret_cast<decltype(driver->name)>(dlsym(library, cuda));
    INGOT_CUDA_12_FUNCTIONS(INGOT_CUDA_12_FIND)
#undef INGOT_CUDA_12_FIND
  }
#undef INGOT_CUDA_FIND
#undef INGOT_GPU_FIND
#undef INGOT_GPU_FIND_BY
  INGOT_RETURN_IF_ERROR(driver->ToStatus(absl::StrCat("starting ", family.name),
                                         driver->Init(0)));
  return driver.release();
}

}  // namespace

const Family kCuda = {"CUDA", "libcuda.so.1", "NVIDIA's driver", kDLCUDA};
const Family kHip = {"HIP", "libamdhip64.so", "AMD's ROCm", kDLROCM};

absl::StatusOr<const Driver*> Driver::Open(const Family& family) {
  if (&family == &kCuda) {
    static const auto* const cuda =
        new absl::StatusOr<const Driver*>(OpenLibrary(kCuda));
    return *cuda;
  }
  static const auto* const hip =
      new absl::StatusOr<const Driver*>(OpenLibrary(kHip));
  return *hip;
}

absl::Status Driver::ToStatus(absl::string_view doing, int code) const {
  if (code == 0) return absl::OkStatus();
  const char* text = nullptr;
  if (GetErrorText(code, &text) != 0 || text == nullptr) text = "error";
  const std::string message = absl::StrCat(doing, ": ", text, " (", code, ")");
  return code == kOutOfMemory ? absl::ResourceExhaustedError(message)
                              : absl::InternalError(message);
}

}  // namespace ingot::gpu
