#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/llvm/codegen.h"
#include "backends/llvm/inspectors.h"
#include "backends/llvmjit/codegen.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/tir/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/gnu_assembler.h"
#include "isa/machines.h"
#include "runtime/host_cpu.h"

namespace ingot {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Whether the GNU assembler takes `other` to come with `feature`.
bool Implies(const std::string& feature, const std::string& other) {
  if (feature == other) return false;
  if (absl::StartsWith(feature, "avx512")) {
    if (absl::StartsWith(other, "avx512")) {
      return other == "avx512f" ||
             (other == "avx512bw" &&
              (feature == "avx512vbmi" || feature == "avx512bf16" ||
               feature == "avx512fp16" || feature == "avx512vbmi2" ||
               feature == "avx512bitalg"));
    }
    return other == "avx2" || other == "fma" || other == "f16c" ||
           Implies("avx2", other);
  }
  if (feature == "avx2" || feature == "fma" || feature == "f16c") {
    return other == "avx" || Implies("avx", other);
  }
  const std::vector<std::string> chain = {"sse3", "ssse3", "sse4.1", "sse4.2",
                                          "avx"};
  const auto rank = [&chain](const std::string& name) {
    return std::find(chain.begin(), chain.end(), name) - chain.begin();
  };
  return rank(feature) < 5 && rank(other) < rank(feature);
}

tir::PrimFunc Kernel() {
  return *tir::Parse(
      "func @scale(%x: f32[1000, 64]) -> (%y: f32[1000, 64]) { "
      "for i in [0, 1000) { vectorized j in [0, 64) { "
      "%y[i, j] = exp(%x[i, j]) * 2.0f } } }");
}

absl::StatusOr<CodegenResult> Compile(absl::string_view text,
                                      const CodegenOptions& options = {},
                                      const tir::PrimFunc& kernel = Kernel()) {
  TargetRegistry registry;
  EXPECT_TRUE(RegisterLlvmTarget(&registry).ok());
  EXPECT_TRUE(RegisterLlvmjitTarget(&registry).ok());
  INGOT_ASSIGN_OR_RETURN(Target target, ParseTarget(text));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, registry.Check(target));
  return kind->tir_to_runtime(target, {kernel}, options);
}

std::string TripleOf(absl::string_view text) {
  TargetRegistry registry;
  EXPECT_TRUE(RegisterLlvmTarget(&registry).ok());
  const Target target = *ParseTarget(text);
  return *(*registry.Check(target))->triple(target);
}

TEST(Llvm, MakesOneObject) {
  CodegenOptions options;
  options.symbol_prefix = "m";
  auto result = Compile("little: llvm", options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->artifacts.size(), 1u);
  const Artifact& artifact = result->artifacts[0];
  EXPECT_EQ(artifact.codegen_id, "llvm");
  EXPECT_EQ(artifact.loader, "native");
  EXPECT_EQ(artifact.target_key, "little");
  EXPECT_EQ(artifact.file_name, "m_kernels.o");
  EXPECT_EQ(result->link_libraries, std::vector<std::string>{"m"});
}

TEST(Llvm, TheSameInputGivesTheSameBytes) {
  for (const char* target : {"llvm", "llvmjit", "llvm -O=1"}) {
    auto a = Compile(target), b = Compile(target);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->artifacts[0].content.view(), b->artifacts[0].content.view());
  }
}

// Features recorded as needed must be among those that this machine reports.
TEST(Llvm, NativeCodeNeedsWhatThisMachineReports) {
  auto result = Compile("llvm -mcpu=native");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(CheckCpuFeatures(result->cpu_features), absl::OkStatus());
}

// A kernel that uses `type` for its elements.
tir::PrimFunc KernelOf(absl::string_view type) {
  return *tir::Parse(
      absl::StrCat("func @mul(%x: ", type, "[n, 64]) -> (%y: ", type,
                   "[n, 64]) { for i in [0, n) { vectorized j in [0, 64) { "
                   "%y[i, j] = %x[i, j] * %x[i, j] + %x[i, j] } } }"));
}

