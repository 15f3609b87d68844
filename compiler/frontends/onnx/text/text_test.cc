// Operators that look for something in text, with ONNX's own cases (which are
// newer than operator set 17) and with what Python's split() and RE2 give.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Node = onnx::NodeProto;
using Strings = std::vector<std::string>;

struct Split {
  std::vector<int64_t> shape;  // of the pieces, in strings
  Strings pieces;
  std::vector<int64_t> counts;
};

constexpr int64_t kAlways = -1;

Split SplitText(const Tensor& x, const char* delimiter,
                int64_t maxsplit = kAlways) {
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator({"StringSplit", "", 20,
                   [&](Node* n) {
                     if (delimiter != nullptr) {
                       SetString(n, "delimiter", delimiter);
                     }
                     if (maxsplit != kAlways) SetInt(n, "maxsplit", maxsplit);
                   },
                   2},
                  {OfStorageType(x, kTextType)});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor &pieces = (*out)[0], &counts = (*out)[1];
  Split split;
  split.shape.assign(pieces.shape().begin(), pieces.shape().end() - 1);
  split.pieces = StringsOf(pieces);
  split.counts.assign(counts.values<int64_t>().begin(),
                      counts.values<int64_t>().end());
  return split;
}

// The pieces of one string.
Strings Pieces(const std::string& s, const char* delimiter,
               int64_t maxsplit = kAlways) {
  const Split split = SplitText(TextTensor({}, {s}), delimiter, maxsplit);
  EXPECT_THAT(split.counts,
              ElementsAre(static_cast<int64_t>(split.pieces.size())));
  return split.pieces;
}

TEST(StringSplitTest, TheCasesOfTheSpecification) {
  Split s = SplitText(TextTensor({2}, {"abc.com", "def.net"}), ".");
  EXPECT_THAT(s.shape, ElementsAre(2, 2));
  EXPECT_THAT(s.pieces, ElementsAre("abc", "com", "def", "net"));
  EXPECT_THAT(s.counts, ElementsAre(2, 2));

  s = SplitText(TextTensor({2, 2}, {"hello world", "def.net", "o n n x",
                                    "the quick brown fox"}),
                nullptr, 2);
  EXPECT_THAT(s.shape, ElementsAre(2, 2, 3));
  EXPECT_THAT(s.pieces,
              ElementsAre("hello", "world", "", "def.net", "", "", "o", "n",
                          "n x", "the", "quick", "brown fox"));
  EXPECT_THAT(s.counts, ElementsAre(2, 1, 3, 3));

  s = SplitText(TextTensor({2}, {"o-n-n--x-", "o-n----nx"}), "-");
  EXPECT_THAT(s.shape, ElementsAre(2, 6));
  EXPECT_THAT(s.pieces, ElementsAre("o", "n", "n", "", "x", "", "o", "n", "",
                                    "", "", "nx"));
  EXPECT_THAT(s.counts, ElementsAre(6, 6));

  for (const char* delimiter : {static_cast<const char*>(nullptr), ""}) {
    s = SplitText(TextTensor({3}, {"hello world !", "  hello   world !",
                                   " hello world   ! "}),
                  delimiter);
    EXPECT_THAT(s.shape, ElementsAre(3, 3));
    EXPECT_THAT(s.pieces, ElementsAre("hello", "world", "!", "hello", "world",
                                      "!", "hello", "world", "!"));
    EXPECT_THAT(s.counts, ElementsAre(3, 3, 3));
  }

  s = SplitText(TextTensor({0}, {}), nullptr);
  EXPECT_THAT(s.shape, ElementsAre(0, 0));
  EXPECT_THAT(s.counts, ElementsAre());
}

