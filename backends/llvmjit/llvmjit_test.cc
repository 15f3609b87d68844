#include <cmath>
#include <vector>

#include "backends/llvmjit/codegen.h"
#include "backends/llvmjit/compile_and_load.h"
#include "backends/llvmjit/loader.h"
#include "backends/llvmjit/narrow_features.h"
#include "compiler/target/target.h"
#include "compiler/tir/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

tir::PrimFunc ParseOrDie(absl::string_view text) {
  absl::StatusOr<tir::PrimFunc> func = tir::Parse(text);
  if (!func.ok()) ADD_FAILURE() << func.status();
  return *func;
}

constexpr char kAddRelu[] = R"(
func @add_relu(%a: f32[n, 64], %b: f32[64]) -> (%out: f32[n, 64]) {
  parallel i in [0, n) {
    for j in [0, 4) {
      %out[i, ramp(j * 16, 1, 16)] = max(%a[i, ramp(j * 16, 1, 16)] +
          %b[ramp(j * 16, 1, 16)], broadcast(0.0f, 16))
    }
  }
})";

Tensor Floats(std::vector<int64_t> shape, float start, float step) {
  Tensor t = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.mutable_data<float>()[i] = start + step * static_cast<float>(i);
  }
  return t;
}

TEST(LlvmJit, RunsAKernelOfSymbolicSize) {
  auto module = CompileAndLoad({ParseOrDie(kAddRelu)});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT((*module)->FunctionNames(), testing::ElementsAre("add_relu"));
  std::optional<Function> f = (*module)->GetFunction("add_relu");
  ASSERT_TRUE(f.has_value());
  EXPECT_FALSE((*module)->GetFunction("nothing").has_value());
  for (int64_t n : {0, 1, 7}) {
    Tensor a = Floats({n, 64}, -100.f, 1.f);
    Tensor b = Floats({64}, 0.f, .5f);
    Tensor out = Floats({n, 64}, 77.f, 0.f);
    absl::Status called = f->Call({a.dl(), b.dl(), out.dl()});
    ASSERT_TRUE(called.ok()) << called;
    for (int64_t i = 0; i < n * 64; ++i) {
      const float expected =
          std::max(0.f, a.data<float>()[i] + b.data<float>()[i % 64]);
      ASSERT_EQ(out.data<float>()[i], expected) << i;
    }
  }
}

TEST(LlvmJit, ChecksItsArguments) {
  auto module = CompileAndLoad({ParseOrDie(kAddRelu)});
  ASSERT_TRUE(module.ok()) << module.status();
  Function f = *(*module)->GetFunction("add_relu");
  Tensor a = Floats({2, 64}, 0, 1);
  Tensor b = Floats({64}, 0, 1);
  Tensor out = Floats({2, 64}, 0, 0);
  EXPECT_TRUE(f.Call({a.dl(), b.dl(), out.dl()}).ok());
  const auto error = [&](std::vector<DLTensor*> args) {
    return std::string(f.Call(args).message());
  };
  EXPECT_THAT(error({a.dl()}), HasSubstr("add_relu: expected 3 arguments"));
  EXPECT_THAT(error({a.dl(), a.dl(), out.dl()}),
              HasSubstr("argument 1 (b) must be a CPU tensor of type f32 with "
                        "1 dimensions"));
  Tensor wrong = Floats({65}, 0, 1);
  EXPECT_THAT(error({a.dl(), wrong.dl(), out.dl()}),
              HasSubstr("argument 1 (b) must be a f32[64]"));
  Tensor short_out = Floats({1, 64}, 0, 1);
  EXPECT_THAT(error({a.dl(), b.dl(), short_out.dl()}),
              HasSubstr("argument 2 (out) must be a f32[n, 64]"));
  Tensor ints = *Tensor::Empty(DataType::Int(32), {64});
  EXPECT_THAT(error({a.dl(), ints.dl(), out.dl()}), HasSubstr("of type f32"));
  TVMFFIAny number{};
  number.type_index = kTVMFFIInt;
  TVMFFIAny args[3] = {number, number, number};
  TVMFFIAny result{};
  EXPECT_FALSE(f.Call(args, &result).ok());
}

TEST(LlvmJit, AcceptsTensorObjects) {
  auto module = CompileAndLoad({ParseOrDie(kAddRelu)});
  ASSERT_TRUE(module.ok()) << module.status();
  Tensor tensors[] = {Floats({2, 64}, 0, 1), Floats({64}, 0, 1),
                      Floats({2, 64}, 0, 0)};
  struct Object {
    TVMFFIObject header;
    DLTensor tensor;
  } objects[3];
  TVMFFIAny args[3] = {};
  for (int i = 0; i < 3; ++i) {
    objects[i].tensor = *tensors[i].dl();
    args[i].type_index = kTVMFFITensor;
    args[i].v_obj = &objects[i].header;
  }
  TVMFFIAny result{};
  ASSERT_TRUE((*module)->GetFunction("add_relu")->Call(args, &result).ok());
  EXPECT_EQ(tensors[2].data<float>()[65], 65 + 1);
}

