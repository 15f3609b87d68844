#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/examplejson/inspectors.h"
#include "backends/examplejson/loader.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/bare_file.h"
#include "loaders/load.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::GenerateRegion;
using testing_support::TextOf;
using testing_support::WhyNot;

TEST(Examplejson, WritesTheGuidesForm) {
  auto set = GenerateRegion("examplejson", R"(module {
    func @main(%a: f32[10, 10], %b: f32[10, 10], %c: f32[10, 10], %d: f32[10, 10]) -> (%out, %sum) {
      %sum = add(%a, %b)
      %difference = sub(%sum, %c)
      %tenth = const f32[1] {0.1}
      %scaled = mul(%difference, %tenth)
      %out = mul(%scaled, %d)
    }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->artifacts()[0].file_name, "region.examplejson");
  EXPECT_EQ(set->artifacts()[0].loader, "examplejson");
  EXPECT_EQ(TextOf(*set, "examplejson"), R"(region
  input 0 10 10
  input 1 10 10
  input 2 10 10
  input 3 10 10
  add 4 inputs: 0 1 shape: 10 10
  sub 5 inputs: 4 2 shape: 10 10
  const 6 shape: 1 values: 0.100000001
  mul 7 inputs: 5 6 shape: 10 10
  mul 8 inputs: 7 3 shape: 10 10
  outputs 8 4
)");
}

TEST(Examplejson, ShowsAGraphAsAFunction) {
  InspectorRegistry registry;
  ASSERT_TRUE(RegisterExamplejsonInspectors(&registry).ok());
  Artifact artifact;
  artifact.loader = "examplejson";
  artifact.file_name = "g.examplejson";
  const auto inspect = [&](std::string text) {
    artifact.content = Blob::FromString(std::move(text));
    return registry.Find(artifact)[0]->inspect(artifact, {});
  };
  EXPECT_EQ(*inspect("g\n input a 2 3\n const k shape: 1 values: 0.5\n"
                     " mul b inputs: a k shape: 2 3\n outputs b a\n"),
            "g(%a: f32[2, 3]) -> (%b, %a) {\n"
            "  %k: f32[1] = {0.5}\n"
            "  %b: f32[2, 3] = mul(%a, %k)\n"
            "}\n");
  EXPECT_THAT(std::string(inspect("g\n add 1\n").status().message()),
              HasSubstr("line 2"));
}

// Branches, constants, values that are two outputs, inputs that are one.
TEST(Examplejson, Runs) {
  EXPECT_EQ(CompareWithEvaluate("ej: examplejson,llvm", R"(module {
    func @main(%a: f32[3, 5], %b: f32[3, 5]) -> (%r#0, %r#1, %r#2, %r#3, %r#4) {
      %r = @r(%a, %b) : (f32[3, 5], f32[3, 5], f32[3, 5], f32[3, 5], f32[])
    }
    func @r(%a: f32[3, 5], %b: f32[3, 5]) -> (%s, %t, %s, %a, %third) attrs {target="ej"} {
      %s = add(%a, %b)
      %third = const f32[] {0.3333333}
      %u = mul(%third, %s)
      %t = sub(%u, %s)
    }
  })"),
            absl::OkStatus());
}

TEST(Examplejson, RunsTensorsOfEveryRankAndWithoutElements) {
  for (const char* shape : {"", "1", "7", "0", "2, 0, 3", "1, 2, 3, 4, 5, 6"}) {
    const std::string type = absl::StrCat("f32[", shape, "]");
    EXPECT_EQ(CompareWithEvaluate(
                  "examplejson",
                  absl::StrCat("module { func @main(%a: ", type, ", %b: ", type,
                               ") -> (%y) {",
                               "%s = add(%a, %b) %y = mul(%s, %b) } }")),
              absl::OkStatus())
        << type;
  }
}

TEST(Examplejson, SaysWhyNot) {
  EXPECT_EQ(WhyNot("examplejson",
                   "module { func @main(%a: f32[2]) -> (%y) {"
                   "%y = div(%a, %a) } }"),
            "only add, sub and mul");
  EXPECT_EQ(WhyNot("examplejson",
                   "module { func @main(%a: f32[n]) -> (%y) {"
                   "%y = add(%a, %a) } }"),
            "f32[n] has a dimension that is not known");
}

// A file written by hand, and nothing else.
absl::StatusOr<LoadedModel> LoadFile(const std::string& text) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/by_hand.examplejson");
  std::ofstream(path) << text;
  LoaderRegistry loaders;
  EXPECT_TRUE(RegisterExamplejsonLoader(&loaders).ok());
  LoadOptions options;
  options.read_set = [](absl::string_view file, const LoaderRegistry& known,
                        const ReadOptions& read) {
    return ReadSetOrBareFile(file, known, read);
  };
  return LoadPath(path, loaders, options);
}

TEST(Examplejson, RunsAFileThatAPersonWrote) {
  auto model =
      LoadFile(R"(# (a + b) * 2, and without an 'outputs' line its last value
by_hand
  input 7 2 2
  input 1 2 2

  add 3 inputs: 7 1 shape: 2 2
  const 2 shape: values: 2
  mul 4 inputs: 3 2 shape: 2 2
)");
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor a = *Tensor::Empty(DataType::Float(32), {2, 2});
  Tensor b = *Tensor::Empty(DataType::Float(32), {2, 2});
  for (int i = 0; i < 4; ++i) {
    a.mutable_data<float>()[i] = i;
    b.mutable_data<float>()[i] = 10;
  }
  auto outputs = testing_support::RunModel(*model, {a, b});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(20, 22, 24, 26));
}