// Compiles `kernels` to text that the GNU assembler reads.
std::string Assembly(const Target& target,
                     absl::Span<const tir::PrimFunc> kernels) {
  auto machine = codegen::ResolveMachine(target);
  EXPECT_TRUE(machine.ok()) << machine.status();
  auto text = codegen::CompileWithLlvm(kernels, *machine,
                                       codegen::LlvmOutput::kAssembly);
  EXPECT_TRUE(text.ok()) << text.status();
  return *text;
}

// Whatever processor the code is made for, the set needs what its instructions
// need: with these features the GNU assembler takes them all, and with one less
// it does not.
TEST(Llvm, NeedsTheFeaturesOfItsInstructions) {
  for (const char* cpu : {"x86-64", "nehalem", "haswell", "skylake-avx512",
                          "icelake-server", "sapphirerapids", "znver4"}) {
    for (const char* type : {"f32", "f64", "f16", "bf16", "i8", "u8", "i64"}) {
      SCOPED_TRACE(absl::StrCat(cpu, " ", type));
      const Target target = *ParseTarget(
          absl::StrCat("llvm -mtriple=x86_64-linux-gnu -mcpu=", cpu));
      const std::vector<tir::PrimFunc> kernels = {Kernel(), KernelOf(type)};
      TargetRegistry registry;
      ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
      auto result = (*registry.Find("llvm"))
                        ->tir_to_runtime(target, kernels, CodegenOptions());
      ASSERT_TRUE(result.ok()) << result.status();
      const std::string assembly = Assembly(target, kernels);
      const std::vector<std::string>& needed = result->cpu_features;
      EXPECT_THAT(isa::RefusedLines(assembly, needed), IsEmpty())
          << absl::StrJoin(needed, " ");
      for (const std::string& feature : needed) {
        std::vector<std::string> rest;
        bool implied = false;  // by another, for the assembler
        for (const std::string& each : needed) {
          if (each == feature) continue;
          rest.push_back(each);
          implied |= Implies(each, feature);
        }
        EXPECT_TRUE(implied || !isa::RefusedLines(assembly, rest).empty())
            << "needs no " << feature << " beside " << absl::StrJoin(rest, " ");
      }
    }
  }
}

// Code for fp32 made where there is AMX and AVX512-FP16 runs where there is
// not: on Ice Lake and on Zen 4.
TEST(Llvm, NeedsNothingThatItDoesNotUse) {
  auto server = Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(server->cpu_features, Contains("avx512f"));
  for (const std::string& feature : server->cpu_features) {
    EXPECT_THAT(feature, AnyOf("avx", "avx2", "fma", "avx512f", "avx512dq",
                               "avx512vl", "avx512bw"));
  }
  auto generic = Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=generic");
  ASSERT_TRUE(generic.ok()) << generic.status();
  EXPECT_THAT(generic->cpu_features, IsEmpty());
  auto less =
      Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=-fma,-avx2");
  ASSERT_TRUE(less.ok()) << less.status();
  EXPECT_THAT(less->cpu_features, Not(Contains("fma")));
  auto arm = Compile("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1");
  ASSERT_TRUE(arm.ok()) << arm.status();
  EXPECT_THAT(arm->cpu_features, IsEmpty());
}

// LLVM's decoder itself knows which feature these families' instructions belong
// to.
TEST(Llvm, NeedsFeaturesOfOtherFamilies) {
  const tir::PrimFunc dot = *tir::Parse(
      "func @f(%x: f32[64]) -> (%y: f32[64]) { vectorized i in [0, 64) { "
      "%y[i] = %x[i] * 3.0f } }");
  TargetRegistry registry;
  ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
  const auto needs = [&](const std::string& text) {
    auto result =
        (*registry.Find("llvm"))
            ->tir_to_runtime(*ParseTarget(text), {dot}, CodegenOptions());
    EXPECT_TRUE(result.ok()) << result.status();
    return result->cpu_features;
  };
  EXPECT_THAT(needs("llvm -mtriple=riscv64-linux-gnu"), IsEmpty());
  EXPECT_THAT(needs("llvm -mtriple=riscv64-linux-gnu -mattr=+v,+zfh,+zbs"),
              ElementsAre("v"));
}