TEST(LlvmJit, HonoursByteOffset) {
  auto module = CompileAndLoad({ParseOrDie(kAddRelu)});
  ASSERT_TRUE(module.ok()) << module.status();
  Tensor a = Floats({3, 64}, 0, 1);
  Tensor b = Floats({64}, 0, 0);
  Tensor out = Floats({2, 64}, 0, 0);
  DLTensor shifted = *a.dl();
  int64_t shape[] = {2, 64};
  shifted.shape = shape;
  shifted.byte_offset = 64 * sizeof(float);
  ASSERT_TRUE((*module)
                  ->GetFunction("add_relu")
                  ->Call({&shifted, b.dl(), out.dl()})
                  .ok());
  EXPECT_EQ(out.data<float>()[0], 64);
}

Artifact Bitcode(std::string bytes) {
  Artifact artifact;
  artifact.codegen_id = "llvmjit";
  artifact.loader = "llvmjit";
  artifact.target_key = "host";
  artifact.file_name = "kernels.bc";
  artifact.content = Blob::FromString(std::move(bytes));
  return artifact;
}

TEST(LlvmJit, RefusesWhatIsNoBitcode) {
  for (const char* bytes : {"", "hello, world", "BC\xc0\xde xxxx"}) {
    auto module = LoadLlvmJit({Bitcode(bytes)});
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(module.status().message()),
                HasSubstr("kernels.bc"));
  }
}

absl::StatusOr<CodegenResult> CompileFor(absl::string_view text) {
  TargetRegistry registry;
  EXPECT_TRUE(RegisterLlvmjitTarget(&registry).ok());
  const Target target = *ParseTarget(text);
  return (*registry.Check(target))
      ->tir_to_runtime(target, {ParseOrDie(kAddRelu)}, CodegenOptions());
}

// A processor may lack everything that the bitcode was made for.
TEST(LlvmJit, NeedsNoFeatures) {
  auto result = CompileFor("llvmjit -mattr=+avx512f,+evex512,+avx512vl,+fma");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->cpu_features, testing::IsEmpty());
  auto module = LoadLlvmJit(result->artifacts, /*available=*/{});
  ASSERT_TRUE(module.ok()) << module.status();
  Tensor a = Floats({3, 64}, -100.f, 1.f);
  Tensor b = Floats({64}, 0.f, .5f);
  Tensor out = Floats({3, 64}, 77.f, 0.f);
  absl::Status called =
      (*module)->GetFunction("add_relu")->Call({a.dl(), b.dl(), out.dl()});
  ASSERT_TRUE(called.ok()) << called;
  for (int64_t i = 0; i < 3 * 64; ++i) {
    ASSERT_EQ(out.data<float>()[i],
              std::max(0.f, a.data<float>()[i] + b.data<float>()[i % 64]));
  }
}

TEST(LlvmJit, NarrowsFeaturesToWhatIsThere) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::Function* f = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
      llvm::GlobalValue::ExternalLinkage, "f", module);
  f->addFnAttr("target-features", "+avx,+avx512f,-sse4a,+fma");
  NarrowFeatures(&module, {"avx", "fma", "sse3"});
  EXPECT_EQ(f->getFnAttribute("target-features").getValueAsString().str(),
            "+avx,-sse4a,+fma");
}

TEST(LlvmJit, RefusesOtherFamiliesOfProcessors) {
  for (const char* target : {"llvmjit -mtriple=aarch64-linux-gnu",
                             "llvmjit -mtriple=x86_64-linux-gnu"}) {
    auto result = CompileFor(target);
    ASSERT_TRUE(result.ok()) << result.status();
    auto module = LoadLlvmJit(result->artifacts);
    if (module.ok()) continue;  // this one is ours
    EXPECT_THAT(std::string(module.status().message()),
                testing::AllOf(HasSubstr("kernels.bc is for "),
                               HasSubstr("-unknown-linux-gnu, which cannot run "
                                         "here")));
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  ADD_FAILURE() << "both were taken";
}

TEST(LlvmJit, EmptyGroupIsNothing) {
  auto module = LoadLlvmJit({});
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(*module, nullptr);
}

}  // namespace
}  // namespace ingot