// The expected pieces are those of Python's str.split().
TEST(StringSplitTest, EmptyStringsAndWhatIsLeft) {
  EXPECT_THAT(Pieces("", "."), ElementsAre(""));
  EXPECT_THAT(Pieces("", nullptr), ElementsAre());
  EXPECT_THAT(Pieces(" \t\n\v\f\r ", nullptr), ElementsAre());
  EXPECT_THAT(Pieces(".", "."), ElementsAre("", ""));
  EXPECT_THAT(Pieces("a", "."), ElementsAre("a"));
  EXPECT_THAT(Pieces("a", "longer than this"), ElementsAre("a"));
  EXPECT_THAT(Pieces("a<>b<c<><>", "<>"), ElementsAre("a", "b<c", "", ""));
  EXPECT_THAT(Pieces("aaaaa", "aa"), ElementsAre("", "", "a"));
  EXPECT_THAT(Pieces("été à Paris", "é"), ElementsAre("", "t", " à Paris"));
  EXPECT_THAT(Pieces("a.b.c", ".", 0), ElementsAre("a.b.c"));
  EXPECT_THAT(Pieces("a.b.c", ".", 1), ElementsAre("a", "b.c"));
  EXPECT_THAT(Pieces("a.b.c", ".", 7), ElementsAre("a", "b", "c"));
  // After the last cut white space stays, but for that at its start.
  EXPECT_THAT(Pieces("  a  b c  ", nullptr, 0), ElementsAre("a  b c  "));
  EXPECT_THAT(Pieces("  a  b c  ", nullptr, 1), ElementsAre("a", "b c  "));
  EXPECT_THAT(Pieces("  a  ", nullptr, 1), ElementsAre("a"));
  EXPECT_THAT(Pieces("a\tb\xc2\xa0"
                     "c",
                     nullptr),
              ElementsAre("a",
                          "b\xc2\xa0"
                          "c"));
}

TEST(StringSplitTest, AllStringsMayBeEmpty) {
  const Split s = SplitText(TextTensor({2}, {"", " "}), nullptr);
  EXPECT_THAT(s.shape, ElementsAre(2, 0));
  EXPECT_THAT(s.counts, ElementsAre(0, 0));
}

TEST(StringSplitTest, TakesTextAlone) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator({"StringSplit", "", 20, nullptr, 2}, {Floats({1}, {1})})
          .status()));
}

// ------------------------------------------------------------------- patterns

absl::StatusOr<std::vector<Tensor>> FullMatch(const std::string& pattern,
                                              const Tensor& x) {
  return RunOperator({"RegexFullMatch", "", 20,
                      [&](Node* n) { SetString(n, "pattern", pattern); }},
                     {OfStorageType(x, kTextType)});
}

TEST(RegexFullMatchTest, TheCasesOfTheSpecification) {
  absl::StatusOr<std::vector<Tensor>> y = FullMatch(
      R"(www\.[\w.-]+\.\bcom\b)",
      TextTensor({3}, {"www.google.com", "www.facebook.com", "www.bbc.co.uk"}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].values<bool>(), ElementsAre(true, true, false));

  const char kMail[] = R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))";
  y = FullMatch(kMail,
                TextTensor({2, 2}, {"account@gmail.com", "account@hotmail.com",
                                    "not email", "account2@yahoo.com"}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].shape(), ElementsAre(2, 2));
  EXPECT_THAT((*y)[0].values<bool>(), ElementsAre(true, false, false, true));

  y = FullMatch(kMail, TextTensor({2, 0}, {}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].shape(), ElementsAre(2, 0));
}

TEST(RegexFullMatchTest, ZerosInsideCountAndThoseBehindDoNot) {
  const std::string zero("a\0b", 3);
  absl::StatusOr<std::vector<Tensor>> y =
      FullMatch("a.b|", TextTensor({3}, {zero, "", "ab"}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].values<bool>(), ElementsAre(true, true, false));
}

TEST(RegexFullMatchTest, ErrorsNameTheNodeAndTheConstruct) {
  const Tensor x = TextTensor({1}, {"a"});
  absl::Status status = FullMatch(R"(a\pL)", x).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(testing::HasSubstr("RegexFullMatch"),
                             testing::HasSubstr("\\p")));
  EXPECT_TRUE(absl::IsInvalidArgument(FullMatch("a)", x).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator({"RegexFullMatch", "", 20}, {OfStorageType(x, kTextType)})
          .status()));
}

// ---------------------------------------------- what numbers are used for, too

