// Code that a driver built, as an artifact.
#ifndef INGOT_BACKENDS_DEVICE_BUILT_CODE_H_
#define INGOT_BACKENDS_DEVICE_BUILT_CODE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::device {

// The artifact begins with lines that say where it runs and of which code it
// was built. Its name has a digest of these, so that a set may have one for
// each kind of device beside the code. A digest of the bytes that the driver
// gave follows, for drivers are not told how many there are, and then, after an
// empty line, the bytes. A value.
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
  // say that it is this, or if its bytes are others than were written.
  std::optional<absl::string_view> Read(absl::string_view artifact) const;

 private:
  std::string lines_, file_name_;
};

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_BUILT_CODE_H_
