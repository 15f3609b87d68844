#include "base/annotate.h"

#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(AnnotateTest, KeepsCodeAndPayload) {
  absl::Status status = absl::NotFoundError("gone");
  status.SetPayload("mark", absl::Cord("x"));
  const absl::Status annotated = Annotate(status, "file");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(annotated.message(), "file: gone");
  EXPECT_EQ(annotated.GetPayload("mark"), absl::Cord("x"));
}

TEST(AnnotateTest, LeavesOkAsItIs) {
  EXPECT_TRUE(Annotate(absl::OkStatus(), "file").ok());
}

}  // namespace
}  // namespace ingot