std::vector<bool> Equal(const Operand& a, const Operand& b) {
  absl::StatusOr<std::vector<Tensor>> y =
      RunOperator({"Equal", "", 19}, {a, b});
  if (!y.ok()) {
    ADD_FAILURE() << y.status();
    return {};
  }
  const auto values = (*y)[0].values<bool>();
  return std::vector<bool>(values.begin(), values.end());
}

TEST(TextTest, Equal19) {
  const Operand x =
      OfStorageType(TextTensor({3}, {"string1", "string2", ""}), kTextType);
  EXPECT_THAT(
      Equal(x, OfStorageType(TextTensor({3}, {"string1", "string3", ""}),
                             kTextType)),
      ElementsAre(true, false, true));
  // The operands differ in width, and one is broadcast.
  EXPECT_THAT(Equal(x, OfStorageType(TextTensor({1}, {""}), kTextType)),
              ElementsAre(false, false, true));
  EXPECT_THAT(
      Equal(OfStorageType(TextTensor({2, 1}, {"a longer one", "string2"}),
                          kTextType),
            x),
      ElementsAre(false, false, false, false, true, false));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunOperator({"Equal", "", 19}, {x, Floats({3}, {1, 2, 3})}).status()));
}

struct Moved {
  std::vector<int64_t> shape;
  Strings strings;
};

Moved Move(const Operator& op, const std::vector<Operand>& operands) {
  absl::StatusOr<std::vector<Tensor>> y = RunOperator(op, operands);
  if (!y.ok()) {
    ADD_FAILURE() << op.op << ": " << y.status();
    return {};
  }
  Moved moved;
  moved.shape.assign((*y)[0].shape().begin(), (*y)[0].shape().end() - 1);
  moved.strings = StringsOf((*y)[0]);
  return moved;
}

TEST(TextTest, MovesLikeNumbers) {
  const Operand x = OfStorageType(
      TextTensor({2, 3}, {"a", "bc", "", "d", "é", "f"}), kTextType);
  Moved y = Move({"Transpose"}, {x});
  EXPECT_THAT(y.shape, ElementsAre(3, 2));
  EXPECT_THAT(y.strings, ElementsAre("a", "d", "bc", "é", "", "f"));
  y = Move({"Gather", "", 13, [](Node* n) { SetInt(n, "axis", -1); }},
           {x, Longs({2}, {-1, 0})});
  EXPECT_THAT(y.shape, ElementsAre(2, 2));
  EXPECT_THAT(y.strings, ElementsAre("", "a", "f", "d"));
  y = Move({"Reshape"}, {x, Constant(Longs({1}, {-1}))});
  EXPECT_THAT(y.shape, ElementsAre(6));
  EXPECT_THAT(y.strings, ElementsAre("a", "bc", "", "d", "é", "f"));
  y = Move({"Slice"}, {x, Constant(Longs({1}, {1})), Constant(Longs({1}, {3})),
                       Constant(Longs({1}, {-1}))});
  EXPECT_THAT(y.strings, ElementsAre("bc", "", "é", "f"));
  y = Move({"Unsqueeze"}, {x, Constant(Longs({1}, {-1}))});
  EXPECT_THAT(y.shape, ElementsAre(2, 3, 1));
  y = Move({"Expand"}, {OfStorageType(TextTensor({1}, {"word"}), kTextType),
                        Constant(Longs({2}, {2, 2}))});
  EXPECT_THAT(y.shape, ElementsAre(2, 2));
  EXPECT_THAT(y.strings, ElementsAre("word", "word", "word", "word"));
  // The operands differ in width.
  y = Move({"Concat", "", 13, [](Node* n) { SetInt(n, "axis", 0); }},
           {OfStorageType(TextTensor({2}, {"a", "b"}), kTextType),
            OfStorageType(TextTensor({1}, {"wider"}), kTextType)});
  EXPECT_THAT(y.strings, ElementsAre("a", "b", "wider"));
  Tensor condition = *Tensor::Empty(DataType::Bool(), {2});
  condition.mutable_data<bool>()[0] = true;
  condition.mutable_data<bool>()[1] = false;
  y = Move({"Where"},
           {condition, OfStorageType(TextTensor({2}, {"a", "b"}), kTextType),
            OfStorageType(TextTensor({1}, {"other"}), kTextType)});
  EXPECT_THAT(y.strings, ElementsAre("a", "other"));
  y = Move({"Compress", "", 11},
           {OfStorageType(TextTensor({2}, {"a", "b"}), kTextType), condition});
  EXPECT_THAT(y.strings, ElementsAre("a"));
  y = Move({"ScatterElements"},
           {OfStorageType(TextTensor({3}, {"a", "b", "c"}), kTextType),
            Longs({2}, {2, 0}),
            OfStorageType(TextTensor({2}, {"wider", ""}), kTextType)});
  EXPECT_THAT(y.strings, ElementsAre("", "b", "wider"));
  y = Move({"ScatterND"},
           {OfStorageType(TextTensor({3}, {"a", "b", "c"}), kTextType),
            Longs({1, 1}, {1}),
            OfStorageType(TextTensor({1}, {"wider"}), kTextType)});
  EXPECT_THAT(y.strings, ElementsAre("a", "wider", "c"));
  EXPECT_FALSE(RunOperator({"ScatterElements", "", 18,
                            [](Node* n) { SetString(n, "reduction", "max"); }},
                           {OfStorageType(TextTensor({1}, {"a"}), kTextType),
                            Longs({1}, {0}),
                            OfStorageType(TextTensor({1}, {"b"}), kTextType)})
                   .ok());
  // Operators that change elements still refuse text.
  EXPECT_TRUE(absl::IsUnimplemented(RunOperator({"Neg"}, {x}).status()));
}

