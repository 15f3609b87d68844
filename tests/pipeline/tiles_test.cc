// A library whose code uses AMX, in a C program without Ingot: the code itself
// asks Linux for the registers, and computes what it does in the ingot command.
#include <cstdlib>

#include "runtime/host_cpu.h"
#include "runtime/tensor.h"
#include "tests/pipeline/cli_fixture.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

TEST_F(CliTest, TilesWithoutIngot) {
  if (!CheckCpuFeatures({"amx-bf16"}).ok()) {
    GTEST_SKIP() << "this machine has no AMX";
  }
  WriteFileBytes(Path("m.relay"), R"(module {
    func @main(%x: f32[40, 96]) -> (%y) {
      %w = const f32[96, 50] random(1)
      %y = matmul(%x, %w)
    }
  })");
  Tensor x = *Tensor::Empty(DataType::Float(32), {40, 96});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 13) / 8;
  }
  WriteFileBytes(Path("x.npy"), *FormatNpy(x));
  Do({"compile", "@m.relay", "-o", "@m.ingot", "--quiet",
      "--target=llvm -mcpu=native -matmul-precision=medium"});
  Do({"link", "@m.ingot", "-o", "@m.so", "--quiet"});
  Do({"run", "@m.so", "--input=x:@x.npy", "--output-dir=" + Path("ingot")});
  const CommandResult run = RunCommand(
      {getenv("RUN_MODEL"), "-o", Path("c."), Path("m.so"), Path("x.npy")});
  ASSERT_EQ(run.exit, 0) << run.err;
  const auto c = ParseNpy(ReadFile(Path("c.0.npy")));
  const auto ours = ParseNpy(ReadFile(Path("ingot/y.npy")));
  ASSERT_TRUE(c.ok() && ours.ok());
  EXPECT_EQ(c->shape(), ours->shape());
  EXPECT_TRUE(c->values<float>() == ours->values<float>());
}

}  // namespace
}  // namespace ingot
