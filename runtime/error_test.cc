#include "runtime/error.h"

#include <thread>

#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(Error, IsTakenOnce) {
  SetLastError("ValueError", "too large");
  const LastError error = TakeLastError();
  EXPECT_EQ(error.kind, "ValueError");
  EXPECT_EQ(error.message, "too large");
  EXPECT_EQ(TakeLastError().kind, "");
}

TEST(Error, CodesRoundTrip) {
  for (int i = 1; i <= 16; ++i) {
    const auto code = static_cast<absl::StatusCode>(i);
    EXPECT_EQ(KindToCode(StatusKind(code)), code) << i;
  }
  EXPECT_EQ(KindToCode("SomethingElse"), absl::StatusCode::kInternal);
  EXPECT_EQ(KindToCode("TypeError"), absl::StatusCode::kInvalidArgument);
}

TEST(Error, AStatusCrosses) {
  SetLastError(absl::ResourceExhaustedError("full"));
  EXPECT_EQ(TakeLastErrorAsStatus(), absl::ResourceExhaustedError("full"));
}

TEST(Error, WithoutReasonIsInternal) {
  EXPECT_EQ(TakeLastErrorAsStatus().code(), absl::StatusCode::kInternal);
}

TEST(Error, BelongsToItsThread) {
  SetLastError("ValueError", "mine");
  std::thread([] { EXPECT_EQ(TakeLastError().kind, ""); }).join();
  EXPECT_EQ(TakeLastError().message, "mine");
}

}  // namespace
}  // namespace ingot
