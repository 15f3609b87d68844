#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/text/lexer.h"
#include "base/text/quote.h"
#include "base/text/token_parser.h"
#include "gtest/gtest.h"

namespace ingot::text {
namespace {

constexpr absl::string_view kSymbols[] = {"->", "-", "(", ")", ",", "%", "+"};

Dialect TestDialect() {
  Dialect dialect;
  dialect.comment = "//";
  dialect.symbols = kSymbols;
  dialect.word_marks = ".";
  dialect.name_marks = "./";
  dialect.quoted_names = "@";
  return dialect;
}

// "kind:text@line:column " for each token, or the error.
std::string Tokens(absl::string_view text, const Dialect& dialect) {
  static constexpr const char* kKinds[] = {"end", "word",  "%",      "@",
                                           "int", "float", "string", "symbol"};
  std::string result;
  Lexer lexer(text, dialect);
  Token token;
  do {
    const absl::Status status = lexer.Next(&token);
    if (!status.ok()) return absl::StrCat(result, status.message());
    absl::StrAppend(&result, kKinds[static_cast<int>(token.kind)], ":",
                    token.text, "@", token.line, ":", token.column, " ");
  } while (token.kind != TokenKind::kEnd);
  return result;
}

std::string Tokens(absl::string_view text) {
  return Tokens(text, TestDialect());
}

TEST(LexerTest, SplitsAndPlaces) {
  EXPECT_EQ(Tokens("let a.b -> %x/1\n  (1, 2.5e-3) // rest\n\"s\\n\" -"),
            "word:let@1:1 word:a.b@1:5 symbol:->@1:9 %:x/1@1:12 "
            "symbol:(@2:3 int:1@2:4 symbol:,@2:5 float:2.5e-3@2:7 "
            "symbol:)@2:13 string:s\n@3:1 symbol:-@3:7 end:@3:8 ");
  EXPECT_EQ(Tokens(""), "end:@1:1 ");
  EXPECT_EQ(Tokens("// only a comment"), "end:@1:18 ");
}

TEST(LexerTest, NamesFollowTheDialect) {
  EXPECT_EQ(Tokens("%a//b"), "%:a@1:1 end:@1:6 ");
  EXPECT_EQ(Tokens("@\"a b\""), "@:a b@1:1 end:@1:7 ");
  // Not a name: an operator and an operand.
  EXPECT_EQ(Tokens("%1"), "symbol:%@1:1 int:1@1:2 end:@1:3 ");
  EXPECT_EQ(Tokens("% x"), "symbol:%@1:1 word:x@1:3 end:@1:4 ");
  Dialect dialect = TestDialect();
  dialect.names_begin_anyhow = true;
  EXPECT_EQ(Tokens("%1", dialect), "%:1@1:1 end:@1:3 ");
  EXPECT_EQ(Tokens("1f"), "1:1: a letter follows a number");
  dialect.float_suffix = true;
  EXPECT_EQ(Tokens("1f", dialect), "float:1f@1:1 end:@1:3 ");
}

TEST(LexerTest, ErrorsSayWhere) {
  EXPECT_EQ(Tokens("a\n \x01"), "word:a@1:1 2:2: unexpected character '\\x01'");
  EXPECT_EQ(Tokens("\xff"), "1:1: unexpected character '\\xff'");
  EXPECT_EQ(Tokens(absl::string_view("\0", 1)),
            "1:1: unexpected character '\\x00'");
  EXPECT_EQ(Tokens("@"), "1:1: unexpected character '@'");
  EXPECT_EQ(Tokens("1e+"), "1:1: a number's exponent is missing");
  EXPECT_EQ(Tokens("1.2.3"), "1:1: a letter follows a number");
  EXPECT_EQ(Tokens("\"a\nb\""), "1:1: a string does not end on its line");
  EXPECT_EQ(Tokens("\"a"), "1:1: a string does not end on its line");
  EXPECT_EQ(Tokens("\"a\\"), "1:1: a string does not end on its line");
  EXPECT_EQ(Tokens("\"a\\\""), "1:1: a string does not end on its line");
  EXPECT_EQ(Tokens("@\"a"), "1:1: a string does not end on its line");
  EXPECT_EQ(Tokens("\"\\q\"").substr(0, 17), "1:1: in a string:");
}

// Every byte, alone and after each of some prefixes, gives tokens or an error.
TEST(LexerTest, SurvivesEveryByte) {
  for (absl::string_view prefix : {"", "\"", "@\"", "%", "1", "1e", "/", "a"}) {
    for (int byte = 0; byte < 256; ++byte) {
      EXPECT_FALSE(
          Tokens(absl::StrCat(prefix, std::string(1, static_cast<char>(byte))))
              .empty());
    }
  }
}

TEST(LexerTest, LongTextsTakeLinearTime) {
  const std::string spaces(1 << 20, ' ');
  const std::string name = "%" + std::string(1 << 20, 'x');
  EXPECT_EQ(Tokens(spaces), "end:@1:1048577 ");
  EXPECT_EQ(Tokens(name).size(), (1u << 20) + 22);
}

// list = '(' item, … ')'; item = list | word.
class ListParser : private TokenParser {
 public:
  explicit ListParser(absl::string_view text, const Dialect& dialect)
      : TokenParser(text, dialect) {}

