// Operators are defined once: outside of their definitions, of the patterns of
// rewrite rules and of backends' own tables no code asks for an operator by its
// name. It asks for a trait of the definition (compiler/relay/op.h).

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/op.h"
#include "compiler/relay/ops/register_all.h"
#include "gtest/gtest.h"

namespace {

using ingot::relay::StandardOps;

// The number of comparisons that each file may have: exactly those that it has,
// so that the list never allows more than there are. Those of
// compiler/relay/passes are the operators that rewrite rules look for.
const std::map<std::string, int>& Allowed() {
  static const auto* const allowed = new std::map<std::string, int>{
      // Words of relay's text that are spelled like operators: div, mod,
      // random.
      {"compiler/relay/dim_text.cc", 4},
      {"compiler/relay/parse_parts.cc", 3},
      {"compiler/relay/parser.cc", 1},
      // Rules.
      {"compiler/relay/passes/block_layout.cc", 17},
      {"compiler/relay/passes/blocked_winograd.cc", 3},
      {"compiler/relay/passes/byte_operands.cc", 4},
      {"compiler/relay/passes/byte_products.cc", 13},
      {"compiler/relay/passes/byte_products_of_two.cc", 1},
      {"compiler/relay/passes/byte_tables.cc", 1},
      {"compiler/relay/passes/conv3d_planes.cc", 2},
      {"compiler/relay/passes/fold_batch_norm.cc", 6},
      {"compiler/relay/passes/join_attention.cc", 9},
      {"compiler/relay/passes/quantized_moves.cc", 14},
      {"compiler/relay/passes/simplify_arithmetic.cc", 29},
      {"compiler/relay/passes/simplify_einsum.cc", 1},
      {"compiler/relay/passes/simplify_indexing.cc", 2},
      {"compiler/relay/passes/simplify_pattern.cc", 18},
      {"compiler/relay/passes/simplify_projection.cc", 6},
      {"compiler/relay/passes/simplify_shape.cc", 27},
      {"compiler/relay/passes/simplify_window.cc", 32},
      {"compiler/relay/passes/sub_pixel.cc", 11},
  };
  return *allowed;
}

// The text without comments. Of a string literal's content nothing is lost.
std::string WithoutComments(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      out += text[i];
      if (text[i] == '\\' && i + 1 < text.size()) out += text[++i];
      if (text[i] == '"') in_string = false;
    } else if (text.compare(i, 2, "//") == 0) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else {
      in_string = text[i] == '"' && (i == 0 || text[i - 1] != '\'');
      out += text[i];
    }
  }
  return out;
}

// Whether what stands before a literal makes a call of that operator.
bool MakesCall(absl::string_view before) {
  while (!before.empty() &&
         std::isspace(static_cast<unsigned char>(before.back()))) {
    before.remove_suffix(1);
  }
  for (const char* maker : {"Add(", "AddOp(", "AddFolded(function_,"}) {
    if (absl::EndsWith(before, maker)) return true;
  }
  return false;
}

// Whether what stands before a literal compares it with an operator's name.
bool Compares(absl::string_view before) {
  for (const char* question : {"Is(", "op->name == ", "op->name != "}) {
    if (absl::EndsWith(before, question)) return true;
  }
  return false;
}

// Comparisons with operators' names: literals that are one, unless they make a
// call, and questions about how a name begins or ends. Frontends have tables of
// what they make of a format's operators, whose names are often the same: of
// their literals only those count that are compared.
int CountComparisons(const std::string& source, bool frontend = false) {
  const std::string text = WithoutComments(source);
  int count = 0;
  for (size_t at = text.find('"'); at != std::string::npos;) {
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) break;
    const std::string literal = text.substr(at + 1, end - at - 1);
    const bool names = StandardOps().Find(literal) != nullptr;
    const auto before = absl::string_view(text).substr(0, at);
    count += names && (frontend ? Compares(before) : !MakesCall(before));
    at = text.find('"', end + 1);
  }
  for (const char* question : {"StartsWith(", "EndsWith(", "StrContains("}) {
    for (size_t at = text.find(question); at != std::string::npos;
         at = text.find(question, at + 1)) {
      const std::string call = text.substr(at, text.find(';', at) - at);
      count += absl::StrContains(call.substr(0, call.find(',')), "op->name");
    }
  }
  return count;
}

bool IsFrontend(const std::string& path) {
  return absl::StartsWith(path, "compiler/frontends/") ||
         absl::StartsWith(path, "compiler/relay/import/");
}

// Whether the file is one that the rule is about, and can see operators at all.
bool IsAsked(const std::string& path, const std::string& text) {
  for (const char* room : {"compiler/relay/ops/", "backends/"}) {
    if (absl::StartsWith(path, room)) return false;
  }
  return absl::StartsWith(path, "compiler/relay/") ||
         absl::StrContains(text, "#include \"compiler/relay/");
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(OperatorNamesTest, ComparisonsAreCounted) {
  EXPECT_EQ(CountComparisons(R"(if (node.Is("conv2d")) return;)"), 1);
  EXPECT_EQ(CountComparisons(R"(name == "add" || "mul" != name)"), 2);
  EXPECT_EQ(CountComparisons(R"(const char* k[] = {"add", "relu"};)"), 2);
  EXPECT_EQ(CountComparisons(R"(absl::StartsWith(node.op->name, "global_"))"),
            1);
  EXPECT_EQ(CountComparisons(R"(c.Add("add", {x, y}); f->AddOp("relu", "y"))"),
            0);
  EXPECT_EQ(CountComparisons("// \"add\"\nx = \"axis\";"), 0);
  EXPECT_EQ(CountComparisons(R"({"Add", "add"}; reduction == "add")", true), 0);
  EXPECT_EQ(CountComparisons(R"(if (x.node->Is("conv2d")) return;)", true), 1);
  EXPECT_EQ(CountComparisons(R"(node.op->name != "mul")", true), 1);
}

TEST(OperatorNamesTest, OnlyRulesAskForOperatorsByName) {
  std::map<std::string, int> found;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
    const std::string path = entry.path().lexically_relative(".").string();
    if (!absl::EndsWith(path, ".cc") && !absl::EndsWith(path, ".h")) continue;
    const std::string text = Read(entry.path());
    if (!IsAsked(path, text)) continue;
    ++files;
    const int count = CountComparisons(text, IsFrontend(path));
    if (count > 0) found[path] = count;
  }
  EXPECT_GT(files, 120) << "the sources are not beside this test";
  EXPECT_EQ(found, Allowed());
}

}  // namespace
