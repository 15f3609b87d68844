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

TEST(TargetRegistry, FindsAndChecks) {
  TargetRegistry registry;
  TargetKind kind;
  kind.name = "zeta";
  kind.options = {{"mcpu", "the processor"}, {"O", "level"}};
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
  EXPECT_THAT(std::string(check("alpha -nope=x").message()),
              HasSubstr("it has no options"));
  EXPECT_THAT(std::string(check("zeta -O=9").message()),
              HasSubstr("-O must be"));
  EXPECT_EQ(check("beta").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(check("beta").message()),
              HasSubstr("known: alpha, zeta"));
}

}  // namespace
}  // namespace ingot