  absl::Status Run() {
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_RETURN_IF_ERROR(Item());
    return token_.kind == TokenKind::kEnd ? absl::OkStatus()
                                          : Unexpected("the end");
  }

  int words = 0;

 private:
  absl::Status Item() {
    if (token_.kind == TokenKind::kWord) {
      ++words;
      return Advance();
    }
    INGOT_RETURN_IF_ERROR(Enter());
    INGOT_RETURN_IF_ERROR(Expect("("));
    INGOT_RETURN_IF_ERROR(List(")", [this] { return Item(); }));
    Leave();
    return absl::OkStatus();
  }
};

std::string ParseLists(absl::string_view text) {
  const Dialect dialect = TestDialect();
  ListParser parser(text, dialect);
  const absl::Status status = parser.Run();
  return status.ok() ? absl::StrCat(parser.words)
                     : std::string(status.message());
}

TEST(TokenParserTest, ListsAndErrors) {
  EXPECT_EQ(ParseLists("(a, (b, c), (), d,)"), "4");
  EXPECT_EQ(ParseLists("(a b)"), "1:4: expected ',', found 'b'");
  EXPECT_EQ(ParseLists("(a,"), "1:4: expected '(', found the end");
  EXPECT_EQ(ParseLists("a )"), "1:3: expected the end, found ')'");
  EXPECT_EQ(ParseLists("\"\\x01\""), "1:1: expected '(', found '\\x01'");
  // No more of a token than fits on a line.
  EXPECT_EQ(
      ParseLists(absl::StrCat("(a ", std::string(1000, 'b'))),
      absl::StrCat("1:4: expected ',', found '", std::string(40, 'b'), "'"));
}

TEST(TokenParserTest, NestingIsLimited) {
  EXPECT_EQ(ParseLists(std::string(200, '(') + std::string(200, ')')), "0");
  EXPECT_EQ(ParseLists(std::string(201, '(') + std::string(201, ')')),
            "1:201: nested too deeply");
  EXPECT_EQ(ParseLists(std::string(1 << 20, '(')), "1:201: nested too deeply");
}

TEST(QuoteTest, QuotedTextReadsBack) {
  for (absl::string_view text :
       {absl::string_view("plain"), absl::string_view("a\"b\\c\n\t"),
        absl::string_view("\0\xff\x01"
                          "1",
                          4)}) {
    const std::string quoted = QuotedString(text);
    const Dialect dialect = TestDialect();
    Lexer lexer(quoted, dialect);
    Token token;
    ASSERT_TRUE(lexer.Next(&token).ok()) << quoted;
    EXPECT_EQ(token.text, text);
  }
}

TEST(QuoteTest, PlainNamesStayAsTheyAre) {
  EXPECT_EQ(QuotedName("conv1/w.0$"), "conv1/w.0$");
  EXPECT_EQ(QuotedName("a b"), "\"a b\"");
  EXPECT_EQ(QuotedName("a//b"), "\"a//b\"");
  EXPECT_EQ(QuotedName(""), "\"\"");
  EXPECT_EQ(QuotedSymbol("n_1"), "n_1");
  EXPECT_EQ(QuotedSymbol("?0"), "\"?0\"");
  EXPECT_EQ(QuotedSymbol("min"), "\"min\"");
}

}  // namespace
}  // namespace ingot::text
