#include "compiler/target/target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

TEST(ParseTarget, KindAlone) {
  absl::StatusOr<Target> t = ParseTarget("  llvm ");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->kind, "llvm");
  EXPECT_EQ(t->key, "host");
  EXPECT_TRUE(t->options.empty());
  EXPECT_EQ(t->ToString(), "llvm");
}

TEST(ParseTarget, KeyAndOptions) {
  absl::StatusOr<Target> t =
      ParseTarget("little: llvm -mcpu=cortex-a53 -mattr=+neon,-sve -fast");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->key, "little");
  EXPECT_EQ(t->Option("mcpu", ""), "cortex-a53");
  EXPECT_EQ(t->Option("mattr", ""), "+neon,-sve");
  EXPECT_EQ(t->Option("fast", ""), "1");
  EXPECT_EQ(t->Option("mtriple", "none"), "none");
}

TEST(ParseTarget, PrintsAndParsesBack) {
  for (const char* text :
       {"llvm", "c -O=3 -cc=clang-19", "x: c -cc=\"gcc -m32\"",
        "llvm -mattr=+avx2,+fma -mcpu=native",
        "c -a=\"\" -b=\"q\\\"\\\\,z\""}) {
    absl::StatusOr<Target> t = ParseTarget(text);
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->ToString(), text);
  }
}

TEST(ParseTarget, AFlagPrintsAsOne) {
  absl::StatusOr<Target> t = ParseTarget("llvm --flag");
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->ToString(), "llvm -flag=1");
}

TEST(ParseTargets, CommasDivideUnlessTheyBelongToAValue) {
  auto all = ParseTargets("dnnl,llvm -mattr=+avx2,+fma,-avx512f,c -x=\"a,b\"");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].kind, "dnnl");
  EXPECT_EQ((*all)[1].Option("mattr", ""), "+avx2,+fma,-avx512f");
  EXPECT_EQ((*all)[2].Option("x", ""), "a,b");
}

TEST(ParseTarget, ErrorsSayWhere) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& c : {
           Case{"", "column 1: expected a target kind"},
           Case{"llvm,", "column 6: expected a target kind"},
           Case{"k:", "column 3: expected a target kind after the key"},
           Case{"llvm mcpu", "column 6: expected an option"},
           Case{"llvm -mcpu= -x", "column 12: expected a value"},
           Case{"llvm -a=\"b", "column 11: the closing quote is missing"},
           Case{"llvm -a=\"b\"c", "column 12: expected a space"},
           Case{"llvm -a=1 -a=2", "option -a is given twice"},
           Case{"llvm -", "column 7: expected an option's name"},
           Case{"llvm -a:1", "column 8: expected ="},
       }) {
    auto t = ParseTargets(c.text);
    ASSERT_FALSE(t.ok()) << c.text;
    EXPECT_EQ(t.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(c.expected));
  }
  EXPECT_FALSE(ParseTarget("a,b").ok());
}

TEST(ParseTargetVariants, NamesListsOfTargets) {
  auto variants = ParseTargetVariants(
      "v3: llvm -mcpu=x86-64-v3; big : dnnl, dsp: c -cc=\"a;b\" ");
  ASSERT_TRUE(variants.ok()) << variants.status();
  ASSERT_EQ(variants->size(), 2u);
  const TargetVariant& v3 = (*variants)[0];
  EXPECT_EQ(v3.name, "v3");
  EXPECT_EQ(v3.text, "llvm -mcpu=x86-64-v3");
  ASSERT_EQ(v3.targets.size(), 1u);
  EXPECT_EQ(v3.targets[0].key, "host");
  EXPECT_EQ(v3.targets[0].Option("mcpu", ""), "x86-64-v3");
  const TargetVariant& big = (*variants)[1];
  EXPECT_EQ(big.name, "big");
  EXPECT_EQ(big.text, "dnnl, dsp: c -cc=\"a;b\"");
  ASSERT_EQ(big.targets.size(), 2u);
  EXPECT_EQ(big.targets[1].key, "dsp");
  EXPECT_EQ(big.targets[1].Option("cc", ""), "a;b");
}

TEST(ParseTargetVariants, TextWithoutSemicolonsIsOneWithoutAName) {
  for (const char* text : {"small: c", "dnnl,llvm -O=2", "c -cc=\"a;b\""}) {
    auto variants = ParseTargetVariants(text);
    ASSERT_TRUE(variants.ok()) << variants.status();
    ASSERT_EQ(variants->size(), 1u);
    EXPECT_EQ((*variants)[0].name, "");
    EXPECT_EQ((*variants)[0].text, text);
    EXPECT_EQ((*variants)[0].targets[0].ToString(),
              ParseTargets(text)->front().ToString());
  }
}

TEST(ParseTargetVariants, ErrorsSayWhere) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& c : {
           Case{"llvm; b: c", "column 5: expected a colon"},
           Case{"a: llvm;", "column 9: expected the name of a variant"},
           Case{"a: llvm; a: c", "two variants are called a"},
           Case{"a.b: llvm; c: c", "must not hold a dot"},
           Case{"host: llvm; c: c", "what variants share"},
           Case{"a: ; c: c", "column 4: expected a target kind"},
       }) {
    auto variants = ParseTargetVariants(c.text);
    ASSERT_FALSE(variants.ok()) << c.text;
    EXPECT_EQ(variants.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(variants.status().message()),
                HasSubstr(c.expected));
  }
  EXPECT_THAT(std::string(ParseTargets("a: llvm; b: c").status().message()),
              HasSubstr("column 8: several variants"));
}