TEST(TextTest, Constants) {
  Moved y = Move({"Constant", "", 13,
                  [](Node* n) { SetString(n, "value_string", "wörd"); }},
                 {});
  EXPECT_THAT(y.shape, ElementsAre());
  EXPECT_THAT(y.strings, ElementsAre("wörd"));
  y = Move({"Constant", "", 13,
            [](Node* n) {
              auto* a = n->add_attribute();
              a->set_name("value_strings");
              a->set_type(onnx::AttributeProto::STRINGS);
              for (const char* s : {"a", "", "bc"}) a->add_strings(s);
            }},
           {});
  EXPECT_THAT(y.shape, ElementsAre(3));
  EXPECT_THAT(y.strings, ElementsAre("a", "", "bc"));
}

TEST(TextTest, CountsWords) {
  auto strings = [](Node* n, const char* name, const Strings& values) {
    auto* a = n->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& s : values) a->add_strings(s);
  };
  const auto attributes = [&](Node* n) {
    SetString(n, "mode", "TF");
    SetInt(n, "min_gram_length", 1);
    SetInt(n, "max_gram_length", 2);
    SetInt(n, "max_skip_count", 0);
    SetInts(n, "ngram_counts", {0, 2});
    SetInts(n, "ngram_indexes", {0, 1, 2, 3});
    strings(n, "pool_strings", {"the", "cat", "the", "cat", "cat", "sat"});
  };
  const Operator op{"TfIdfVectorizer", "", 9, attributes};
  ExpectNear(RunFloats(op, {OfStorageType(
                               TextTensor({2, 4}, {"the", "cat", "sat", "there",
                                                   "cat", "the", "cat", "cat"}),
                               kTextType)}),
             {1, 1, 1, 1, 1, 3, 1, 0});
}

