// Every rewrite rule, and every pass, on values of every kind. Rules and
// operators are taken from their registries, so new ones are tried as well.
#include "compiler/relay/passes/rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/node_kinds.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/rule_examples.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// Operators for which the search finds no valid call, and why.
const std::map<std::string, std::string>& NotSampled() {
  constexpr char kRelated[] = "extents of many operands depend on each other";
  static const auto* const ops = new std::map<std::string, std::string>{
      {"conv_transpose1d", kRelated},
      {"custom", "what it computes is the business of its backend"},
      {"deform_columns", kRelated},
      {"dense_bits", kRelated},
      {"dense_bits_packed", kRelated},
      {"conv2d_parts", kRelated},
      {"conv2d_words", kRelated},
      {"dense_parts", kRelated},
      {"dfa_match", "tables that only the regex compiler makes"},
      {"gru", kRelated},
      {"linear_attention", kRelated},
      {"look_up", "a table of 256 elements"},
      {"lstm", kRelated},
      {"non_max_suppression", kRelated},
      {"rnn", kRelated},
      {"roi_align", kRelated},
      {"take_pieces", "pieces that only find_pieces gives"},
      {"update_slice", "places that must be within the operand"},
      {"winograd_conv2d", kRelated},
  };
  return *ops;
}

// Operators whose results are only defined for what another one gave.
const std::set<std::string>& NotCompared() {
  // Its count must be that of its operand.
  static const auto* const ops = new std::set<std::string>{"nonzero"};
  return *ops;
}

bool RunsAndKeepsMeaning(const OpDef& op, Module* module,
                         const std::vector<std::string>& passes) {
  return NotCompared().count(op.name) > 0 ? RunForTest(passes, module)
                                          : KeepsMeaning(module, passes);
}

TEST(RulesTest, AreNamedAndReadOnlyOperandsThatAreThere) {
  std::set<std::string> names;
  for (const RuleTable& table : AllRuleTables()) {
    EXPECT_NE(FindPass(AllPasses(), table.pass), nullptr) << table.pass;
    for (const Rule& rule : table.rules) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
      if (rule.op[0] == '\0') continue;
      const OpDef* op = StandardOps().Find(rule.op);
      ASSERT_NE(op, nullptr) << rule.name;
      // Else the rule would pass by calls that its author had in mind.
      EXPECT_LE(rule.operands, op->min_inputs) << rule.name;
    }
  }
  for (const auto& [name, text] : RuleExamples()) {
    EXPECT_EQ(names.count(name), 1u) << "no rule is called " << name;
  }
}

// Each alone, on a module that it was written for.
TEST(RulesTest, ApplyAndKeepTheMeaning) {
  const std::map<std::string, std::string> examples = RuleExamples();
  for (const RuleTable& table : AllRuleTables()) {
    for (const Rule& rule : table.rules) {
      SCOPED_TRACE(rule.name);
      auto example = examples.find(rule.name);
      ASSERT_NE(example, examples.end()) << "add one to rule_examples.cc";
      const auto module = ParseForTest(example->second);
      ASSERT_NE(module, nullptr);
      const auto changed = ApplyRules(module->main(), {&rule, 1});
      ASSERT_TRUE(changed.ok()) << changed.status();
      EXPECT_TRUE(*changed) << Print(*module);
      CheckKeepsMeaning(example->second, {table.pass});
    }
  }
}

// On what the examples become with other leaves, of other shapes and kinds,
// and with generated constants in the place of what the rules look at.
TEST(RulesTest, KeepTheMeaningOfEveryVariant) {
  const std::map<std::string, std::string> examples = RuleExamples();
  int tried = 0;
  for (const RuleTable& table : AllRuleTables()) {
    for (const Rule& rule : table.rules) {
      const std::string& text = examples.at(rule.name);
      const int count = NumVariants(text);
      for (int variant = 0; variant < count; ++variant) {
        std::string name;
        const auto module = MakeVariant(text, variant, &name);
        if (module == nullptr) continue;
        SCOPED_TRACE(absl::StrCat(rule.name, ": ", name));
        ++tried;
        if (!KeepsMeaning(module.get(), {table.pass})) break;
      }
    }
  }
  EXPECT_GT(tried, 500);
}

// Calls of every operator on operands of every kind.
TEST(PassesTest, TakeEveryOperator) {
  constexpr int kTries = 6000, kSamples = 10;
  for (const OpDef* op : StandardOps().All()) {
    if (NotSampled().count(op->name) > 0) continue;
    int samples = 0;
    bool sound = true;
    for (int seed = 0; seed < kTries && samples < kSamples && sound; ++seed) {
      SCOPED_TRACE(absl::StrCat(op->name, ", seed ", seed));
      const auto module = SampleCall(*op, seed);
      if (module == nullptr) continue;
      ++samples;
      for (const Pass& pass : AllPasses()) {
        const auto again = SampleCall(*op, seed);
        sound = sound && RunsAndKeepsMeaning(*op, again.get(), {pass.name});
      }
      sound = sound && RunsAndKeepsMeaning(*op, module.get(), DefaultPasses(2));
    }
    EXPECT_GT(samples, 0) << op->name << ": extend the search, or list it";
  }
}

}  // namespace
}  // namespace ingot::relay
