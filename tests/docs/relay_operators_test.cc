// docs/relay_operators.md says what the definitions say, and they say enough.
#include "tests/docs/relay_operators.h"

#include "artifact/blob.h"
#include "compiler/relay/op.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(RelayOperatorsTest, ThePageIsUpToDate) {
  absl::StatusOr<Blob> page = Blob::MapFile("docs/relay_operators.md");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(page->view() == RelayOperatorsDocument())
      << "docs/relay_operators.md does not say what the operators are. Make it "
         "again:\n  bazel run //tests/docs:list_relay_operators > "
         "docs/relay_operators.md";
}

TEST(RelayOperatorsTest, EverythingIsDescribed) {
  for (const relay::OpDef* op : relay::StandardOps().All()) {
    EXPECT_FALSE(op->doc.empty()) << op->name;
    for (const relay::AttrSpec& attr : op->attrs) {
      EXPECT_FALSE(attr.doc.empty()) << op->name << ": " << attr.name;
      // Cells of a table.
      EXPECT_EQ(attr.doc.find('|'), std::string::npos) << op->name;
    }
  }
}

}  // namespace
}  // namespace ingot