// A table of bytes in registers fills two of 512 bits; code that keeps to
// narrower vectors reads it from memory.
TEST(Llvm, LooksUpBytesInVectorsOfAnyWidth) {
  const tir::PrimFunc look_up = *tir::Parse(
      "func @f(%x: u8[16], %t: u8[256]) -> (%y: u8[16]) { "
      "%y[ramp(0, 1, 16)] = %t[i64x16(%x[ramp(0, 1, 16)])] }");
  const auto assembly = [&](const std::string& options) {
    return Assembly(
        *ParseTarget(absl::StrCat(
            "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server ", options)),
        {look_up});
  };
  EXPECT_TRUE(absl::StrContains(assembly(""), "vpermt2b"));
  for (const char* narrow :
       {"-vector-bits=256", "-vector-bits=128", "-mattr=-evex512"}) {
    EXPECT_FALSE(absl::StrContains(assembly(narrow), "zmm")) << narrow;
  }
}

TEST(Llvm, DescribesProcessors) {
  TargetRegistry registry;
  ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
  const auto model = [&](const std::string& text) {
    const Target target =
        *ParseTarget("llvm -mtriple=x86_64-linux-gnu " + text);
    return *(*registry.Find("llvm"))->MachineOf(target);
  };
  EXPECT_EQ(model("-mcpu=skylake-avx512").vector_bits, 512);
  EXPECT_EQ(model("-mcpu=skylake-avx512").vector_registers, 32);
  EXPECT_EQ(model("-mcpu=skylake-avx512 -vector-bits=256").vector_bits, 256);
  EXPECT_EQ(model("-mcpu=haswell").vector_bits, 256);
  EXPECT_EQ(model("-mcpu=haswell").vector_registers, 16);
  EXPECT_TRUE(model("-mcpu=haswell").fma);
  EXPECT_EQ(model("-mcpu=generic").vector_bits, 128);
  EXPECT_FALSE(model("-mcpu=generic").fma);
  for (const char* without :
       {"-mcpu=generic", "-mcpu=sandybridge", "-mcpu=knl"}) {
    EXPECT_THAT(model(without).units, IsEmpty()) << without;
  }
  for (const char* pairs : {"-mcpu=nehalem", "-mcpu=skylake-avx512"}) {
    EXPECT_THAT(model(pairs).units, ElementsAre(MachineUnit::kInt8Pairs))
        << pairs;
  }
  EXPECT_THAT(model("-mcpu=cascadelake").units,
              ElementsAre(MachineUnit::kInt8Dot, MachineUnit::kInt8Pairs));
  EXPECT_THAT(
      model("-mcpu=sapphirerapids").units,
      ElementsAre(MachineUnit::kInt8Dot, MachineUnit::kInt8Pairs,
                  MachineUnit::kInt8Tiles, MachineUnit::kBFloat16Tiles));
}

TEST(Llvm, CompilesForOtherProcessors) {
  for (const char* triple :
       {"x86_64-linux-gnu", "aarch64-linux-gnu", "arm64-linux-gnu",
        "riscv64-linux-gnu", "powerpc64le-linux-gnu", "aarch64-linux-musl"}) {
    const std::string target = absl::StrCat("llvm -mtriple=", triple);
    auto result = Compile(target);
    ASSERT_TRUE(result.ok()) << triple << ": " << result.status();
    EXPECT_THAT(TripleOf(target), HasSubstr("-unknown-linux-"));
    EXPECT_NE(isa::FindByTriple(TripleOf(target)), nullptr);
  }
}

// Node.js runs such code in examples/web and tests/cross.
TEST(Llvm, CompilesForWebAssembly) {
  TargetRegistry registry;
  ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
  for (const char* features : {"", " -mattr=+simd128"}) {
    const std::string text = absl::StrCat("llvm -mtriple=wasm32", features);
    auto result = Compile(text);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(TripleOf(text), "wasm32-unknown-unknown");
    EXPECT_THAT(std::string(result->artifacts[0].content.view()),
                testing::StartsWith(std::string("\0asm", 4)));
    // Nothing is there to link with.
    EXPECT_THAT(result->link_libraries, IsEmpty());
    const bool vectors = *features != 0;
    EXPECT_EQ(std::count(result->cpu_features.begin(),
                         result->cpu_features.end(), "simd128"),
              vectors ? 1 : 0);
    const MachineModel model =
        *(*registry.Find("llvm"))->MachineOf(*ParseTarget(text));
    EXPECT_EQ(model.vector_bits, vectors ? 128 : 0);
    EXPECT_EQ(model.Has(MachineUnit::kInt8Dot), vectors);
    EXPECT_FALSE(model.fma);
  }
  const absl::Status bitcode = Compile("llvmjit -mtriple=wasm32").status();
  EXPECT_EQ(bitcode.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bitcode.message()),
              HasSubstr("no machine that loads bitcode"));
}

