// Equations of einsum as products of two operands, against its definition.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Text(const std::string& type, const std::string& equation,
                 const std::vector<std::string>& shapes) {
  std::vector<std::string> inputs, names;
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back(absl::StrCat("%x", i));
    inputs.push_back(absl::StrCat(names[i], ": ", type, "[", shapes[i], "]"));
  }
  return absl::StrCat("module { func @main(", absl::StrJoin(inputs, ", "),
                      ") -> (%y) { %y = einsum(", absl::StrJoin(names, ", "),
                      ") {equation=\"", equation, "\"} } }");
}

std::string Simplified(const std::string& text) {
  const auto module = ParseForTest(text);
  if (module == nullptr) return "";
  EXPECT_TRUE(RunForTest({"simplify"}, module.get()));
  return Print(*module);
}

struct Case {
  std::string equation;
  std::vector<std::string> shapes;
};

std::vector<Case> Cases() {
  return {{"ij,jk->ik", {"3, 4", "4, 5"}},
          {"ij,jk->ki", {"3, 4", "4, 5"}},
          {"ba,cb", {"3, 4", "5, 3"}},
          {"bhqd,bkhd->bhqk", {"2, 3, 4, 5", "2, 6, 3, 5"}},
          {"bhqd,bkhd->bkhq", {"2, 3, 4, 5", "2, 6, 3, 5"}},
          {"bijc,ijk->bkc", {"2, 3, 4, 5", "3, 4, 6"}},
          {"nchw,ocw->noh", {"1, 3, 4, 5", "2, 3, 5"}},
          {"...ij,...jk->...ik", {"2, 1, 3, 4", "3, 4, 5"}},
          {"...,...->...", {"2, 3", "3"}},
          {"i...->...", {"4, 2, 3"}},
          {"i,j->ij", {"3", "4"}},
          {"i,i->", {"7", "7"}},
          {",ij->ji", {"", "2, 3"}},
          {"ij,j->i", {"5, 6", "6"}},
          {"j,ji->i", {"6", "6, 5"}},
          {"bi,ib->b", {"3, 4", "4, 3"}},
          {"ij->", {"3, 4"}},
          {"bij->jb", {"2, 3, 4"}},
          {"ij,kl->il", {"3, 4", "5, 6"}},
          {"ij,jk->ik", {"3, 1", "4, 5"}},
          {"ij,ij->j", {"3, 1", "1, 4"}},
          {"ij,jk->ik", {"0, 3", "3, 4"}},
          {"ij,jk->ik", {"2, 0", "0, 4"}},
          {"ij,jk->ik", {"n, 3", "3, n"}},
          {"abij,bjk->abik", {"n, 2, m, 3", "2, 3, m"}},
          {"ij,jk,kl->il", {"3, 4", "4, 5", "5, 2"}},
          {"ij,ik,il->jkl", {"3, 4", "3, 2", "3, 5"}},
          {"a,b,ab->", {"3", "4", "3, 4"}},
          {"abc,cd,def,fg->abeg", {"2, 3, 4", "4, 5", "5, 2, 3", "3, 2"}}};
}

TEST(SimplifyEinsumTest, KeepsTheMeaning) {
  for (const std::string type : {"f32", "i32"}) {
    for (const Case& c : Cases()) {
      const std::string text = Text(type, c.equation, c.shapes);
      SCOPED_TRACE(text);
      EXPECT_THAT(Simplified(text), Not(HasSubstr("einsum")));
      CheckKeepsMeaning(text, {"simplify"});
    }
  }
}

// The cheaper product is the first: of 2 by 100, not of 100 by 100.
TEST(SimplifyEinsumTest, TheCheapestPairComesFirst) {
  const std::string text = Simplified(
      Text("f32", "ij,jk,kl->il", {"100, 100", "100, 100", "100, 2"}));
  EXPECT_THAT(text, HasSubstr("matmul(%x1, %x2)"));
}

// Partial sums and products would be rounded, too.
TEST(SimplifyEinsumTest, SixteenBitsAreRoundedOnce) {
  EXPECT_THAT(Simplified(Text("f16", "ij,jk->ik", {"3, 4", "4, 5"})),
              HasSubstr("matmul"));
  for (const Case& c :
       std::vector<Case>{{"ij,jk,kl->il", {"3, 4", "4, 5", "5, 2"}},
                         {"ij,kl->il", {"3, 4", "5, 6"}}}) {
    EXPECT_THAT(Simplified(Text("f16", c.equation, c.shapes)),
                HasSubstr("einsum"));
  }
}

TEST(SimplifyEinsumTest, DiagonalsStay) {
  for (const Case& c :
       std::vector<Case>{{"ii->i", {"3, 3"}},
                         {"bii,bij->bj", {"2, 3, 3", "2, 3, 4"}},
                         {"ij,jk->ik", {"3, n", "4, 5"}}}) {
    EXPECT_THAT(Simplified(Text("f32", c.equation, c.shapes)),
                HasSubstr("einsum"));
  }
}

}  // namespace
}  // namespace ingot::relay
