// Boxes that are too large for the stack.
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/printer.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

constexpr DataType kF32 = DataType::Float(32);

std::string Text(const Kernel& k, const Schedule& s) {
  auto f = Lower("f", k.graph, k.inputs, k.outputs, s);
  return f.ok() ? "\n" + tir::Print(tir::Simplify(*f)) : f.status().ToString();
}

Schedule Make(const Kernel& k) {
  auto s = Schedule::Create(k.graph, k.outputs);
  EXPECT_TRUE(s.ok()) << s.status();
  return *std::move(s);
}

// d = 2 c, c = a + 1, in chunks of 16 rows that are too large for the stack.
struct Chunks {
  Chunks() {
    Tensor a = kernel.graph.Placeholder("a", kF32, {I(64), I(4096)});
    c = kernel.graph.Compute("c", {I(64), I(4096)},
                             [&](auto& i) { return a(i) + tir::MakeFloat(1); });
    Tensor d = kernel.graph.Compute("d", {I(64), I(4096)}, [&](auto& i) {
      return c(i) * tir::MakeFloat(2);
    });
    kernel.inputs = {a};
    kernel.outputs = {d};
  }
  Kernel kernel;
  Tensor c;
};

// One iteration after the other computes its chunk in the same place, and
// threads share the chunk out.
TEST(WorkspacesTest, LargeBoxesHaveAWorkspaceOfTheirSize) {
  Chunks chunks;
  Schedule s = Make(chunks.kernel);
  Stage* out = s.Find(chunks.kernel.outputs[0]);
  Stage* c = s.Find(chunks.c);
  const Loop chunk = out->Split(out->axis(0), 16).first;
  c->ComputeAt(out, chunk);
  c->Parallel(c->axis(0));
  EXPECT_EQ(Text(chunks.kernel, s), R"(
func @f(%a: f32[64, 4096]) -> (%d: f32[64, 4096]) workspace(%c: f32[16, 4096]) {
  for i0o in [0, 4) {
    parallel i0 in [0, 16) {
      for i1 in [0, 4096) {
        %c[i0, i1] = %a[i0o * 16 + i0, i1] + 1.0f
      }
    }
    for i0i in [0, 16) {
      for i1 in [0, 4096) {
        %d[i0o * 16 + i0i, i1] = %c[i0i, i1] * 2.0f
      }
    }
  }
}
)");
}

// Threads that compute chunks at the same time need a place for each.
TEST(WorkspacesTest, LargeBoxesOfThreadsAreApart) {
  Chunks chunks;
  Schedule s = Make(chunks.kernel);
  Stage* out = s.Find(chunks.kernel.outputs[0]);
  Stage* c = s.Find(chunks.c);
  const Loop chunk = out->Split(out->axis(0), 16).first;
  out->Parallel(chunk);
  c->ComputeAt(out, chunk);
  c->Parallel(c->axis(0));
  EXPECT_EQ(Text(chunks.kernel, s), R"(
func @f(%a: f32[64, 4096]) -> (%d: f32[64, 4096]) workspace(%c: f32[64, 4096]) {
  parallel i0o in [0, 4) {
    for i0 in [0, 16) {
      for i1 in [0, 4096) {
        %c[i0o * 16 + i0, i1] = %a[i0o * 16 + i0, i1] + 1.0f
      }
    }
    for i0i in [0, 16) {
      for i1 in [0, 4096) {
        %d[i0o * 16 + i0i, i1] = %c[i0o * 16 + i0i, i1] * 2.0f
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace ingot::te
