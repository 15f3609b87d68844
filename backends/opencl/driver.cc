#include "backends/opencl/driver.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace ingot::opencl {
namespace {

absl::StatusOr<const Driver*> OpenLibrary() {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        "this system has no libOpenCL.so.1; Debian's package "
        "ocl-icd-libopencl1 brings it, and pocl-opencl-icd a driver for CPUs");
  }
  auto* driver = new Driver;
#define INGOT_OPENCL_FIND(name)                                             \
  driver->name =                                                            \
      reinterpret_cast<decltype(driver->name)>(dlsym(library, "cl" #name)); \
  if (driver->name == nullptr) {                                            \
    delete driver;                                                          \
    return absl::NotFoundError("libOpenCL.so.1 has no cl" #name             \
                               ": it is older than OpenCL 2.0");            \
  }
  INGOT_OPENCL_FUNCTIONS(INGOT_OPENCL_FIND)
#undef INGOT_OPENCL_FIND
  return driver;
}

}  // namespace

absl::StatusOr<const Driver*> Driver::Open() {
  static const auto* const kDriver =
      new absl::StatusOr<const Driver*>(OpenLibrary());
  return *kDriver;
}

absl::Status ToStatus(absl::string_view function, cl_int code) {
  switch (code) {
    case CL_SUCCESS:
      return absl::OkStatus();
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return absl::ResourceExhaustedError(
          absl::StrCat(function, ": no memory (", code, ")"));
    default:
      return absl::InternalError(absl::StrCat(function, ": error ", code));
  }
}

}  // namespace ingot::opencl
