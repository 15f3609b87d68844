// Checks what every operator's definition promises, and how calls read it.
#include "compiler/relay/op.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/ops/register_all.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(const Ints& shape) {
  return {DataType::Float(32), MakeShape(shape)};
}

class OpTest : public testing::Test {
 protected:
  OpTest() : f_(module_.AddFunction("main")) {}

  Node* Call(absl::string_view op, const std::vector<Ints>& shapes,
             Attrs attrs = {}) {
    std::vector<Value> inputs;
    for (const Ints& shape : shapes) {
      inputs.push_back(Value{f_->AddInput("x", F32(shape))});
    }
    absl::StatusOr<Node*> node = f_->AddOp(op, "", inputs, attrs);
    EXPECT_TRUE(node.ok()) << node.status();
    return node.ok() ? *node : nullptr;
  }

  Module module_;
  Function* f_;
};

// The values are those of ONNX's operators of the same names.
TEST_F(OpTest, DefaultsOfAttributesThatAreLeftOut) {
  EXPECT_EQ(Call("leaky_relu", {{2}})->attrs.Get<double>("alpha"), 0.01);
  EXPECT_EQ(Call("hard_sigmoid", {{2}})->attrs.Get<double>("alpha"), 0.2);
  EXPECT_EQ(Call("gelu", {{2}})->attrs.Get<std::string>("approximate"), "none");
  EXPECT_EQ(Call("softmax", {{2}})->attrs.Get<int64_t>("axis"), -1);
  EXPECT_EQ(Call("flatten", {{2, 3}})->attrs.Get<int64_t>("axis"), 1);
  EXPECT_EQ(Call("argmax", {{2, 3}})->attrs.Get<int64_t>("axis"), 0);
  const Node* conv = Call("conv1d", {{1, 2, 5}, {3, 2, 1}});
  EXPECT_EQ(conv->attrs.Get<std::string>("data_layout"), "NCW");
  EXPECT_EQ(conv->attrs.Get<std::string>("kernel_layout"), "OIW");
  EXPECT_EQ(conv->attrs.Get<int64_t>("groups"), 1);
}

TEST_F(OpTest, StoredAttributesWinAndAreAllThatPrints) {
  const Node* node = Call("leaky_relu", {{2}}, {{"alpha", 0.5}});
  EXPECT_TRUE(node->attrs.Has("alpha"));
  EXPECT_EQ(node->attrs.Get<double>("alpha"), 0.5);
  const Node* plain = Call("leaky_relu", {{2}});
  EXPECT_FALSE(plain->attrs.Has("alpha"));
  EXPECT_EQ(plain->attrs.Find<double>("alpha"), nullptr);
  EXPECT_EQ(Print(plain->attrs), "");
}

TEST_F(OpTest, OneDefaultForEachDimension) {
  const Node* conv = Call("conv2d", {{1, 2, 5, 5}, {3, 2, 3, 3}},
                          {{"pads", Ints{1, 0, 1, 0}}, {"strides", Ints{}}});
  EXPECT_EQ(conv->attrs.GetEach("strides", 2), (Ints{1, 1}));
  EXPECT_EQ(conv->attrs.GetEach("dilations", 2), (Ints{1, 1}));
  EXPECT_EQ(conv->attrs.GetEach("pads", 4), (Ints{1, 0, 1, 0}));
}

TEST_F(OpTest, DefaultsReachCopiesAndInferenceOfUnboundAttributes) {
  const Node* node = Call("flatten", {{2, 3, 4}});
  const Attrs copy = node->attrs;
  EXPECT_EQ(copy.Get<int64_t>("axis"), 1);
  const auto types = InferTypes(*node->op, node->inputs, Attrs());
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ(ToString((*types)[0]), "f32[2, 12]");
}

// A run checks nothing of a slice of no elements, whichever way it goes.
TEST_F(OpTest, SlicesOfNothingRelyOnNothing) {
  for (const int64_t step : {1, 2, -1, -3}) {
    const Node* slice = Call("slice", {{2, 0}},
                             {{"axes", Ints{1}},
                              {"starts", MakeShape({0})},
                              {"ends", MakeShape({0})},
                              {"steps", Ints{step}}});
    ASSERT_NE(slice, nullptr);
    std::vector<DimAssumption> assumed;
    const auto types =
        InferTypes(*slice->op, slice->inputs, slice->attrs, &assumed);
    ASSERT_TRUE(types.ok()) << types.status();
    EXPECT_EQ(ToString((*types)[0]), "f32[2, 0]");
    EXPECT_TRUE(assumed.empty()) << "step " << step;
  }
}

