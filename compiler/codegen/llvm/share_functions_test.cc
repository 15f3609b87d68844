#include "compiler/codegen/llvm/share_functions.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::codegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// y[i + offset] = (x[i] * scale - zero) repeatedly, for i below n.
std::string Loop(const std::string& name, const std::string& scale,
                 const std::string& offset, const std::string& n,
                 const std::string& linkage = "internal") {
  const std::string by = "fmul <2 x float> %";
  const std::string splat = ", <float " + scale + ", float " + scale + ">\n";
  return "define " + linkage + " i32 @" + name +
         "(ptr noalias dereferenceable(" + (n == "64" ? "512" : "256") +
         ") %x, ptr noalias %y) noinline {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
         "  %a = getelementptr <2 x float>, ptr %x, i64 %i\n"
         "  %v0 = load <2 x float>, ptr %a\n"
         "  %v1 = " +
         by + "v0" + splat + "  %v2 = " + by + "v1" + splat + "  %v3 = " + by +
         "v2" + splat + "  %v4 = " + by + "v3" + splat + "  %v5 = " + by +
         "v4" + splat + "  %o = add nsw i64 %i, " + offset +
         "\n"
         "  %b = getelementptr <2 x float>, ptr %y, i64 %o\n"
         "  store <2 x float> %v5, ptr %b\n"
         "  %next = add nsw i64 %i, 1\n"
         "  %more = icmp slt i64 %next, " +
         n +
         "\n"
         "  br i1 %more, label %loop, label %done, !llvm.loop !" +
         (scale == "5.0" ? "0" : "1") +
         "\n"
         "done:\n  ret i32 0\n}\n"
         "define i32 @call_" +
         name +
         "(ptr %x, ptr %y) {\n"
         "  %e = call i32 @" +
         name + "(ptr %x, ptr %y)\n  ret i32 %e\n}\n";
}

// The functions after sharing, with loops and without, and the module's text.
struct Shared {
  std::vector<std::string> loops;
  std::vector<std::string> others;
  std::string text;
};

Shared Share(const std::string& functions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      functions +
          "!0 = distinct !{!0, !2}\n!1 = distinct !{!1, !2}\n"
          "!2 = !{!\"llvm.loop.unroll.disable\"}\n",
      problem, context);
  Shared shared;
  if (module == nullptr) {
    ADD_FAILURE() << problem.getMessage().str();
    return shared;
  }
  ShareFunctions(module.get());
  llvm::raw_string_ostream out(shared.text);
  EXPECT_FALSE(llvm::verifyModule(*module, &out)) << shared.text;
  module->print(out, nullptr);
  for (const llvm::Function& f : *module) {
    (f.size() > 1 ? shared.loops : shared.others).push_back(f.getName().str());
  }
  return shared;
}

TEST(ShareFunctionsTest, ScalesAndOffsetsComeFromTables) {
  const Shared shared =
      Share(Loop("f", "5.0", "10", "64") + Loop("g", "3.0", "20", "64"));
  EXPECT_THAT(shared.loops, ElementsAre("f.shared"));
  EXPECT_THAT(shared.others, ElementsAre("call_f", "call_g"));
  EXPECT_THAT(shared.text,
              HasSubstr("@f.table = private unnamed_addr constant { float, i64 "
                        "} { float 5.000000e+00, i64 10 }"));
  EXPECT_THAT(shared.text, HasSubstr("{ float 3.000000e+00, i64 20 }"));
  EXPECT_THAT(shared.text,
              HasSubstr("call i32 @f.shared(ptr %x, ptr %y, ptr @g.table)"));
}

TEST(ShareFunctionsTest, FunctionsThatOthersCallStay) {
  const Shared shared = Share(Loop("f", "5.0", "10", "64") +
                              Loop("g", "3.0", "10", "64", "hidden"));
  EXPECT_THAT(shared.loops, ElementsAre("f.shared"));
  EXPECT_THAT(shared.others, ElementsAre("call_f", "g", "call_g"));
  EXPECT_THAT(shared.text, HasSubstr("define hidden i32 @g("));
  EXPECT_THAT(shared.text, HasSubstr("tail call i32 @f.shared("));
}

TEST(ShareFunctionsTest, EqualFunctionsNeedNoTable) {
  const Shared shared =
      Share(Loop("f", "3.0", "10", "64") + Loop("g", "3.0", "10", "64"));
  EXPECT_THAT(shared.loops, ElementsAre("f.shared"));
  EXPECT_THAT(shared.text, Not(HasSubstr("table")));
}

TEST(ShareFunctionsTest, NumbersThatCodeIsMadeForStay) {
  EXPECT_THAT(
      Share(Loop("f", "5.0", "10", "64") + Loop("g", "2.0", "10", "64")).loops,
      ElementsAre("f", "g"));
  EXPECT_THAT(
      Share(Loop("f", "5.0", "10", "64") + Loop("g", "5.0", "0", "64")).loops,
      ElementsAre("f", "g"));
  EXPECT_THAT(
      Share(Loop("f", "5.0", "10", "64") + Loop("g", "5.0", "10", "32")).loops,
      ElementsAre("f", "g"));
}

}  // namespace
}  // namespace ingot::codegen
