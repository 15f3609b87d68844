#include "compiler/driver/ir_dump.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/printer.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat(
        "making the folder ", folder, " for dumps: ", error.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status IrDump::Write(absl::string_view stage,
                           const relay::Module& module) {
  if (folder_.empty()) return absl::OkStatus();
  INGOT_RETURN_IF_ERROR(MakeFolder(folder_));
  const size_t known = constants_.size();
  relay::PrintOptions options;
  options.constants = &constants_;
  const std::string text = relay::Print(module, options);
  if (constants_.size() > known) {
    INGOT_RETURN_IF_ERROR(WriteSafetensorsFile(
        constants_, absl::StrCat(folder_, "/", relay::kSharedWeights)));
  }
  return ReplaceFileWith(
      absl::StrFormat("%s/%02d_%s.relay", folder_, next_++, stage), text);
}

absl::Status IrDump::Write(absl::string_view stage,
                           const tir::PrimFunc& function) {
  if (folder_.empty()) return absl::OkStatus();
  const std::string folder = absl::StrCat(folder_, "/tir/", function.name);
  INGOT_RETURN_IF_ERROR(MakeFolder(folder));
  const std::string path = absl::StrFormat(
      "%s/%02d_%s.tir", folder, next_of_kernel_[function.name]++, stage);
  return ReplaceFileWith(path, tir::Print(function));
}

}  // namespace ingot
