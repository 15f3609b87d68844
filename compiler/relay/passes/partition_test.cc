// Tests which target takes what, where regions end, and that modules mean the
// same.
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A kind that takes the operators listed.
TargetKind Toy(std::string name, std::vector<std::string> ops) {
  TargetKind kind;
  kind.name = std::move(name);
  kind.relay_to_runtime = [](const Target&, const Module&, const Function&,
                             absl::string_view) {
    return absl::StatusOr<CodegenResult>(CodegenResult());
  };
  kind.supports = [ops](const Target&, const Node& node) {
    for (const std::string& op : ops) {
      if (node.Is(op)) return absl::OkStatus();
    }
    return absl::UnimplementedError(
        absl::StrCat("does not know ", node.op->name));
  };
  return kind;
}

class PartitionTest : public ::testing::Test {
 protected:
  PartitionTest() {
    adder_ = Toy("adder", {"add", "sub"});
    adder_.constant_updater = [](const Target&, Function*) {
      return absl::OkStatus();
    };
    muls_ = Toy("muls", {"mul", "add"});
    sums_ = Toy("sums", {"relu"});
    sums_.patterns = {
        {"mul_add_relu",
         Pattern::Maybe({"relu"}, Pattern::Op({"add"}, {Pattern::Op({"mul"}),
                                                        Pattern::Constant()})),
         nullptr}};
    host_.name = "host";
  }

  void Use(const std::vector<const TargetKind*>& kinds,
           const std::string& options = "") {
    for (const TargetKind* kind : kinds) {
      absl::StatusOr<Target> target = ParseTarget(
          absl::StrCat(kind->name, kind->HasRegions() ? options : ""));
      ASSERT_TRUE(target.ok()) << target.status();
      context_.targets.push_back({*target, kind});
    }
  }

  // The module after partitioning, which prints, parses, verifies and computes
  // what it did before.
  std::string Run(absl::string_view text) {
    module_ = ParseForTest(text);
    if (module_ == nullptr) return "(failed)";
    std::vector<Tensor> inputs;
    int n = 0;
    for (const Node* input : module_->main()->inputs) {
      absl::StatusOr<Tensor> tensor = Tensor::Empty(
          input->outputs[0].dtype, *ConstShape(input->outputs[0].shape));
      for (int64_t i = 0; i < tensor->NumElements(); ++i) {
        tensor->mutable_data<float>()[i] = static_cast<float>(++n % 7) - 3;
      }
      inputs.push_back(*std::move(tensor));
    }
    const auto before = EvaluateFunction(*module_, *module_->main(), inputs);
    EXPECT_TRUE(before.ok()) << before.status();
    const std::string partition = "partition";
    status_ = RunPasses({&partition, 1}, module_.get(), &context_);
    if (!status_.ok()) return std::string(status_.message());
    const std::string printed = Print(*module_);
    const auto again = ReadModule(printed);
    EXPECT_TRUE(again.ok()) << again.status() << printed;
    if (again.ok()) EXPECT_EQ(Print(**again), printed);
    const auto after = EvaluateFunction(*module_, *module_->main(), inputs);
    EXPECT_TRUE(after.ok()) << after.status();
    if (before.ok() && after.ok()) {
      for (size_t k = 0; k < before->size(); ++k) {
        EXPECT_EQ(0, memcmp((*before)[k].raw_data(), (*after)[k].raw_data(),
                            (*before)[k].bytes()));
      }
    }
    return printed;
  }

  std::vector<std::string> Calls(absl::string_view text) {
    Run(text);
    std::vector<std::string> calls;
    for (const auto& node : module_->main()->nodes()) {
      if (node->kind == NodeKind::kCallFunction) calls.push_back(node->callee);
      if (node->kind == NodeKind::kOp) calls.push_back(node->op->name);
    }
    return calls;
  }

  TargetKind adder_, muls_, sums_, host_;
  PassContext context_;
  std::unique_ptr<Module> module_;
  absl::Status status_;
};

