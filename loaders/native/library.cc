#include "loaders/native/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "loaders/native/loaded_extent.h"
#include "runtime/c_abi.h"
#include "runtime/host_api.h"

namespace ingot {
namespace {

// Fills the library's variable unless another opening of it has: its kernels
// may be running, and read it without a lock.
void GiveHostApi(const IngotHostApi** variable) {
  static std::mutex* const mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  if (*variable != GetHostApi()) *variable = GetHostApi();
}

// The descriptor stays open as long as the library: the system recognises an
// open library by its path, and a second one must not get the same.
std::shared_ptr<void> KeepOpen(int fd) {
  return std::shared_ptr<void>(nullptr, [fd](void*) { close(fd); });
}

}  // namespace

absl::StatusOr<std::shared_ptr<LibraryModule>> LibraryModule::Open(
    absl::string_view path) {
  std::string file(path);
  // Without a slash dlopen would search the system's folders.
  if (!absl::StrContains(file, '/')) file = absl::StrCat("./", file);
  const absl::Status whole = CheckLoadedExtentOfFile(file);
  if (!whole.ok()) return Annotate(whole, path);
  // dlopen takes $LIB and the like in a path for something else, but not in
  // what a link names.
  if (!absl::StrContains(file, '$')) {
    return OpenAs(file, std::string(path), nullptr);
  }
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  return OpenAs(absl::StrCat("/proc/self/fd/", fd), std::string(path),
                KeepOpen(fd));
}

absl::StatusOr<std::shared_ptr<LibraryModule>> LibraryModule::OpenMemory(
    absl::string_view bytes, absl::string_view name) {
  if (const absl::Status whole = CheckLoadedExtent(bytes, bytes.size());
      !whole.ok()) {
    return Annotate(whole, name);
  }
  const int fd = memfd_create("ingot-library", MFD_CLOEXEC);
  if (fd < 0) {
    return absl::InternalError(
        absl::StrCat(name, ": memfd_create: ", strerror(errno)));
  }
  std::shared_ptr<void> keep_open = KeepOpen(fd);
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat(name, ": copying the library: ", strerror(errno)));
    }
    bytes.remove_prefix(n);
  }
  return OpenAs(absl::StrCat("/proc/self/fd/", fd), std::string(name),
                std::move(keep_open));
}

absl::StatusOr<std::shared_ptr<LibraryModule>> LibraryModule::OpenAs(
    const std::string& path, std::string name,
    std::shared_ptr<void> keep_open) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": cannot be opened as a library: ", dlerror()));
  }
  if (void* api = dlsym(handle, INGOT_HOST_API_SYMBOL); api != nullptr) {
    GiveHostApi(static_cast<const IngotHostApi**>(api));
  }
  std::shared_ptr<void> owner(handle, [keep_open](void* h) { dlclose(h); });
  return std::shared_ptr<LibraryModule>(
      new LibraryModule(std::move(name), std::move(owner)));
}

absl::StatusOr<Blob> LibraryModule::Container() const {
  const void* begin = dlsym(handle_.get(), kContainerSymbol);
  const void* end = dlsym(handle_.get(), kContainerEndSymbol);
  if (begin == nullptr || end == nullptr || end < begin) {
    return absl::NotFoundError(absl::StrCat(
        name_, ": has no container inside; it was not made by `ingot link`"));
  }
  return Blob::FromMemory(
      begin, static_cast<const char*>(end) - static_cast<const char*>(begin),
      handle_);
}

std::optional<Function> LibraryModule::GetFunction(
    absl::string_view name) const {
  void* symbol =
      dlsym(handle_.get(), absl::StrCat(INGOT_FFI_SYMBOL_PREFIX, name).c_str());
  if (symbol == nullptr) return std::nullopt;
  return Function(reinterpret_cast<TVMFFISafeCallType>(symbol),
                  /*handle=*/nullptr, handle_);
}

}  // namespace ingot