TEST(TargetRegistry, FindsAndChecks) {
  TargetRegistry registry;
  TargetKind kind;
  kind.name = "zeta";
  kind.options = {{"mcpu", {"the processor", ""}}, {"O", {"level", "3"}}};
  kind.check = [](const Target& t) {
    return t.Option("O", "3") == "9"
               ? absl::InvalidArgumentError("-O must be 0 to 3")
               : absl::OkStatus();
  };
  ASSERT_TRUE(registry.Register(kind).ok());
  EXPECT_EQ(registry.Register(kind).code(), absl::StatusCode::kAlreadyExists);
  TargetKind other;
  other.name = "alpha";
  ASSERT_TRUE(registry.Register(other).ok());
  EXPECT_FALSE(registry.Register(TargetKind{}).ok());

  ASSERT_EQ(registry.All().size(), 2u);
  EXPECT_EQ(registry.All()[0]->name, "alpha");

  auto check = [&](const char* text) {
    return registry.Check(*ParseTarget(text)).status();
  };
  EXPECT_TRUE(check("zeta -mcpu=x").ok());
  EXPECT_THAT(std::string(check("zeta -nope=x").message()),
              HasSubstr("no option -nope; it has -O, -mcpu"));
  EXPECT_THAT(std::string(check("zeta -mcp=x").message()),
              HasSubstr("no option -mcp; did you mean -mcpu?"));
  EXPECT_THAT(std::string(check("alpha -nope=x").message()),
              HasSubstr("it has no options"));
  EXPECT_THAT(std::string(check("zeta -O=9").message()),
              HasSubstr("-O must be"));
  EXPECT_EQ(check("beta").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(check("beta").message()),
              HasSubstr("known: alpha, zeta"));
  EXPECT_THAT(std::string(check("zetta").message()),
              HasSubstr("did you mean zeta? known: alpha, zeta"));
}

// Two kinds: one with regions, which takes relu and neg, and one that takes
// every operator.
TargetRegistry RegionsAndHost() {
  TargetRegistry registry;
  TargetKind npu;
  npu.name = "npu";
  npu.min_region = 2;
  npu.operators = {"relu", "neg"};
  npu.relay_to_runtime = [](const Target&, const relay::Module&,
                            const relay::Function&, absl::string_view) {
    return absl::StatusOr<CodegenResult>(CodegenResult());
  };
  EXPECT_TRUE(registry.Register(npu).ok());
  TargetKind host;
  host.name = "cpu";
  EXPECT_TRUE(registry.Register(host).ok());
  return registry;
}

TEST(TargetRegistry, KindsWithRegionsHaveTheOptionMinRegion) {
  const TargetRegistry registry = RegionsAndHost();
  const auto check = [&](const char* text) {
    return registry.Check(*ParseTarget(text)).status();
  };
  EXPECT_TRUE(check("npu -min-region=3").ok());
  EXPECT_THAT(std::string(check("npu -minregion=3").message()),
              HasSubstr("no option -minregion; did you mean -min-region?"));
  EXPECT_THAT(std::string(check("npu -min-region=0").message()),
              HasSubstr("wants a number of operators, 1 or more"));
  EXPECT_THAT(std::string(check("cpu -min-region=3").message()),
              HasSubstr("it has no options"));
  const auto& options = (*registry.Find("npu"))->options;
  ASSERT_EQ(options.count("min-region"), 1u);
  EXPECT_EQ(options.at("min-region").otherwise, "2");
}

TEST(TargetRegistry, KindsTakeOperatorsThatThereAre) {
  TargetRegistry registry;
  TargetKind npu;
  npu.name = "npu";
  npu.operators = {"neg"};
  EXPECT_THAT(registry.Register(npu).message(),
              HasSubstr("npu says which operators it takes, but has "
                        "neither of the hooks relay_to_runtime"));
  npu.relay_to_runtime =
      [](const Target&, const relay::Module&, const relay::Function&,
         absl::string_view) -> absl::StatusOr<CodegenResult> {
    return CodegenResult();
  };
  npu.operators = {"neg", "reluu"};
  EXPECT_THAT(registry.Register(npu).message(),
              HasSubstr("npu takes 'reluu', which is no operator of relay; did "
                        "you mean "));
  // With composites, no list is no empty list.
  npu.operators = {};
  npu.patterns = {{"twice", relay::Pattern::Op({"neg"}), nullptr}};
  EXPECT_THAT(registry.Register(npu).message(),
              HasSubstr("npu has composites, but neither a list of operators "
                        "nor the hook supports"));
  npu.operators.emplace();
  EXPECT_EQ(registry.Register(npu), absl::OkStatus());
  npu.name = "other";
  npu.operators = {"neg", "relu"};
  EXPECT_EQ(registry.Register(npu), absl::OkStatus());
}

TEST(TargetRegistry, ListsWhoseOrderMakesSense) {
  const TargetRegistry registry = RegionsAndHost();
  const auto check = [&](const char* text) {
    return registry.CheckList(*ParseTargets(text));
  };
  EXPECT_TRUE(check("npu,cpu").ok());
  EXPECT_TRUE(check("npu").ok());
  EXPECT_TRUE(check("npu,a: npu -min-region=9,cpu,small: cpu").ok());
  EXPECT_EQ(check("npu,npu").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(check("npu,cpu,cpu").message()),
              HasSubstr("two targets are called 'cpu'"));
  EXPECT_THAT(
      std::string(check("cpu,big: npu -min-region=9,npu").message()),
      HasSubstr("big is never asked, because cpu in front of it takes every "
                "operator; write --target=big: npu -min-region=9,npu,cpu"));
  EXPECT_EQ(registry.CheckList({}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ingot