TEST_F(PartitionTest, AHookThatFailsRefusesNothing) {
  const absl::Status broken = absl::AbortedError("division by zero");
  adder_.supports = [broken](const Target&, const Node&) { return broken; };
  sums_.patterns[0].check = [broken](const Target&, absl::Span<Node* const>) {
    return broken;
  };
  constexpr char kText[] = R"(module { func @main(%x: f32[2, 2]) -> (%y) {
    %w = const f32[2, 2] {1, 2, 3, 4}
    %m = mul(%x, %x) from "M"
    %a = add(%m, %w) from "A"
    %y = relu(%a) from "R"
  } })";
  Use({&adder_, &host_});
  EXPECT_THAT(Run(kText), AllOf(HasSubstr("target adder, asked about "),
                                HasSubstr("division by zero")));
  context_.targets.clear();
  Use({&sums_, &host_});
  EXPECT_THAT(Run(kText), AllOf(HasSubstr("target sums, asked about "),
                                HasSubstr("division by zero")));
}

TEST_F(PartitionTest, OneRegionWithItsConstants) {
  Use({&adder_, &host_});
  EXPECT_EQ(Run(R"(module { func @main(%x: f32[2, 2]) -> (%y) {
    %w = const f32[2, 2] {1, 2, 3, 4}
    %a = add(%x, %w) from "A"
    %b = sub(%a, %x) from "B"
    %y = exp(%b) from "C"
  } })"),
            R"(module {
  func @main(%x: f32[2, 2]) -> (%y) {
    %adder_0 = @adder_0(%x) : f32[2, 2] from "A", "B"
    %y = exp(%adder_0) : f32[2, 2] from "C"
  }
  func @adder_0(%x: f32[2, 2]) -> (%b) attrs {target="adder"} {
    %w = const f32[2, 2] {1, 2, 3, 4}
    %a = add(%x, %w) : f32[2, 2] from "A"
    %b = sub(%a, %x) : f32[2, 2] from "B"
  }
}
)");
  ASSERT_EQ(context_.refusals.size(), 1u);
  EXPECT_EQ(context_.refusals["C"][0].target, "adder");
  EXPECT_EQ(context_.refusals["C"][0].reason, "does not know exp");
}

// A composite that is there but that its check refuses says more than that the
// operator alone is not taken.
TEST_F(PartitionTest, SaysWhyACompositeIsNotTaken) {
  TargetKind picky = Toy("picky", {});
  const auto refuse = [](std::string why) {
    return [why](const Target&, absl::Span<Node* const> nodes) {
      return absl::UnimplementedError(absl::StrCat(why, nodes.size()));
    };
  };
  picky.patterns = {
      {"never", Pattern::Op({"tanh"}, {Pattern::Op({"exp"})}), refuse("x")},
      {"exp_mul", Pattern::Op({"exp"}, {Pattern::Op({"mul"})}),
       refuse("nodes: ")},
      {"exp", Pattern::Op({"exp"}), refuse("alone: ")}};
  Use({&picky, &host_});
  module_ = ParseForTest(R"(module { func @main(%x: f32[2]) -> (%y) {
    %m = mul(%x, %x)
    %y = exp(%m)
  } })");
  ASSERT_NE(module_, nullptr);
  for (const auto& node : module_->main()->nodes()) {
    if (node->kind == NodeKind::kOp) node->sources = {node->op->name};
  }
  const std::string partition = "partition";
  ASSERT_TRUE(RunPasses({&partition, 1}, module_.get(), &context_).ok());
  EXPECT_EQ(context_.refusals["exp"][0].reason, "as exp_mul: nodes: 2");
  EXPECT_EQ(context_.refusals["mul"][0].reason, "does not know mul");

  context_.pins["exp"] = "picky";
  EXPECT_THAT(
      std::string(
          RunPasses({&partition, 1}, module_.get(), &context_).message()),
      HasSubstr("node exp is pinned to picky, which does not take it: as "
                "exp_mul: nodes: 2"));
}

TEST_F(PartitionTest, ConstantsAreInputsOfWhoDoesNotOwnThem) {
  Use({&muls_, &host_});
  EXPECT_THAT(
      Run(R"(module { func @main(%x: f32[2]) -> (%y) {
    %w = const f32[2] {1, 2}
    %one = const f32[] {1}
    %a = mul(%x, %w)
    %y = add(%a, %one)
  } })"),
      HasSubstr(
          R"(func @muls_0(%x: f32[2], %w: f32[2]) -> (%y) attrs {target="muls"} {
    %a = mul(%x, %w) : f32[2]
    %one = const f32[] {1}
    %y = add(%a, %one) : f32[2]
  })"));
}

