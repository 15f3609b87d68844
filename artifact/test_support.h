// Shared by this folder's tests.

#ifndef INGOT_ARTIFACT_TEST_SUPPORT_H_
#define INGOT_ARTIFACT_TEST_SUPPORT_H_

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "gtest/gtest.h"

namespace ingot::testing {

inline const absl::Status& StatusOf(const absl::Status& s) { return s; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& s) {
  return s.status();
}

#define EXPECT_OK(expr) \
  EXPECT_EQ(::ingot::testing::StatusOf(expr), ::absl::OkStatus())
#define ASSERT_OK(expr) \
  ASSERT_EQ(::ingot::testing::StatusOf(expr), ::absl::OkStatus())

// Whether `status` has the code, and its message each of the words.
::testing::AssertionResult Fails(const absl::Status& status,
                                 absl::StatusCode code,
                                 const std::vector<std::string>& words);

Artifact MakeArtifact(absl::string_view codegen_id, absl::string_view loader,
                      absl::string_view target_key, absl::string_view file_name,
                      std::string content);

// A set with an artifact of each sort: code for two targets, a table, an empty
// file, a file in a folder and weights; and a value in every field of the
// provenance.
ArtifactSet SmallSet();

// Equal names, contents and provenance, in the same order.
::testing::AssertionResult SameSets(const ArtifactSet& a, const ArtifactSet& b);

// A new empty folder for the running test.
std::string TestFolder();

void WriteFile(const std::string& path, absl::string_view bytes);
std::string ReadFile(const std::string& path);
bool Exists(const std::string& path);

// While it lives, no file grows beyond so many bytes: the disk is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes);
  ~FileSizeLimit();
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_limit_;
  void (*old_handler_)(int);
};

// The paths of everything below `dir`, folders and links included, sorted.
std::vector<std::string> FilesBelow(const std::string& dir);

}  // namespace ingot::testing

#endif  // INGOT_ARTIFACT_TEST_SUPPORT_H_
