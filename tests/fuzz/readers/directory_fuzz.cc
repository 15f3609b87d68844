// Manifests of dumps. The first byte says whether edits are accepted; the files
// are those of a sound dump.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/directory.h"
#include "artifact/inspector.h"
#include "artifact/test_support.h"
#include "base/status_macros.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

constexpr char kAsItIs = 'a';
constexpr char kEdited = 'e';

// A dump of the small set, which is removed when the program ends.
class Dump {
 public:
  Dump() {
    const char* const folder = std::getenv("TEST_TMPDIR");
    path_ = absl::StrCat(folder == nullptr ? "/tmp" : folder,
                         "/directory_fuzz.", getpid());
    std::filesystem::create_directory(path_);
    status_ = WriteDirectory(testing::SmallSet(), path_, InspectorRegistry());
  }
  ~Dump() { std::filesystem::remove_all(path_); }

  const absl::Status& status() const { return status_; }
  const std::string& path() const { return path_; }
  std::string manifest() const {
    return absl::StrCat(path_, "/", kDirectoryManifest);
  }

 private:
  std::string path_;
  absl::Status status_;
};

const Dump& TheDump() {
  static const Dump dump;
  return dump;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::ifstream file(TheDump().manifest());
  const std::string manifest{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
  return {kAsItIs + manifest, kEdited + manifest};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  INGOT_RETURN_IF_ERROR(TheDump().status());
  if (bytes.empty()) return false;
  std::ofstream(TheDump().manifest(), std::ios::binary) << bytes.substr(1);
  ReadOptions options;
  options.accept_edits = bytes[0] == kEdited;
  const absl::StatusOr<ArtifactSet> set =
      ReadDirectory(TheDump().path(), options);
  if (!set.ok()) return false;
  // A set that was read is one like any other.
  INGOT_ASSIGN_OR_RETURN(std::string written, SerializeContainer(*set));
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet again,
                         ReadContainer(Blob::FromString(std::move(written))));
  if (::testing::AssertionResult same = testing::SameSets(*set, again); !same) {
    return absl::InternalError(
        absl::StrCat("written and read: ", same.message()));
  }
  return true;
}

}  // namespace ingot::fuzz
