#include "compiler/codegen/llvm/machine_code.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

namespace ingot::codegen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Assembly(absl::string_view target_text, const std::string& body) {
  const auto target = ParseTarget(target_text);
  const auto machine = ResolveMachine(*target);
  EXPECT_TRUE(machine.ok()) << machine.status();
  const auto llvm_machine = CreateTargetMachine(*machine, 3);
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(body, problem, context);
  if (module == nullptr) {
    ADD_FAILURE() << problem.getMessage().str();
    return "";
  }
  module->setTargetTriple(machine->triple);
  module->setDataLayout((*llvm_machine)->createDataLayout());
  const auto code =
      EmitMachineCode(module.get(), llvm_machine->get(), /*object=*/false);
  EXPECT_TRUE(code.ok()) << code.status();
  return code.value_or("");
}

constexpr char kWasm[] = "llvm -mtriple=wasm32 -mattr=+simd128";

// Adds up element `first` and that 16 bytes behind it of every 32 bytes.
std::string Sum(const std::string& first) {
  return R"(
define <4 x float> @sum(ptr %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi <4 x float> [ zeroinitializer, %entry ], [ %t, %loop ]
  %element = shl nuw nsw i32 %i, 3
  %a = getelementptr inbounds float, ptr %x, i32 %element
  %b = getelementptr i8, ptr %a, i32 16
  )" + first +
         R"(
  %u = load <4 x float>, ptr %b, align 4
  %r = fadd <4 x float> %s, %v
  %t = fadd <4 x float> %r, %u
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret <4 x float> %t
})";
}

TEST(MachineCode, WebAssemblyHasConstantOffsets) {
  const std::string code =
      Assembly(kWasm, Sum("%v = load <4 x float>, ptr %a, align 4"));
  EXPECT_THAT(code, HasSubstr("v128.load\t0"));
  EXPECT_THAT(code, HasSubstr("v128.load\t16"));
  EXPECT_THAT(code, Not(HasSubstr("i32.const\t16")));
}

// Nothing says that the base is an address of the object: it may be one below
// zero, which the offset of an instruction would not bring back.
TEST(MachineCode, WebAssemblyAddsWhereTheBaseIsNotAccessed) {
  const std::string code =
      Assembly(kWasm, Sum("%v = sitofp <4 x i32> zeroinitializer to "
                          "<4 x float>"));
  EXPECT_THAT(code, Not(HasSubstr("v128.load\t16")));
}

TEST(MachineCode, OtherMachinesHaveTheirs) {
  for (const char* target :
       {"llvm -mtriple=x86_64-linux-gnu", "llvm -mtriple=aarch64-linux-gnu",
        "llvm -mtriple=riscv64-linux-gnu"}) {
    EXPECT_THAT(Assembly(target, Sum("%v = load <4 x float>, ptr %a, align 4")),
                HasSubstr("sum:"))
        << target;
  }
}

// A function with so many loops, one after the other, each of which changes
// every `n`th element.
std::string Loops(int count) {
  std::string body = "define void @f(ptr %x, i64 %n) {\nentry:\n";
  std::string before = "entry";
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&body, absl::StrReplaceAll(
                               R"(
  br label %loop$
loop$:
  %i$ = phi i64 [ 0, %BEFORE ], [ %next$, %loop$ ]
  %place$ = mul i64 %i$, %n
  %a$ = getelementptr float, ptr %x, i64 %place$
  %v$ = load float, ptr %a$
  %w$ = fadd float %v$, 1.0
  store float %w$, ptr %a$
  %next$ = add nuw nsw i64 %i$, 1
  %more$ = icmp slt i64 %next$, %n
  br i1 %more$, label %loop$, label %done$
done$:
)",
                               {{"$", absl::StrCat(i)}, {"BEFORE", before}}));
    before = absl::StrCat("done", i);
  }
  return body + "  ret void\n}\n";
}

// Strength reduction makes a sum of the product in a loop.
TEST(MachineCode, LoopsAreStrengthReducedWhereTheyAreFew) {
  constexpr char kX86[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3";
  EXPECT_THAT(Assembly(kX86, Loops(2)), Not(HasSubstr("imulq")));
  EXPECT_THAT(Assembly(kX86, Loops(40)), HasSubstr("imulq"));
}

}  // namespace
}  // namespace ingot::codegen
