#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "artifact/container.h"
#include "base/status_macros.h"
#include "loaders/native/find_container.h"
#include "loaders/signature.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

absl::string_view BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

absl::Status RunSign(Args args, const Backends&) {
  FlagSet flags(
      "sign", {"FILE"},
      "Signs a set (.ingot) or a linked library (.so) with an Ed25519 key, for "
      "--require-signature of other commands. The signature is a file beside "
      "it: a DSSE envelope with an in-toto statement that names every byte of "
      "the file by its SHA-256.");
  std::string key, output;
  flags.String("key", "PEM", "the private key, not encrypted", &key);
  flags.String("o", "SIG", "the signature; FILE.sig otherwise", &output);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  if (key.empty()) return UsageError("--key=PEM is missing");
  const std::string& path = flags.word(0);

  absl::StatusOr<Blob> file = Blob::MapFile(path);
  if (!file.ok()) return Where(file.status(), path);
  if (!IsContainer(file->view()) && !FindContainer(*file).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is neither a set (.ingot) nor a library that ingot link made; "
        "pack a directory first"));
  }
  absl::StatusOr<Blob> pem = Blob::MapFile(key);
  if (!pem.ok()) return Where(pem.status(), key);
  absl::StatusOr<std::string> signature =
      SignFile(BaseName(path), file->view(), pem->view());
  if (!signature.ok()) return Where(signature.status(), key);
  if (output.empty()) output = absl::StrCat(path, kSignatureSuffix);
  INGOT_RETURN_IF_ERROR(CheckIsOther(output, path));
  INGOT_RETURN_IF_ERROR(CheckIsOther(output, key));
  INGOT_RETURN_IF_ERROR(WriteFile(output, *signature));
  Print(absl::StrCat(OneLine(output), ": signs ", OneLine(path), "\n"));
  return absl::OkStatus();
}

}  // namespace ingot