// Dimensions of which a run knows which are 1: layers that broadcast the same
// ones again have the same dimensions, in whatever order they come.
TEST_F(OpTest, DimensionsThatBroadcastAgainDoNotGrow) {
  const auto input = [&](const char* symbol) {
    return Value{f_->AddInput(
        "x", {DataType::Float(32), {module_.Symbol(symbol), tir::MakeInt(4)}})};
  };
  const auto add = [&](const Value& a, const Value& b) {
    const absl::StatusOr<Node*> node = f_->AddOp("add", "", {a, b});
    EXPECT_TRUE(node.ok()) << node.status();
    return node.ok() ? Value{*node} : a;
  };
  const Value a = input("a"), b = input("b"), c = input("c");
  const Value ab = add(a, b);
  EXPECT_EQ(ToString(ab.type()), "f32[min(min(a, b), 1) * max(a, b), 4]");
  const Value abc = add(ab, c);
  Value x = abc;
  for (int layer = 0; layer < 50; ++layer) {
    for (const Value& other : {a, c, add(b, ab), add(c, b), abc, add(ab, ab)}) {
      x = layer % 2 == 0 ? add(x, other) : add(other, x);
      ASSERT_TRUE(SameShape(x.type().shape, abc.type().shape))
          << ToString(x.type());
    }
  }
  // Every case that a run may have.
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {1, 1, 1}, {1, 3, 1}, {3, 1, 3}, {1, 0, 1}, {0, 1, 0}, {5, 5, 1}}) {
    int64_t extent = 1;
    for (const int64_t size : sizes) extent = extent == 1 ? size : extent;
    std::map<const tir::Var*, tir::Expr> values;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Value& of = i == 0 ? a : i == 1 ? b : c;
      values[tir::As<tir::Var>(of.type().shape[0])] = tir::MakeInt(sizes[i]);
    }
    EXPECT_TRUE(tir::IsConstInt(
        SimplifyDim(tir::Substitute(x.type().shape[0], values)), extent));
  }
}

TEST(OpRegistryTest, RefusesDefinitionsThatContradictThemselves) {
  const auto refused = [](void (*change)(OpDef*)) {
    OpDef def;
    def.name = "twice";
    def.infer = [](const InferContext&) { return std::vector<TensorType>(); };
    OpRegistry registry;
    EXPECT_TRUE(registry.Register(def).ok());
    def.name = "thrice";
    change(&def);
    return absl::IsInvalidArgument(registry.Register(def));
  };
  EXPECT_TRUE(refused([](OpDef* def) { def->infer = nullptr; }));
  EXPECT_TRUE(refused([](OpDef* def) {
    def->attrs = {{"axis", AttrKind::kInt, "", false, AttrValue(1.5)}};
  }));
  EXPECT_TRUE(refused([](OpDef* def) {
    def->attrs = {{"axis", AttrKind::kInt, "", true, AttrValue(int64_t{1})}};
  }));
  EXPECT_TRUE(refused([](OpDef* def) {
    def->attrs = {{"a", AttrKind::kInt, ""}, {"a", AttrKind::kInt, ""}};
  }));
  EXPECT_TRUE(refused([](OpDef* def) {
    def->attrs = {
        {"pads", AttrKind::kInts, "", false, AttrValue(Ints{}), true}};
  }));
  EXPECT_TRUE(refused([](OpDef* def) {
    def->step = ExecutorStep::kBindDims;
    def->fusion = FusionKind::kView;
  }));
}

TEST(StandardOpsTest, EachSaysWhatItIs) {
  for (const OpDef* op : StandardOps().All()) {
    EXPECT_FALSE(op->doc.empty()) << op->name;
    for (const AttrSpec& spec : op->attrs) {
      EXPECT_FALSE(spec.doc.empty()) << op->name << "." << spec.name;
    }
    EXPECT_EQ(op->BackendOnly(),
              op->role() == OpRole::kKernel && op->compute == nullptr)
        << op->name;
  }
}

