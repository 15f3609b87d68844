#include "compiler/text/printer.h"

#include <vector>

#include "gtest/gtest.h"

namespace ingot::text {
namespace {

TEST(PrinterTest, BlocksAreIndented) {
  IndentingPrinter p;
  p.Write("f(");
  p.List(std::vector<int>{1, 2, 3}, [&p](int i) { p.Write(i); });
  p.Write(") ");
  p.Open();
  p.BeginLine();
  p.Write("g ");
  p.Open();
  p.Close();
  p.EndLine();
  p.Close();
  p.EndLine();
  EXPECT_EQ(p.out, "f(1, 2, 3) {\n  g {\n  }\n}\n");
}

}  // namespace
}  // namespace ingot::text
