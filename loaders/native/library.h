// Opening shared libraries: the module of native code.

#ifndef INGOT_LOADERS_NATIVE_LIBRARY_H_
#define INGOT_LOADERS_NATIVE_LIBRARY_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "artifact/loader_names.h"
#include "runtime/module.h"

namespace ingot {

// The symbols around the container that a linked model carries in a section of
// its own, and that section's name.
inline constexpr char kContainerSymbol[] = "__ingot_container";
inline constexpr char kContainerEndSymbol[] = "__ingot_container_end";
inline constexpr char kContainerSection[] = ".ingot";

// A shared library, whose exported `__tvm_ffi_<name>` functions it offers. The
// library stays open as long as the module or any function or blob of it lives.
// Its symbols stay local: two models never see each other's.
class LibraryModule : public Module {
 public:
  // Opens the library at `path`, which runs its constructors: trusted code. If
  // it asks for the host's services, gives it those of this program.
  // FailedPrecondition with the reason when it cannot be opened, as one that is
  // cut off cannot.
  static absl::StatusOr<std::shared_ptr<LibraryModule>> Open(
      absl::string_view path);

  // The same for a library's bytes; `name` is only for messages.
  static absl::StatusOr<std::shared_ptr<LibraryModule>> OpenMemory(
      absl::string_view bytes, absl::string_view name);

  // The container inside, mapped with the library and not copied. NotFound when
  // there is none.
  absl::StatusOr<Blob> Container() const;

  const std::string& name() const { return name_; }
  absl::string_view kind() const override { return kNativeLoader; }
  std::optional<Function> GetFunction(absl::string_view name) const override;

 private:
  LibraryModule(std::string name, std::shared_ptr<void> handle)
      : name_(std::move(name)), handle_(std::move(handle)) {}
  static absl::StatusOr<std::shared_ptr<LibraryModule>> OpenAs(
      const std::string& path, std::string name,
      std::shared_ptr<void> keep_open);

  const std::string name_;
  const std::shared_ptr<void> handle_;  // dlopen's; closed by its deleter
};

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LIBRARY_H_