// Rows of any length, shorter than n-grams, too; -1 and so on may be words.
TEST(TextTest, CountsWordsOfOpenLength) {
  const auto attributes = [](Node* n) {
    SetString(n, "mode", "TF");
    SetInt(n, "min_gram_length", 1);
    SetInt(n, "max_gram_length", 2);
    SetInt(n, "max_skip_count", 1);
    SetInts(n, "ngram_counts", {0, 3});
    SetInts(n, "ngram_indexes", {0, 1, 2, 3, 4});
    SetInts(n, "pool_int64s", {1, -1, 2, 1, 2, -1, -2});
  };
  const Operator op{"TfIdfVectorizer", "", 9, attributes};
  for (const std::vector<int64_t>& row :
       {std::vector<int64_t>{1, 2, 2, -1, -2}, {1, -1, 2}, {2}, {}}) {
    const Tensor x = Longs({static_cast<int64_t>(row.size())}, row);
    std::vector<float> counts(5);
    for (size_t i = 0; i < row.size(); ++i) {
      counts[0] += row[i] == 1;
      counts[1] += row[i] == -1;
      counts[2] += row[i] == 2;
      for (size_t j = i + 1; j < std::min(i + 3, row.size()); ++j) {
        counts[3] += row[i] == 1 && row[j] == 2;
        counts[4] += row[i] == -1 && row[j] == -2;
      }
    }
    ExpectNear(RunFloats(op, {x}), counts);
    ExpectNear(RunFloats(op, {Symbolic(x)}), counts);
  }
}

TEST(TextTest, NamesBools) {
  Tensor x = *Tensor::Empty(DataType::Bool(), {2});
  x.mutable_data<bool>()[0] = true;
  x.mutable_data<bool>()[1] = false;
  const Moved y =
      Move({"Cast", "", 13, [](Node* n) { SetInt(n, "to", kTextType); }}, {x});
  EXPECT_THAT(y.strings, ElementsAre("1", "0"));
}

// Strings in one dimension.
Tensor OneDimensional(const Strings& strings) {
  return TextTensor({static_cast<int64_t>(strings.size())}, strings);
}

std::vector<std::string> Normalize(const std::vector<std::string>& x,
                                   const std::string& action, bool sensitive,
                                   const std::vector<std::string>& stop) {
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator({"StringNormalizer", "", 10,
                   [&](Node* n) {
                     SetString(n, "case_change_action", action);
                     SetInt(n, "is_case_sensitive", sensitive ? 1 : 0);
                     auto* a = n->add_attribute();
                     a->set_name("stopwords");
                     a->set_type(onnx::AttributeProto::STRINGS);
                     for (const std::string& s : stop) a->add_strings(s);
                   }},
                  {OfStorageType(OneDimensional(x), kTextType)});
  if (!out.ok()) return {out.status().ToString()};
  return StringsOf((*out)[0]);
}

TEST(TextTest, StringsAreNormalized) {
  const std::vector<std::string> days = {"Monday", "tuesday", "MONDAY", "été"};
  EXPECT_THAT(Normalize(days, "NONE", true, {"monday", "Monday"}),
              ElementsAre("tuesday", "MONDAY", "été"));
  EXPECT_THAT(Normalize(days, "UPPER", false, {"monday"}),
              ElementsAre("TUESDAY", "ÉTÉ"));
  EXPECT_THAT(Normalize(days, "LOWER", false, {}),
              ElementsAre("monday", "tuesday", "monday", "été"));
  // A stop word that is longer, and one that is the beginning of another.
  EXPECT_THAT(Normalize({"ab", "abc"}, "NONE", true, {"abcd", "ab"}),
              ElementsAre("abc"));
  EXPECT_THAT(Normalize({"a", "A"}, "NONE", false, {"a"}), ElementsAre(""));
}

TEST(TextTest, StringsAreJoined) {
  absl::StatusOr<std::vector<Tensor>> out =
      RunOperator({"StringConcat", "", 20},
                  {OfStorageType(OneDimensional({"abc", "", "x"}), kTextType),
                   OfStorageType(OneDimensional({".de"}), kTextType)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(StringsOf((*out)[0]), ElementsAre("abc.de", ".de", "x.de"));
  out = RunOperator({"StringConcat", "", 20},
                    {OfStorageType(OneDimensional({"a", "bc"}), kTextType),
                     OfStorageType(OneDimensional({"", "d"}), kTextType)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(StringsOf((*out)[0]), ElementsAre("a", "bcd"));
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunOperator({"StringConcat", "", 20},
                                          {Floats({1}, {1}), Floats({1}, {2})})
                                  .status()));
}

}  // namespace
}  // namespace ingot::onnx_frontend
