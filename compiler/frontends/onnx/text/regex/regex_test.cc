// Patterns, with the RE2 library as the reference: whether one is taken, and
// which strings it matches.
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/text/regex/dfa.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace ingot::regex {
namespace {

using testing::HasSubstr;

bool Matches(const Dfa& dfa, const std::string& text) {
  int state = 0;
  for (char c : text) {
    state = dfa.next[state * dfa.num_classes +
                     dfa.class_of[static_cast<uint8_t>(c)]];
  }
  return dfa.accepting[state] != 0;
}

RE2::Options Quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

const std::vector<std::string>& Texts() {
  static const auto* const kTexts =
      new std::vector<std::string>{"",
                                   "a",
                                   "b",
                                   "c",
                                   "A",
                                   "B",
                                   "ab",
                                   "aB",
                                   "abc",
                                   "aab",
                                   "abab",
                                   "aaaa",
                                   "aaaaa",
                                   "abcabc",
                                   "foo",
                                   "foobar",
                                   "foo bar",
                                   "foo\nbar",
                                   "foo\n",
                                   "\nfoo",
                                   "\n",
                                   "\n\n",
                                   "a\nb",
                                   "_",
                                   "__a",
                                   "a1",
                                   "0",
                                   "42",
                                   "007",
                                   "3.14",
                                   "-1",
                                   " ",
                                   "\t",
                                   " \t\n\v\f\r",
                                   "\v",
                                   ".",
                                   "a.b",
                                   "*",
                                   "a*",
                                   "{",
                                   "a{",
                                   "a{,2}",
                                   "{2}",
                                   "[",
                                   "]",
                                   "a]",
                                   "-",
                                   "^",
                                   "$",
                                   "\\",
                                   "\\E",
                                   "a\\b",
                                   "(a)",
                                   "|",
                                   "a|b",
                                   "k",
                                   "K",
                                   "s",
                                   "S",
                                   "\xc5\xbf",
                                   "\xe2\x84\xaa",
                                   "é",
                                   "É",
                                   "è",
                                   "ñ",
                                   "ab é",
                                   "日本",
                                   "日",
                                   "日本語",
                                   "🎉",
                                   "a🎉b",
                                   "߿",
                                   "ࠀ",
                                   "￿",
                                   "𐀀",
                                   "\xf4\x8f\xbf\xbf",
                                   "\x7f",
                                   "\x01",
                                   std::string("\0", 1),
                                   std::string("a\0b", 3),
                                   "hello world",
                                   "Hello, World!",
                                   "user@example.com",
                                   "www.google.com",
                                   "www.bbc.co.uk",
                                   "2024-02-29",
                                   "12:34:56",
                                   "192.168.0.1",
                                   "#ff00aa",
                                   "x y z",
                                   "A-Z",
                                   "~`!@#$%^&*()",
                                   "the quick brown fox",
                                   "no-op",
                                   "e\xcc\x81"};
  return *kTexts;
}

// Both take the pattern and agree on all texts, or both refuse it.
void ExpectAgrees(const std::string& pattern,
                  const std::vector<std::string>& texts) {
  const RE2 reference(pattern, Quiet());
  const absl::StatusOr<Dfa> dfa = CompileRegex(pattern);
  ASSERT_EQ(dfa.ok(), reference.ok())
      << pattern << ": " << dfa.status() << "; RE2: " << reference.error();
  if (!dfa.ok()) {
    EXPECT_TRUE(absl::IsInvalidArgument(dfa.status())) << pattern;
    return;
  }
  for (const std::string& text : texts) {
    EXPECT_EQ(Matches(*dfa, text), RE2::FullMatch(text, reference))
        << "pattern '" << pattern << "' on '" << text << "'";
  }
}

TEST(RegexTest, AgreesWithRe2) {
  const std::vector<std::string> patterns = {
      "", "a", "ab", "a|b", "a|", "|a", "|", "()", "(|a)", "a*", "a+", "a?",
      "a*?", "a+?", "a??", "(ab)*", "(a|b)*", "(a*)*", "(a*)+", "(|a)+",
      "(a|ab)(c|bcd)*", "a{2}", "a{2,}", "a{2,4}", "a{0}", "a{0,1}", "a{,2}",
      "a{", "a{x}", "{", "a{1", "a{1,2", "a{01}", "(a{2}){2}", "a{2,3}?",
      "x{0,0}", "(?:)", "(?:ab)+", "(?P<n>a)b", "(a)(b)(c)", "((a))",
      // anything, and not
      ".", ".*", "..", "(?s).", "(?s).*", "(?s:.)a", "(?-s).", ".{2}", "[^a]",
      "[^a]*", "[^\\n]*", "[^é]", "[^a-z]", "[^\\x00-\\x{10FFFF}]",
      // classes
      "[abc]", "[a-c]+", "[]a]", "[^]a]", "[a\\]]+", "[-a]", "[a-]", "[a-c-e]",
      "[a-\\x63]", "[\\d.]+", "[\\w-]+", "[\\d-z]", "[\\s\\S]", "[\\D]",
      "[\\W_]", "[[:alpha:]]+", "[[:^alpha:]]", "[[:digit:][:space:]]*",
      "[[:punct:]]+", "[[:alnum:]]", "[[:ascii:]]*", "[[:blank:]]",
      "[[:cntrl:]]", "[[:graph:]]", "[[:lower:]]+", "[[:print:]]+",
      "[[:space:]]", "[[:upper:]]", "[[:word:]]+", "[[:xdigit:]]+",
      "[^[:^alpha:]]", "[[:alpha]", "[[a]", "[é-ñ]", "[日-本]+", "[\\x{e9}]",
      "[a🎉]+", "[\\x{7ff}-\\x{800}]", "[\\x{ffff}-\\x{10000}]",
      "[\\x{80}-\\x{10ffff}]", "[\\x{100}-\\x{20000}]", "[\\x7f-\\x{801}]",
      "[.*+?]", "[\\-a]", "[+--]",
      // escapes
      "\\d+", "\\D", "\\w+", "\\W+", "\\s+", "\\S+", "\\.", "a\\*", "\\\\",
      "\\n", "\\t", "\\v", "\\f", "\\r", "\\a", "\\x41", "\\x{41}",
      "\\x{1F389}", "\\0", "\\101", "\\012", "\\07", "\\_", "\\-",
      "\\Qa{,2}\\E", "\\Qa*", "\\Q\\E", "\\Qab\\E*", "\\Q\\b\\E", "a\\Cb",
      "\\C*",
      // places
      "^a$", "^", "$", "^$", "^*", "a^b", "a$b", "\\Aab\\z",
      "(?m)^foo$\\n^bar$", "(?m)foo$\\n", "(?m)^\\n^", "(?m)$\\n$",
      "foo$\\nbar", "(^a|b$)+", "(?m)(^.*$\\n?)*", "\\bfoo\\b", "\\bfoo\\b bar",
      "foo\\Bbar", "foo\\bbar", "\\B", "\\b", "\\Ba", ".*\\b.*", "(\\b.\\b.)*",
      "(a\\b|\\bb)*", "(?:\\b)*a", "\\b*a", ".*\\bcom\\b", "(\\b|a)+",
      "\\b\\w+\\b(\\W+\\b\\w+\\b)*\\W?",
      // flags
      "(?i)ab", "(?i)[a-b]+", "a(?i)b", "a(?i:b)", "((?i)a)b", "(?i)a|b",
      "(?i)k", "(?i)s", "(?i)[^k]", "(?i)\\w", "(?i)\\W", "(?i)[[:^alpha:]]",
      "(?i)[[:lower:]]", "(?-i)a", "(?i-s)a.", "(?is)a.*", "(?i)a(?-i)b",
      "(?U)a+", "(?)a", "(?i)", "a(?i)*", "a*(?i)*", "(?i)\\x41",
      "(?i)\\QaB\\E",
      // utf-8
      "é", "É|é", "日本.", "日+", "(日|本)+", "🎉", ".🎉.", "e\\x{301}",
      // errors
      "(", ")", "a)", "(a", "[", "[a", "[]", "[^]", "*", "+a", "?", "(*)", "|*",
      "a**", "a*+", "a?{2}", "a{2}*", "a{2}{3}", "a*{2}", "{2}", "a{1001}",
      "a{2,1}", "a{1,1001}", "a{999999999999}", "[b-a]", "[[:foo:]]", "[a-\\d]",
      "\\", "\\8", "\\1", "(a)\\1", "\\Z", "\\E", "\\q", "\\x", "\\x4", "\\x{}",
      "\\x{110000}", "\\x{41", "\\xg0", "\\é", "(?", "(?i", "(?i-)a", "(?--i)a",
      "(?x)a", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?P<>a)", "(?P<n>a",
      "(?P<n", "(?P<n>a)(?P<n>b)", "(?P<a-b>c)", "(?P=n)", "(?#c)", "a\xff",
      "\xc3", "[\xff]", "\xed", "\xf5\x80\x80\x80",
      // as people write them
      "www\\.[\\w.-]+\\.\\bcom\\b",
      "(\\W|^)[\\w.\\-]{0,25}@(yahoo|gmail)\\.com(\\W|$)",
      "[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}",
      "\\d{4}-(0[1-9]|1[0-2])-([0-2]\\d|3[01])",
      "([01]?\\d|2[0-3])(:[0-5]\\d){2}",
      "((25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1?\\d?\\d)",
      "#([0-9a-fA-F]{3}){1,2}", "[+-]?\\d+(\\.\\d+)?([eE][+-]?\\d+)?", ".{100}",
      ".{0,200}", "(a|b)*a(a|b){6}"};
  for (const std::string& pattern : patterns) ExpectAgrees(pattern, Texts());
}

// Random patterns made of what there is, on random texts of the same letters.
TEST(RegexTest, AgreesWithRe2AtRandom) {
  std::mt19937 random(1);
  auto next = [&](size_t below) { return random() % below; };
  const std::vector<std::string> atoms = {
      "a",      "b",   "\\n",   ".",     "é",          "[ab]",
      "[^a]",   "\\w", "\\W",   "\\s",   "\\b",        "\\B",
      "^",      "$",   "\\A",   "\\z",   "(?i)b",      "[é-日]",
      "日",     " ",   "(?s).", "(?m)^", "(?m)$",      "(?i:A)",
      "[^\\n]", "_",   "\\S",   "",      "[[:alpha:]]"};
  const std::vector<std::string> repeats = {"*",     "+",      "?",    "{2}",
                                            "{1,3}", "{0,2}?", "{2,}", "*?"};
  std::function<std::string(int)> make = [&](int depth) -> std::string {
    switch (depth <= 0 ? 0 : next(6)) {
      case 1:
        return make(depth - 1) + make(depth - 1);
      case 2:
        return absl::StrCat("(", make(depth - 1), "|", make(depth - 1), ")");
      case 3:
        return absl::StrCat("(?:", make(depth - 1), ")",
                            repeats[next(repeats.size())]);
      case 4:
        return make(depth - 1) + make(depth - 1) + make(depth - 1);
      default:
        return atoms[next(atoms.size())];
    }
  };
  const std::vector<std::string> letters = {"a",  "b", "A", "é", "日",
                                            "\n", " ", "_", "B"};
  int taken = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string pattern = make(5);
    // Only unsupported patterns may differ.
    const absl::StatusOr<Dfa> dfa = CompileRegex(pattern);
    if (absl::IsUnimplemented(dfa.status())) continue;
    ++taken;
    std::vector<std::string> texts;
    for (int t = 0; t < 20; ++t) {
      std::string text;
      for (size_t n = next(6); n > 0; --n)
        text += letters[next(letters.size())];
      texts.push_back(text);
    }
    ExpectAgrees(pattern, texts);
    if (HasFailure()) break;
  }
  EXPECT_GT(taken, 3000);
}

// Bytes at random, nearly all of which are no pattern.
TEST(RegexTest, SurvivesWhatIsNoPattern) {
  std::mt19937 random(2);
  const std::string kBytes = "ab()[]{}|*+?\\^$.-:,0123xQEPp<>iU\xc3\xa9\n";
  int errors = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    for (size_t n = random() % 12; n > 0; --n) {
      pattern += kBytes[random() % kBytes.size()];
    }
    const absl::StatusOr<Dfa> dfa = CompileRegex(pattern);
    errors += dfa.ok() ? 0 : 1;
    // RE2 of this release has no (?<name>.
    if (absl::IsUnimplemented(dfa.status()) ||
        pattern.find("(?<") != std::string::npos) {
      continue;
    }
    EXPECT_EQ(dfa.ok(), RE2(pattern, Quiet()).ok())
        << "'" << pattern << "': " << dfa.status();
  }
  EXPECT_GT(errors, 1000);
}

