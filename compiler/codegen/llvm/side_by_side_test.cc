// Which statements' instructions take turns.
#include "compiler/codegen/llvm/side_by_side.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "gtest/gtest.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

namespace ingot::codegen {
namespace {

// Emits two statements of so many multiplications, of a parameter each or, if
// `joined`, the second of what the first computed. Returns whose instruction
// each one is, in their order.
std::string Order(int length, bool joined) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::Type* f32 = llvm::Type::getFloatTy(context);
  llvm::Function* function =
      llvm::Function::Create(llvm::FunctionType::get(f32, {f32, f32}, false),
                             llvm::Function::ExternalLinkage, "f", &module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  SideBySide side_by_side(b);
  llvm::Value* last = nullptr;
  for (int i = 0; i < 2; ++i) {
    llvm::Value* v = joined && i == 1 ? last : function->getArg(i);
    for (int k = 0; k < length; ++k) v = b.CreateFMul(v, v, i == 0 ? "a" : "b");
    last = v;
    side_by_side.Next();
  }
  side_by_side.TakeTurns();
  b.CreateRet(last);
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  std::string order;
  for (const llvm::Instruction& made : function->getEntryBlock()) {
    if (!made.isTerminator()) order += made.getName().substr(0, 1);
  }
  return order;
}

TEST(SideBySideTest, LongOnesTakeTurns) {
  EXPECT_EQ(Order(12, false), "abababababababababababab");
}

TEST(SideBySideTest, ShortOnesStay) { EXPECT_EQ(Order(3, false), "aaabbb"); }

TEST(SideBySideTest, WhatNeedsAnotherStays) {
  EXPECT_EQ(Order(12, true), "aaaaaaaaaaaabbbbbbbbbbbb");
}

// Whether two stores may take turns, the second of which reads `from`.
bool MayReadFrom(const std::string& from) {
  const auto function = tir::Parse(
      absl::StrCat("func @f(%x: f32[8]) -> (%y: f32[8]) {",
                   " %y[ramp(0, 1, 4)] = %x[ramp(0, 1, 4)]",
                   " %y[ramp(4, 1, 4)] = ", from, "[ramp(0, 1, 4)] }"));
  EXPECT_TRUE(function.ok()) << function.status();
  std::vector<const tir::Store*> stores;
  for (const tir::Stmt& s : tir::As<tir::Seq>(function->body)->stmts) {
    stores.push_back(tir::As<tir::Store>(s));
  }
  return MayTakeTurns(stores);
}

TEST(SideBySideTest, StoresThatChangeWhatIsReadStay) {
  EXPECT_TRUE(MayReadFrom("%x"));
  EXPECT_FALSE(MayReadFrom("%y"));
}

}  // namespace
}  // namespace ingot::codegen
