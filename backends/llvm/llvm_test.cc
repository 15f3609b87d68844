#include "absl/strings/str_cat.h"
#include "backends/llvm/codegen.h"
#include "backends/llvm/inspectors.h"
#include "backends/llvmjit/codegen.h"
#include "compiler/tir/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/host_cpu.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

tir::PrimFunc Kernel() {
  return *tir::Parse(
      "func @scale(%x: f32[64]) -> (%y: f32[64]) { vectorized i in [0, 64) { "
      "%y[i] = exp(%x[i]) * 2.0f } }");
}

absl::StatusOr<CodegenResult> Compile(absl::string_view text,
                                      const CodegenOptions& options = {}) {
  TargetRegistry registry;
  EXPECT_TRUE(RegisterLlvmTarget(&registry).ok());
  EXPECT_TRUE(RegisterLlvmjitTarget(&registry).ok());
  absl::StatusOr<Target> target = ParseTarget(text);
  if (!target.ok()) return target.status();
  absl::StatusOr<const TargetKind*> kind = registry.Check(*target);
  if (!kind.ok()) return kind.status();
  return (*kind)->tir_to_runtime(*target, {Kernel()}, options);
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

// What is recorded as needed must be what this machine can be asked for.
TEST(Llvm, NativeCodeNeedsWhatThisMachineReports) {
  auto result = Compile("llvm -mcpu=native");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(CheckCpuFeatures(result->cpu_features), absl::OkStatus());
}

TEST(Llvm, NeedsFeaturesAndNoTuning) {
  auto generic = Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=generic");
  ASSERT_TRUE(generic.ok()) << generic.status();
  EXPECT_TRUE(generic->cpu_features.empty());
  auto server = Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512");
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(server->cpu_features, IsSupersetOf({"avx512f", "avx2", "fma"}));
  EXPECT_THAT(server->cpu_features, Not(testing::Contains("evex512")));
  EXPECT_THAT(server->cpu_features, Not(testing::Contains("prefer-256-bit")));
  auto less =
      Compile("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=-fma,-avx2");
  ASSERT_TRUE(less.ok()) << less.status();
  EXPECT_THAT(less->cpu_features, Not(testing::Contains("fma")));
}

TEST(Llvm, DescribesProcessors) {
  TargetRegistry registry;
  ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
  const auto model = [&](const std::string& text) {
    const Target target =
        *ParseTarget("llvm -mtriple=x86_64-linux-gnu " + text);
    return *(*registry.Find("llvm"))->cpu_model(target);
  };
  EXPECT_EQ(model("-mcpu=skylake-avx512").vector_bits, 512);
  EXPECT_EQ(model("-mcpu=skylake-avx512").vector_registers, 32);
  EXPECT_EQ(model("-mcpu=skylake-avx512 -vector-bits=256").vector_bits, 256);
  EXPECT_EQ(model("-mcpu=haswell").vector_bits, 256);
  EXPECT_EQ(model("-mcpu=haswell").vector_registers, 16);
  EXPECT_TRUE(model("-mcpu=haswell").fma);
  EXPECT_EQ(model("-mcpu=generic").vector_bits, 128);
  EXPECT_FALSE(model("-mcpu=generic").fma);
}

TEST(Llvm, CompilesForOtherProcessors) {
  for (const char* triple :
       {"aarch64-linux-gnu", "riscv64-linux-gnu", "armv7-linux-gnueabihf",
        "powerpc64le-linux-gnu", "i686-linux-gnu", "s390x-linux-gnu"}) {
    auto result = Compile(absl::StrCat("llvm -mtriple=", triple));
    ASSERT_TRUE(result.ok()) << triple << ": " << result.status();
    EXPECT_THAT(result->target_triple, HasSubstr("linux"));
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
  absl::StatusOr<std::string> text = rules[0]->inspect(artifact);
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
  auto arm = Compile("llvm -mtriple=aarch64-linux-gnu");
  ASSERT_TRUE(arm.ok()) << arm.status();
  EXPECT_THAT(Inspect(arm->artifacts[0]), HasSubstr("fmul v"));
  auto bitcode = Compile("llvmjit");
  ASSERT_TRUE(bitcode.ok()) << bitcode.status();
  EXPECT_THAT(Inspect(bitcode->artifacts[0]), HasSubstr("@__tvm_ffi_scale("));
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
