// Products with what follows them, as operators define them: the element-wise
// tail reads the sums where they are, and computes what plain loops compute.
#include <set>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "compiler/te/testing/workspaces.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using Tags = std::map<std::string, std::string>;

constexpr DataType kF32 = DataType::Float(32);

// a [m, k] times b [k, n], called c.
Tensor Product(Graph* g, const Tensor& a, const Tensor& b) {
  auto product = [&](auto& i, auto& r) {
    return a({i[0], r[0]}) * b({r[0], i[1]});
  };
  return g->Reduce("c", {a.shape()[0], b.shape()[1]}, {a.shape()[1]},
                   Reducer::Sum(kF32), product, Tags{{kAnchor, kMatmul}});
}

// The different nodes that call an intrinsic.
class CallCounter : public tir::StmtVisitor {
 public:
  explicit CallCounter(tir::Intrinsic intrinsic) : intrinsic_(intrinsic) {}
  std::set<const tir::Call*> found;

 protected:
  void VisitCall(const tir::Call& node) override {
    if (node.intrinsic == intrinsic_) found.insert(&node);
    tir::StmtVisitor::VisitCall(node);
  }

 private:
  const tir::Intrinsic intrinsic_;
};

class EpilogueTest : public testing::TestWithParam<int> {
 protected:
  Schedule Make(const Kernel& k) {
    auto schedule = ScheduleKernel(k.graph, k.outputs, cpu::CpuTemplates(),
                                   TestCpu(GetParam()));
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }
  tir::PrimFunc Loops(const Kernel& k, const Schedule& schedule) {
    auto func = Lower("kernel", k.graph, k.inputs, k.outputs, schedule);
    EXPECT_TRUE(func.ok()) << func.status();
    return func.ok() ? *std::move(func) : tir::PrimFunc();
  }
};

// Operators write 0 for the index of an extent of 1.
TEST_P(EpilogueTest, ReadsExtentsOfOneAtZero) {
  for (int64_t n : {1, 40}) {
    Kernel k;
    Graph& g = k.graph;
    Tensor a = g.Placeholder("a", kF32, ConstShape({1, 12}));
    Tensor b = g.Placeholder("b", kF32, ConstShape({12, n}));
    Tensor bias = g.Placeholder("bias", kF32, ConstShape({n}));
    Tensor c = Product(&g, a, b);
    k.inputs = {a, b, bias};
    k.outputs = {g.Compute("d", c.shape(), [&](auto& i) {
      return c({I(0), n == 1 ? I(0) : i[1]}) + bias({i[1]});
    })};
    const Schedule schedule = Make(k);
    EXPECT_TRUE(WorkspacesOfSums(Loops(k, schedule)).empty());
    ExpectSame(k, schedule);
  }
}

// A tail that repeats one row, or reads another place, is a pass of its own.
TEST_P(EpilogueTest, OtherReadersStayApart) {
  Kernel k;
  Graph& g = k.graph;
  Tensor a = g.Placeholder("a", kF32, ConstShape({1, 12}));
  Tensor b = g.Placeholder("b", kF32, ConstShape({12, 40}));
  Tensor c = Product(&g, a, b);
  k.inputs = {a, b};
  k.outputs = {g.Compute("repeated", ConstShape({9, 40}), [&](auto& i) {
    return c({I(0), i[1]}) + F(1);
  })};
  const Schedule schedule = Make(k);
  EXPECT_EQ(WorkspacesOfSums(Loops(k, schedule)).size(), 1u);
  ExpectSame(k, schedule);
}

// Several stages read what is expensive, and one stage reads them.
TEST_P(EpilogueTest, EvaluatesSharedValuesOnce) {
  Kernel k;
  Graph& g = k.graph;
  Tensor a = g.Placeholder("a", kF32, ConstShape({30, 12}));
  Tensor b = g.Placeholder("b", kF32, ConstShape({12, 40}));
  Tensor c = Product(&g, a, b);
  auto shape = c.shape();
  Tensor t = g.Compute("t", shape, [&](auto& i) {
    return tir::MakeCall(tir::Intrinsic::kTanh, {c(i)});
  });
  Tensor square = g.Compute("s", shape, [&](auto& i) { return t(i) * t(i); });
  Tensor rest =
      g.Compute("r", shape, [&](auto& i) { return F(1) - square(i); });
  k.inputs = {a, b};
  k.outputs = {g.Compute("d", shape, [&](auto& i) { return t(i) + rest(i); })};
  const Schedule schedule = Make(k);
  const tir::PrimFunc func = Loops(k, schedule);
  EXPECT_TRUE(WorkspacesOfSums(func).empty());
  ExpectSame(k, schedule, {}, 1e-6f);
  // One for each copy of the loops' body.
  class StoreCounter : public tir::StmtVisitor {
   public:
    size_t count = 0;
    std::string to;

   protected:
    void VisitStore(const tir::Store& node) override {
      count += node.buffer->name == to;
    }
  } stores;
  stores.to = "d";
  stores.Visit(func.body);
  CallCounter calls(tir::Intrinsic::kTanh);
  calls.Visit(func.body);
  EXPECT_GT(stores.count, 0u);
  EXPECT_EQ(calls.found.size(), stores.count);
}

// A value that two outputs read is not computed for each of them.
TEST_P(EpilogueTest, KeepsWhatSeveralOutputsRead) {
  Kernel k;
  Graph& g = k.graph;
  auto shape = ConstShape({30, 40});
  Tensor x = g.Placeholder("x", kF32, shape);
  Tensor t = g.Compute("t", shape, [&](auto& i) {
    return tir::MakeCall(tir::Intrinsic::kTanh, {x(i)});
  });
  Tensor twice = g.Compute("s", shape, [&](auto& i) { return t(i) + t(i); });
  auto plus = [&](double value) {
    return g.Compute("p", shape, [&](auto& i) { return twice(i) + F(value); });
  };
  k.inputs = {x};
  k.outputs = {plus(1), plus(2)};
  const Schedule schedule = Make(k);
  EXPECT_EQ(Loops(k, schedule).num_workspaces, 1);
  ExpectSame(k, schedule, {}, 1e-6f);
}

// One tensor is both operands: only the right one is copied into panels.
TEST_P(EpilogueTest, ProductOfATensorWithItself) {
  tir::VarPtr n = tir::MakeVar("n");
  for (int64_t size : {5, 40, 0}) {
    Kernel k;
    const Expr extent = size == 0 ? Expr(n) : I(size);
    Tensor x = k.graph.Placeholder("x", kF32, {extent, extent});
    k.inputs = {x};
    k.outputs = {Product(&k.graph, x, x)};
    const Schedule schedule = Make(k);
    EXPECT_EQ(Loops(k, schedule).num_workspaces, size == 5 ? 0 : 1);
    if (size != 0) {
      ExpectSame(k, schedule);
      continue;
    }
    for (int64_t value : {1, 29}) ExpectSame(k, schedule, {{n.get(), value}});
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, EpilogueTest,
                         testing::Values(128, 256, 512));

}  // namespace
}  // namespace ingot::te