// Graphics processors, virtual machines, other sizes and orders of bytes, other
// systems, and nonsense: one line that names the option and what there is.
TEST(Llvm, RefusesTriplesThatItCannotServe) {
  for (const char* triple : {"nvptx64-nvidia-cuda",
                             "amdgcn-amd-amdhsa",
                             "spirv64-unknown-unknown",
                             "wasm64-unknown-unknown",
                             "wasm32-unknown-wasi",
                             "bpf",
                             "i686-linux-gnu",
                             "armv7-linux-gnueabihf",
                             "riscv32-linux-gnu",
                             "s390x-linux-gnu",
                             "powerpc64-linux-gnu",
                             "aarch64_be-linux-gnu",
                             "mips64-linux-gnu",
                             "x86_64-linux-gnux32",
                             "aarch64-linux-gnu_ilp32",
                             "x86_64-pc-windows-msvc",
                             "arm64-apple-darwin",
                             "x86_64-apple-macosx",
                             "zork",
                             "zork-none",
                             "x86_64-linux-gnu-macho",
                             "\"\"",
                             "\"a b\"",
                             "-",
                             "x86_64-zork-freebsd"}) {
    for (const char* kind : {"llvm", "llvmjit"}) {
      const absl::Status status =
          Compile(absl::StrCat(kind, " -mtriple=", triple)).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << triple;
      const std::string message(status.message());
      EXPECT_THAT(message, HasSubstr("-mtriple=")) << triple;
      EXPECT_THAT(message, HasSubstr("aarch64-linux-gnu")) << triple;
      EXPECT_THAT(message, Not(HasSubstr("\n"))) << triple;
    }
  }
}