TEST_F(PartitionTest, SeveralOutputs) {
  Use({&adder_, &host_});
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%a, %y, %e) {
    %a = add(%x, %x)
    %y = sub(%a, %x)
    %z = add(%a, %y)
    %e = exp(%z)
  } })"),
              ElementsAre("adder_0", "exp"));
  EXPECT_EQ(module_->Find("adder_0")->outputs.size(), 3u);
}

TEST_F(PartitionTest, NoCycleThroughTheHost) {
  // a feeds e on the host, which feeds s: a and s must not be one region.
  Use({&adder_, &host_});
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%s) {
    %a = add(%x, %x)
    %e = exp(%a)
    %s = sub(%a, %e)
  } })"),
              ElementsAre("adder_0", "exp", "adder_1"));
}

TEST_F(PartitionTest, NoCycleThroughTwoTargets) {
  Use({&adder_, &sums_, &host_});
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%s, %t) {
    %a = add(%x, %x)
    %r = relu(%x)
    %b = sub(%r, %x)
    %q = relu(%a)
    %s = add(%b, %q)
    %t = relu(%b)
  } })"),
              ElementsAre("adder_0", "sums_0", "sums_1", "adder_1", "sums_2"));
}

TEST_F(PartitionTest, WholeModelAndNothing) {
  Use({&adder_, &host_});
  const char* kAll = R"(module { func @main(%x: f32[2]) -> (%b) {
    %a = add(%x, %x)
    %b = sub(%a, %x)
  } })";
  EXPECT_THAT(Calls(kAll), ElementsAre("adder_0"));
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%a) {
    %a = exp(%x)
  } })"),
              ElementsAre("exp"));
  context_.targets.pop_back();
  EXPECT_THAT(Calls(kAll), ElementsAre("adder_0"));
  EXPECT_THAT(Run(R"(module { func @main(%x: f32[2]) -> (%a) {
    %a = exp(%x) from "Exp_7"
  } })"),
              HasSubstr("node Exp_7 is taken by no target; adder: does not "
                        "know exp; add one that takes every operator"));
}

TEST_F(PartitionTest, OrderOfPreference) {
  const char* kText = R"(module { func @main(%x: f32[2]) -> (%b) {
    %a = add(%x, %x)
    %b = mul(%a, %x)
  } })";
  Use({&adder_, &muls_, &host_});
  EXPECT_THAT(Calls(kText), ElementsAre("adder_0", "muls_0"));
  std::swap(context_.targets[0], context_.targets[1]);
  EXPECT_THAT(Calls(kText), ElementsAre("muls_0"));
}

TEST_F(PartitionTest, CompositesComeFirst) {
  Use({&sums_, &host_});
  EXPECT_EQ(Run(R"(module { func @main(%x: f32[2]) -> (%r) {
    %w = const f32[2] {1, 2}
    %m = mul(%x, %x) from "M"
    %a = add(%w, %m) from "A"
    %q = relu(%a) from "R"
    %r = relu(%q)
  } })"),
            R"(module {
  func @main(%x: f32[2]) -> (%sums_0) {
    %w = const f32[2] {1, 2}
    %sums_0 = @sums_0(%x, %w) : f32[2] from "M", "A", "R"
  }
  func @sums_0(%x: f32[2], %w: f32[2]) -> (%r) attrs {target="sums"} {
    %q = @sums_0_mul_add_relu_0(%x, %w) : f32[2] from "M", "A", "R"
    %r = relu(%q) : f32[2]
  }
  func @sums_0_mul_add_relu_0(%p0: f32[2], %p1: f32[2]) -> (%q) attrs {composite="mul_add_relu"} {
    %m = mul(%p0, %p0) : f32[2] from "M"
    %a = add(%p1, %m) : f32[2] from "A"
    %q = relu(%a) : f32[2] from "R"
  }
}
)");
}

