// Code that a driver built, as an artifact.
#ifndef INGOT_BACKENDS_DEVICE_BUILT_CODE_H_
#define INGOT_BACKENDS_DEVICE_BUILT_CODE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::device {

// The artifact begins with lines that say where it runs and of which code it
// was built; the bytes that the driver gave follow an empty line. Its name has
// a digest of these lines, so that a set may have one for each kind of device
// beside the code. A value.
class BuiltCode {
 public:
  // `code` is the content of the artifact `code_file`; `built_for` is what
  // KernelDevice::BuiltFor says of the device.
  BuiltCode(absl::string_view code_file, absl::string_view code,
            absl::string_view built_for);

  // "kernels.4f2a91c07be1.built".
  const std::string& file_name() const { return file_name_; }

  std::string Write(absl::string_view binary) const;

  // The driver's bytes; nullopt if the artifact, which may be hostile, does not
  // say that it is this.
  std::optional<absl::string_view> Read(absl::string_view artifact) const;

 private:
  std::string lines_, file_name_;
};

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_BUILT_CODE_H_
