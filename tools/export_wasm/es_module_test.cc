#include "tools/export_wasm/es_module.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plan ParsePlan(const std::string& text) {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  return plan;
}

std::string Module(const Plan& plan, const WeightsBeside* weights = nullptr) {
  const auto text = EsModule(plan, "net", weights);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

TEST(EsModuleTest, DescribesFixedShapes) {
  const std::string text = Module(ParsePlan(R"(
    entry: 'net'
    types { dtype { code: 2 bits: 32 } shape { value: 1 } shape { value: 3 } } tensors { name: 'x' type: 0  
               }
    types { dtype { code: 0 bits: 64 } } tensors { name: 'y' type: 1  }
    inputs: 0 outputs: 1)"));
  EXPECT_THAT(text, HasSubstr("const PREFIX = 'net';"));
  EXPECT_THAT(text, HasSubstr("const WEIGHTS = null;"));
  EXPECT_THAT(
      text, HasSubstr("inputs = [{name: \"x\", type: 'f32', shape: [1, 3]}]"));
  EXPECT_THAT(text,
              HasSubstr("outputs = [{name: \"y\", type: 'i64', shape: []}]"));
  EXPECT_THAT(text, HasSubstr("const BINDINGS = [];"));
  EXPECT_THAT(text, HasSubstr("const SHAPES = () => [[1, 3], []];"));
  EXPECT_THAT(text, HasSubstr("export async function load("));
}

// A symbol is bound where it first stands alone, in the order of the plain
// functions' parameters.
TEST(EsModuleTest, ComputesOpenDimensions) {
  const std::string text = Module(ParsePlan(R"(
    symbols { name: 'n' } symbols { name: 'm' }
    types { dtype { code: 2 bits: 32 } shape { op: MUL operands { op: SYMBOL } operands { value: 2 } } shape { op: SYMBOL value: 1 } shape { op: SYMBOL } } tensors { name: 'x' type: 0 
                }
    types { dtype { code: 2 bits: 32 } shape { op: FLOOR_DIV operands { op: SYMBOL } operands { value: 2 } } shape { op: FLOOR_MOD operands { op: SYMBOL value: 1 } operands { value: 3 } } shape { op: SUB operands { op: SYMBOL } operands { value: -1 } } shape { op: MIN operands { op: SYMBOL } operands { value: 4 } } shape { op: MAX operands { op: ADD operands { op: SYMBOL } operands { op: SYMBOL value: 1 } } operands { value: 0 } } } tensors { name: 'y' type: 1 
               }
    inputs: 0 outputs: 1)"));
  EXPECT_THAT(text, HasSubstr("shape: [\"n*2\", \"m\", \"n\"]"));
  EXPECT_THAT(text, HasSubstr("const BINDINGS = [[0, 1], [0, 2]];"));
  EXPECT_THAT(
      text, HasSubstr("const SHAPES = (d1, d0) => [[(d0 * 2), d1, d0], "
                      "[Math.floor(d0 / 2), "
                      "((a, b) => a - b * Math.floor(a / b))(d1, 3), "
                      "(d0 - -1), Math.min(d0, 4), Math.max((d0 + d1), 0)]]"));
}

TEST(EsModuleTest, NamesStayText) {
  const std::string text = Module(ParsePlan(R"(
    entry: 'net\nalert(1)//'
    types { dtype { code: 2 bits: 32 } } tensors { name: 'x", evil: `\n' type: 0  }
    inputs: 0)"));
  EXPECT_THAT(text, HasSubstr("// The model net\\nalert(1)//, compiled"));
  EXPECT_THAT(text, HasSubstr("{name: \"x\\\", evil: `\\n\", type: 'f32'"));
  EXPECT_THAT(text, Not(HasSubstr("\nalert(1)")));
}

TEST(EsModuleTest, SaysWhereWeightsGo) {
  const WeightsBeside weights = {"net_constants_0123", 640};
  EXPECT_THAT(
      Module(ParsePlan("entry: 'net'"), &weights),
      HasSubstr("WEIGHTS = {symbol: 'net_constants_0123', bytes: 640}"));
}

}  // namespace
}  // namespace ingot