TEST_F(PartitionTest, ACompositesInsideIsNotUsedElsewhere) {
  Use({&sums_, &host_});
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%r, %m) {
    %w = const f32[2] {1, 2}
    %m = mul(%x, %x)
    %a = add(%m, %w)
    %r = relu(%a)
  } })"),
              ElementsAre("mul", "add", "sums_0"));
}

// A dequantized value that several operators read is part of each composite,
// and a view may be inside of one.
TEST_F(PartitionTest, CompositesHoldTheDequantizeOfTheirOperands) {
  TargetKind bytes = Toy("bytes", {});
  const Pattern x = Pattern::Maybe(
      {"reshape"},
      Pattern::Op({"dequantize"}, {Pattern::Any(), Pattern::Constant()}));
  bytes.patterns = {{"quantized_relu",
                     Pattern::Op({"quantize"}, {Pattern::Op({"relu"}, {x}),
                                                Pattern::Constant()}),
                     nullptr}};
  constexpr char kText[] = R"(module {
    func @main(%x: f32[2, 3]) -> (%a, %b) {
      %s = const f32[] {0.5}
      %q = quantize(%x, %s) {dtype=i8}
      %d = dequantize(%q, %s)
      %r = relu(%d)
      %e = quantize(%r, %s) {dtype=i8}
      %a = cast(%e) {dtype=f32}
      %f = reshape(%d) {shape=[6]}
      %t = relu(%f)
      %u = quantize(%t, %s) {dtype=i8}
      %b = cast(%u) {dtype=f32}
    }
  })";
  Use({&bytes, &host_});
  EXPECT_THAT(Run(kText), Not(HasSubstr("composite")));
  bytes.takes_dequantized = true;
  EXPECT_THAT(Calls(kText),
              ElementsAre("quantize", "bytes_0", "cast", "bytes_1", "cast"));
}

TEST_F(PartitionTest, SmallRegionsStay) {
  Use({&adder_, &muls_, &host_}, " -min-region=2");
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%y) {
    %a = sub(%x, %x) from "A"
    %e = exp(%a)
    %b = add(%e, %x) from "B"
    %y = mul(%b, %x)
  } })"),
              ElementsAre("sub", "exp", "muls_0"));
  EXPECT_EQ(context_.refusals["B"][0].reason,
            "its region of 1 operators is smaller than 2");
}

TEST_F(PartitionTest, Pins) {
  Use({&adder_, &muls_, &host_});
  context_.pins = {{"A", "muls"}, {"B", "host"}};
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%y) {
    %a = add(%x, %x) from "A"
    %b = add(%a, %x) from "B"
    %y = add(%b, %x) from "C"
  } })"),
              ElementsAre("muls_0", "add", "adder_0"));
  EXPECT_EQ(context_.refusals["A"][0].reason, "is pinned to muls");
}

TEST_F(PartitionTest, PinsInTheText) {
  Use({&adder_, &muls_, &host_});
  EXPECT_THAT(Calls(R"(module { func @main(%x: f32[2]) -> (%y) {
    %a = add(%x, %x) {target="muls"}
    %y = add(%a, %x)
  } })"),
              ElementsAre("muls_0", "adder_0"));
}

TEST_F(PartitionTest, PinsThatCannotBe) {
  Use({&adder_, &host_});
  const char* kText = R"(module { func @main(%x: f32[2]) -> (%y) {
    %y = exp(%x) from "E"
  } })";
  context_.pins = {{"E", "adder"}};
  EXPECT_THAT(Run(kText), HasSubstr("node E is pinned to adder, which does not "
                                    "take it: does not know exp"));
  context_.pins = {{"E", "gpu"}};
  EXPECT_THAT(Run(kText),
              HasSubstr("node E is pinned: 'gpu' is none of the targets; they "
                        "are: adder, host"));
}

TEST_F(PartitionTest, ASecondTargetWithoutRegionsGetsItsPins) {
  TargetKind small;
  small.name = "small";
  Use({&adder_, &host_, &small});
  context_.pins = {{"E", "small"}};
  EXPECT_THAT(Run(R"(module { func @main(%x: f32[2]) -> (%y) {
    %a = exp(%x) from "E"
    %b = exp(%a)
    %y = add(%b, %x)
  } })"),
              HasSubstr("exp(%x) {target=\"small\"}"));
}

}  // namespace
}  // namespace ingot::relay