TEST(RegexTest, SaysWhatIsNotSupported) {
  auto error = [](const std::string& pattern) {
    const absl::Status status = CompileRegex(pattern).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << pattern << ": " << status;
    return std::string(status.message());
  };
  EXPECT_THAT(error("ab\\pL"), HasSubstr("at byte 2: Unicode's classes, \\p"));
  EXPECT_THAT(error("[\\P{Greek}]"), HasSubstr("\\P"));
  EXPECT_THAT(error("(?i)é"), HasSubstr("beyond ASCII under the flag i"));
  EXPECT_THAT(error("(?i)[a-é]"), HasSubstr("beyond ASCII"));
}

// Small patterns that would make much, each of which ends soon.
TEST(RegexTest, HostilePatternsAreRefused) {
  std::string deep, nothing = "()";
  for (int i = 0; i < 100000; ++i) deep += "(";
  for (int i = 0; i < 50; ++i) nothing = "(" + nothing + "){1000}";
  for (const std::string& pattern :
       {std::string("((a{1000}){1000}){1000}"), nothing, deep,
        std::string("(a|b)*a(a|b){20}"), std::string(".*a.{1000}b.*"),
        std::string("(.{1,500}){1,500}"),
        std::string("((((a?){30}){30}){30}){30}"),
        std::string("(.*.*.*.*.*.*){1000}")}) {
    const absl::Status status = CompileRegex(pattern).status();
    EXPECT_TRUE(absl::IsUnimplemented(status))
        << pattern.substr(0, 40) << ": " << status;
  }
}

}  // namespace
}  // namespace ingot::regex