// -------------------------------------------------------------------- traits

Tensor Numbers(DataType t, const Ints& shape, int first) {
  Tensor tensor = *Tensor::Empty(t, shape);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    const int value = static_cast<int>((first + 5 * i) % 7) - 3;
    if (t == DataType::Float(32)) {
      tensor.mutable_data<float>()[i] = static_cast<float>(value) * 0.5f;
    } else if (t == DataType::Int(64)) {
      tensor.mutable_data<int64_t>()[i] = value;
    } else {
      tensor.mutable_data<uint8_t>()[i] = value > 0;
    }
  }
  return tensor;
}

TEST(TraitTest, OperatorsThatCommuteGiveTheSameEitherWay) {
  int tried = 0;
  for (const OpDef* op : StandardOps().All()) {
    if (!op->Has(kCommutes)) continue;
    ASSERT_EQ(op->min_inputs, 2) << op->name;
    ASSERT_EQ(op->max_inputs, 2) << op->name;
    for (DataType t :
         {DataType::Float(32), DataType::Int(64), DataType::Bool()}) {
      Module module;
      Function* f = module.AddFunction("main");
      const Value a{f->AddConstant("a", Numbers(t, {3, 5}, 1))};
      const Value b{f->AddConstant("b", Numbers(t, {5}, 2))};
      const auto ab = f->AddOp(op->name, "ab", {a, b});
      if (!ab.ok()) continue;  // not of this type
      const auto ba = f->AddOp(op->name, "ba", {b, a});
      ASSERT_TRUE(ba.ok()) << ba.status();
      const auto x = EvaluateNode(**ab), y = EvaluateNode(**ba);
      ASSERT_TRUE(x.ok()) << x.status();
      ASSERT_TRUE(y.ok()) << y.status();
      ASSERT_EQ((*x)[0].TypeString(), (*y)[0].TypeString());
      EXPECT_EQ(std::string(static_cast<const char*>((*x)[0].raw_data()),
                            (*x)[0].bytes()),
                std::string(static_cast<const char*>((*y)[0].raw_data()),
                            (*y)[0].bytes()))
          << op->name;
      ++tried;
    }
  }
  EXPECT_GE(tried, 15);
}

TEST(TraitTest, OnlyPointwiseOperatorsFollowALayoutAsTheyAre) {
  for (const OpDef* op : StandardOps().All()) {
    if (op->layout_rule != LayoutRule::kFollows) continue;
    EXPECT_TRUE(op->IsPointwise()) << op->name;
    EXPECT_EQ(op->role(), OpRole::kKernel) << op->name;
  }
  // Their elements depend on where they are, or on which channel that is.
  for (const char* name : {"trilu", "expand", "one_hot", "batch_norm"}) {
    EXPECT_EQ(StandardOps().Find(name)->layout_rule, LayoutRule::kPlainOnly)
        << name;
  }
}

TEST(TraitTest, LayoutRulesFindTheAttributesThatTheyRewrite) {
  const auto has = [](const OpDef* op, std::vector<const char*> names) {
    for (const char* name : names) {
      EXPECT_NE(op->FindAttr(name), nullptr) << op->name << "." << name;
    }
  };
  for (const OpDef* op : StandardOps().All()) {
    switch (op->layout_rule) {
      case LayoutRule::kPlainOnly:
      case LayoutRule::kFollows:
        break;
      case LayoutRule::kChooses:
        has(op, {"data_layout", "kernel_layout", "groups"});
        break;
      case LayoutRule::kLayoutAttribute:
        has(op, {"layout"});
        break;
      case LayoutRule::kConcatenates:
        has(op, {"axis"});
        break;
      case LayoutRule::kSlices:
        has(op, {"axes", "starts", "ends", "steps"});
        break;
      case LayoutRule::kPads:
        has(op, {"pads"});
        break;
      case LayoutRule::kResizes:
        has(op, {"sizes", "scales"});
        break;
      case LayoutRule::kReshapes:
        EXPECT_EQ(op->role(), OpRole::kView) << op->name;
        break;
      case LayoutRule::kMovesChannels:
        has(op, {"blocks", "mode"});
        break;
      case LayoutRule::kTurns:
        has(op, {"axes"});
        break;
    }
  }
}

}  // namespace
}  // namespace ingot::relay