TEST(Llvm, RefusesWhatItDoesNotKnow) {
  for (const char* target :
       {"llvm -mcpu=zork", "llvm -mattr=avx2", "llvm -mattr=+zork",
        "llvm -mtriple=zork-none", "llvm -O=4", "llvm -vector-bits=100",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=native", "llvm -zork=1"}) {
    EXPECT_EQ(Compile(target).status().code(),
              absl::StatusCode::kInvalidArgument)
        << target;
  }
}

std::string Inspect(const Artifact& artifact, absl::Status* error = nullptr) {
  InspectorRegistry registry;
  EXPECT_TRUE(RegisterLlvmInspectors(&registry).ok());
  auto rules = registry.Find(artifact);
  EXPECT_EQ(rules.size(), 1u);
  absl::StatusOr<std::string> text = rules[0]->inspect(artifact, {});
  if (error != nullptr) *error = text.status();
  return text.ok() ? *text : "";
}

TEST(Inspectors, ShowObjectsAndBitcode) {
  auto object = Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell");
  ASSERT_TRUE(object.ok()) << object.status();
  const std::string text = Inspect(object->artifacts[0]);
  EXPECT_THAT(text, HasSubstr("ELF, 64 bits, little-endian"));
  EXPECT_THAT(text, HasSubstr("global     __tvm_ffi_scale"));
  EXPECT_THAT(text, HasSubstr("weak       __ingot_host_api"));
  EXPECT_THAT(text, HasSubstr("__tvm_ffi_scale:\n"));
  EXPECT_THAT(text, HasSubstr("vmulps ymm"));
  EXPECT_THAT(text, HasSubstr("; hot loop, 1 deep: "));
  EXPECT_THAT(text, Not(HasSubstr(".L")));
  auto arm = Compile("llvm -mtriple=aarch64-linux-gnu");
  ASSERT_TRUE(arm.ok()) << arm.status();
  EXPECT_THAT(Inspect(arm->artifacts[0]), HasSubstr("fmul v"));
  auto bitcode = Compile("llvmjit");
  ASSERT_TRUE(bitcode.ok()) << bitcode.status();
  EXPECT_THAT(Inspect(bitcode->artifacts[0]), HasSubstr("@__tvm_ffi_scale("));
}

TEST(Llvm, KeepsTheIrOfItsCodeWhereAsked) {
  const auto plain = Compile("llvm");
  const auto kept = Compile("llvm -keep-ir=1");
  ASSERT_TRUE(plain.ok() && kept.ok()) << kept.status();
  ASSERT_EQ(kept->artifacts.size(), plain->artifacts.size() + 1);
  EXPECT_EQ(kept->artifacts[0].content.view(),
            plain->artifacts[0].content.view());
  const Artifact& ir = kept->artifacts.back();
  EXPECT_TRUE(absl::EndsWith(ir.file_name, ".ll")) << ir.file_name;
  EXPECT_THAT(std::string(ir.content.view()), HasSubstr("@__tvm_ffi_scale("));
  EXPECT_FALSE(Compile("llvm -keep-ir=yes").ok());
}

// The lines of a function in LLVM's text of a kernel's code.
size_t LinesOf(absl::string_view function, codegen::LlvmOutput output) {
  const auto machine = codegen::ResolveMachine(*ParseTarget("llvm"));
  const auto code = codegen::CompileWithLlvm({Kernel()}, *machine, output);
  EXPECT_TRUE(code.ok()) << code.status();
  const std::string text = code.value_or("");
  const size_t begin = text.find(absl::StrCat("@", function, "("));
  EXPECT_NE(begin, std::string::npos);
  const size_t end = text.find("\n}", begin);
  return std::count(text.begin() + begin, text.begin() + end, '\n');
}

// In models of many small kernels LLVM's passes over them took a fifth of the
// time of compiling.
TEST(Llvm, LeavesCheckedEntriesAsTheyAreEmitted) {
  EXPECT_EQ(LinesOf("__tvm_ffi_scale", codegen::LlvmOutput::kText),
            LinesOf("__tvm_ffi_scale", codegen::LlvmOutput::kRawText));
}

// LLVM compares a vector of halves lane by lane on x86.
TEST(Llvm, ComparesHalvesAsFloats) {
  for (const char* value :
       {"max(f16(0.0), %x[i])", "f16(max(0.0f, f32(%x[i])))",
        "select(%x[i] < %x[0], %x[i], f16(1.0))", "f16(i8(%x[i]))"}) {
    const auto kernel = tir::Parse(absl::StrCat(
        "func @halves(%x: f16[8]) -> (%y: f16[8]) { vectorized i in [0, 8) { ",
        "%y[i] = ", value, " } }"));
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const auto kept =
        Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -keep-ir=1", {},
                *kernel);
    ASSERT_TRUE(kept.ok()) << kept.status();
    const std::string ir(kept->artifacts.back().content.view());
    EXPECT_THAT(ir, HasSubstr("fcmp")) << value;
    EXPECT_THAT(ir, Not(ContainsRegex("fcmp [a-z]+ <[0-9]+ x half>"))) << value;
  }
}

// Cut short, or with bytes changed: an error or some text, never a crash.
TEST(Inspectors, SurviveDamage) {
  for (const char* target : {"llvm", "llvm -mtriple=aarch64-linux-gnu"}) {
    SCOPED_TRACE(target);
    auto good = Compile(target);
    ASSERT_TRUE(good.ok()) << good.status();
    const std::string bytes(good->artifacts[0].content.view());
    Artifact artifact = good->artifacts[0];
    for (size_t size = 0; size < bytes.size(); size += 97) {
      artifact.content = Blob::FromString(bytes.substr(0, size));
      absl::Status error;
      Inspect(artifact, &error);
    }
    uint32_t seed = 1;
    for (int i = 0; i < 400; ++i) {
      std::string damaged = bytes;
      for (int k = 0; k < 3; ++k) {
        seed = seed * 1664525 + 1013904223;
        // Mostly in the header and in the tables at the end.
        const size_t at = (seed >> 8) % 2 == 0 ? (seed >> 9) % 64
                                               : (seed >> 9) % bytes.size();
        damaged[at] = static_cast<char>(seed >> 24);
      }
      artifact.content = Blob::FromString(std::move(damaged));
      absl::Status error;
      Inspect(artifact, &error);
    }
  }
}

}  // namespace
}  // namespace ingot
