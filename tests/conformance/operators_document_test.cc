// docs/operators.md says what is true.
#include "tests/conformance/operators_document.h"

#include "artifact/blob.h"
#include "compiler/frontends/onnx/operators.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(OperatorsDocumentTest, IsUpToDate) {
  absl::StatusOr<std::string> expected = OperatorsDocument();
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<Blob> actual = Blob::MapFile("docs/operators.md");
  ASSERT_TRUE(actual.ok()) << actual.status();
  EXPECT_TRUE(actual->view() == *expected)
      << "docs/operators.md does not say what the importer does. Make it "
         "again:\n"
         "  bazel run //tests/conformance:list_operators > docs/operators.md";
}

TEST(OperatorsDocumentTest, EveryOperatorsAgeIsKnown) {
  for (const OnnxOperator& op : ImportedOperators()) {
    EXPECT_GT(op.since, 0) << op.name
                           << ": add it to the list in "
                              "compiler/frontends/onnx/operators.cc";
  }
}

}  // namespace
}  // namespace ingot