TEST(Examplejson, RefusesWhatMakesNoSense) {
  struct Bad {
    const char* lines;  // after the name; \n between lines
    const char* message;
  };
  const std::vector<Bad> all = {
      {"", "the graph has no values"},
      {"input 0 4\noutputs 9", "line 3: '9' is no id of a line above"},
      {"input 0 4\nadd 1 inputs: 0 2 shape: 4\nadd 2 inputs: 0 1 shape: 4",
       "line 3: '2' is no id of a line above"},
      {"input 0 4\nadd 1 inputs: 0 1 shape: 4",
       "line 3: '1' is no id of a line above"},
      {"input 0 4\nadd 1 inputs: 0 -1 shape: 4",
       "line 3: '-1' is no id of a line above"},
      {"input 0 4\nadd 0 inputs: 0 0 shape: 4",
       "line 3: add needs an id of its own"},
      {"input", "line 2: input needs an id of its own"},
      {"input 0 4\nadd 1 inputs: 0 0 shape: 5",
       "line 3: an input of 4 elements, not 5"},
      {"input 0 4\nadd 1 inputs: 0 shape: 4", "line 3: add needs 2 inputs"},
      {"input 0 4\nadd 1 inputs: 0 0 0 shape: 4", "line 3: add needs 2 inputs"},
      {"input 0 4\nadd 1 shape: 4", "line 3: add needs 2 inputs, 0 values"},
      {"input 0 4\nadd 1 inputs: 0 0 shape: 4 values: 1 2 3 4",
       "line 3: add needs 2 inputs, 0 values"},
      {"input 0 -4", "line 2: shape [-4] has a negative"},
      {"input 0 4294967296 4294967296", "line 2: "},
      {"input 0 9223372036854775808", "line 2: '9223372036854775808' is no"},
      {"input 0 4.5", "line 2: '4.5' is not an integer"},
      {"input 0 4 inputs: 0", "line 2: 'inputs:' is not an integer"},
      {"const 0 shape: 2 values: 1", "line 2: const needs 0 inputs, 2 values"},
      {"const 0 shape: 1000000000000 values: 1", "line 2: const needs"},
      {"const 0 shape: 1 values: one", "line 2: 'one' is not an integer"},
      {"input 0 4\nexp 1 inputs: 0 shape: 4", "line 3: what is 'exp'?"},
      {"input 0 4\noutputs 0\noutputs 0", "line 4: a line after the outputs"},
      {"input: 0 4", "line 2: what is 'input:'?"},
      {"\x01\x02\xff", "line 2: what is"},
  };
  for (const Bad& bad : all) {
    const auto model = LoadFile(absl::StrCat("f\n", bad.lines));
    ASSERT_FALSE(model.ok()) << bad.lines;
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(bad.message))
        << bad.lines;
    EXPECT_THAT(std::string(model.status().message()),
                HasSubstr(": loader examplejson: by_hand.examplejson: "));
  }
  EXPECT_THAT(std::string(LoadFile("").status().message()),
              HasSubstr("the graph has no values"));
  EXPECT_THAT(std::string(LoadFile("two words").status().message()),
              HasSubstr("line 1: the first line must be the graph's name"));
}

// Nothing needs memory but what the caller brings.
TEST(Examplejson, RunsWhatWouldNotFitIntoMemory) {
  auto model = LoadFile(
      "f\ninput 0 1\nadd 1 inputs: 0 0 shape: "
      "1000000000 1000000\nsub 2 inputs: 1 1 shape: "
      "1000000000 1000000\nadd 3 inputs: 0 0 shape: 1");
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {1});
  x.mutable_data<float>()[0] = 1;
  auto outputs = testing_support::RunModel(*model, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(2));
}

// Outputs of several sizes, and some without elements, from one text; ids are
// any words.
TEST(Examplejson, RunsOutputsOfSeveralSizes) {
  auto model = LoadFile(
      "f\ninput none 0\ninput a 3\ninput b 2\nadd none2 inputs: none none "
      "shape: 0\nadd a2 inputs: a a shape: 3\nmul b2 inputs: b b shape: 2\n"
      "outputs b2 none2 a2 b");
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<Tensor> inputs;
  for (int n : {0, 3, 2}) {
    inputs.push_back(*Tensor::Empty(DataType::Float(32), {n}));
    for (int i = 0; i < n; ++i) {
      inputs.back().mutable_data<float>()[i] = static_cast<float>(n + i);
    }
  }
  auto outputs = testing_support::RunModel(*model, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 4u);
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(4, 9));
  EXPECT_THAT((*outputs)[1].values<float>(), ElementsAre());
  EXPECT_THAT((*outputs)[2].values<float>(), ElementsAre(6, 8, 10));
  EXPECT_THAT((*outputs)[3].values<float>(), ElementsAre(2, 3));
}

// Every prefix of a good file, and the file with any byte changed, loads or is
// an error.
TEST(Examplejson, DamageNeverCrashes) {
  const std::string good =
      "f\n  input 0 2 2\n  const 1 shape: 1 values: 0.5\n"
      "  mul 2 inputs: 0 1 shape: 2 2\n  outputs 2 0\n";
  int errors = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    errors += !LoadFile(good.substr(0, i)).ok();
    for (char c : {' ', '9', '-', ':', '\n', '\0'}) {
      std::string bad = good;
      bad[i] = c;
      errors += !LoadFile(bad).ok();
    }
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace ingot
