#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

TEST(PassTest, EventsTellWhatChanged) {
  const PrimFunc func =
      Parse(
          "func @f() -> (%o: f32[4]) { unrolled i in [0, 4) { %o[i] = 1.0f "
          "} }")
          .value();
  std::string log;
  PassOptions options;
  options.after = [&log](const PassEvent& event) {
    absl::StrAppend(&log, event.pass.name,
                    event.changed ? " changed, " : " same, ");
    return absl::OkStatus();
  };
  ASSERT_TRUE(
      RunPasses(func, {"simplify", "unroll_loops", "unroll_loops"}, options)
          .ok());
  EXPECT_EQ(log, "simplify same, unroll_loops changed, unroll_loops same, ");
}

// Looking at each operand twice would take 2^64 steps.
TEST(PassTest, VectorizesDeepScalarsOnce) {
  std::string deep = "j";
  for (int k = 0; k < 64; ++k) {
    deep = absl::StrCat("select(", deep, " < ", k, ", j, ", k, ")");
  }
  const PrimFunc func =
      Parse(absl::StrCat("func @f(%a: f32[8]) -> (%o: f32[8, 8]) { for j in "
                         "[0, 8) { vectorized i in [0, 8) { %o[j, i] = %a[i] + "
                         "f32(",
                         deep, ") } } }"))
          .value();
  const auto result = RunPasses(func, {"vectorize_loops"});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(absl::StrContains(Print(*result), "ramp("));
}

TEST(PassTest, ErrorsNameWhatIsWrong) {
  const PrimFunc func = Parse("func @f() -> (%o: f32[4]) { }").value();
  EXPECT_EQ(
      RunPasses(func, {"nothing"}).status(),
      absl::NotFoundError("there is no pass 'nothing'; there are: simplify, "
                          "unroll_loops, vectorize_loops, plan_workspaces, "
                          "share_sizes"));
  PassOptions options;
  options.after = [](const PassEvent&) {
    return absl::DataLossError("the disk is full");
  };
  EXPECT_EQ(RunPasses(func, {"simplify"}, options).status(),
            absl::DataLossError("func @f: the disk is full"));
}

// Writes random programs whose loops may be reordered: each iteration of the
// nest writes an element of its own.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string Function() {
    std::string body;
    const int nests = 1 + Pick(3);
    for (int i = 0; i < nests; ++i) {
      vars_.clear();
      extent_ = 1;
      flat_ = "0";
      target_ = i == 0 ? "t" : (i == 1 ? "u" : "o");
      source_ = i == 0 ? "a" : (i == 1 ? "t" : "u");
      if (i == nests - 1) target_ = "o";
      absl::StrAppend(&body, "  for z in [0, 512) { ", Access(target_, "z"),
                      " = 0.0f }\n");
      absl::StrAppend(&body, Nest(1 + Pick(3)));
    }
    return absl::StrCat(
        "func @f(%a: f32[512], %k: i64[16], %s: f32[n]) -> (%o: f32[512]) {\n",
        "  alloc %t: f32[512]\n  alloc %u: f32[32, 16]\n", body, "}\n");
  }

 private:
  int Pick(int count) {
    return static_cast<int>(random_() % static_cast<unsigned>(count));
  }

  std::string Access(const std::string& buffer, const std::string& index) {
    if (buffer == "u") {
      return absl::StrCat("%u[(", index, ") // 16, (", index, ") % 16]");
    }
    return absl::StrCat("%", buffer, "[", index, "]");
  }

  std::string Nest(int depth) {
    if (depth == 0) return Body();
    static constexpr const char* kKinds[] = {"for", "unrolled", "vectorized",
                                             "parallel"};
    int kind = Pick(4);
    if (in_vector_ && kind >= 2) kind = 0;
    if (in_parallel_ && kind == 3) kind = 0;
    const int extent = 1 + Pick(8);
    const std::string var = absl::StrCat("i", vars_.size());
    const int min = Pick(3) == 0 ? Pick(5) : 0;
    vars_.push_back(var);
    flat_ = absl::StrCat("(", flat_, ") * ", extent, " + ", var,
                         min > 0 ? absl::StrCat(" - ", min) : "");
    extent_ *= extent;
    const bool outer_vector = in_vector_, outer_parallel = in_parallel_;
    in_vector_ |= kind == 2;
    in_parallel_ |= kind == 3;
    std::string text = absl::StrCat(kKinds[kind], " ", var, " in [", min, ", +",
                                    extent, ") {\n", Nest(depth - 1), "}\n");
    in_vector_ = outer_vector;
    in_parallel_ = outer_parallel;
    return text;
  }

  std::string Body() {
    std::string text;
    switch (Pick(5)) {
      case 0:
        text = absl::StrCat("if ", Condition(2), " {\n", StoreTo(), "}\n");
        break;
      case 1:
        text = absl::StrCat("if ", Condition(1), " {\n", StoreTo(),
                            "} else {\n", StoreTo(), "}\n");
        break;
      case 2:
        text = absl::StrCat("let v: i64 = ", Index(2), "\n");
        vars_.push_back("v");
        absl::StrAppend(&text, StoreTo());
        vars_.pop_back();
        break;
      case 3:
        text = absl::StrCat("for r in [0, ", 1 + Pick(4), ") {\n");
        vars_.push_back("r");
        absl::StrAppend(&text, StoreTo(), "}\n");
        vars_.pop_back();
        break;
      default:
        text = StoreTo();
    }
    return text;
  }

  std::string StoreTo() {
    const std::string element = Access(target_, flat_);
    return absl::StrCat(element, " = ", element, " + ", Value(3), "\n");
  }

  std::string Index(int depth) {
    if (depth == 0 || Pick(4) == 0) {
      return Pick(3) == 0 ? absl::StrCat(Pick(20)) : vars_[Pick(vars_.size())];
    }
    switch (Pick(7)) {
      case 0:
        return absl::StrCat("(", Index(depth - 1), ") // ", 1 << Pick(4));
      case 1:
        return absl::StrCat("(", Index(depth - 1), ") % ", 1 + Pick(9));
      case 2:
        return absl::StrCat("(", Index(depth - 1), ") * ", Pick(9));
      case 3:
        return absl::StrCat("min(", Index(depth - 1), ", ", Index(depth - 1),
                            ")");
      case 4:
        return absl::StrCat("(", Index(depth - 1), ") - (", Index(depth - 1),
                            ")");
      case 5:
        return absl::StrCat("%k[(", Index(depth - 1), ") % 16]");
      default:
        return absl::StrCat("(", Index(depth - 1), ") + (", Index(depth - 1),
                            ")");
    }
  }

  std::string Condition(int depth) {
    static constexpr const char* kOps[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth > 1 && Pick(2) == 0) {
      return absl::StrCat("(", Condition(depth - 1),
                          Pick(2) == 0 ? ") && (" : ") || (",
                          Condition(depth - 1), ")");
    }
    return absl::StrCat(Index(2), " ", kOps[Pick(6)], " ",
                        Pick(3) == 0 ? "n" : Index(1));
  }

  std::string Value(int depth) {
    const std::string index = Index(2);
    switch (depth == 0 ? Pick(3) : Pick(7)) {
      case 0:
        return absl::StrCat("f32(", index, ")");
      case 1:
        return Access(source_, absl::StrCat("(", index, ") % 512"));
      case 2:
        return "0.25f";
      case 3:
        // In bounds only where the condition holds.
        return absl::StrCat("select((", index, ") >= 0 && (", index,
                            ") < n, %s[", index, "], ", Value(depth - 1), ")");
      case 4:
        return absl::StrCat("select(", Condition(2), ", ", Value(depth - 1),
                            ", ", Value(depth - 1), ")");
      case 5:
        return absl::StrCat("max(", Value(depth - 1), ", ", Value(depth - 1),
                            ")");
      default:
        return absl::StrCat("(", Value(depth - 1), ") * (", Value(depth - 1),
                            ")");
    }
  }

  std::mt19937 random_;
  std::vector<std::string> vars_;
  std::string flat_, target_, source_;
  int extent_ = 1;
  bool in_vector_ = false, in_parallel_ = false;
};

TEST(PassesRandomTest, KeepTheMeaning) {
  const DataType f32 = DataType::Float(32);
  Tensor a = Tensor::Empty(f32, {512}).value();
  for (int i = 0; i < 512; ++i) {
    a.mutable_data<float>()[i] = static_cast<float>((i * 37) % 101) / 8;
  }
  Tensor k = Tensor::Empty(DataType::Int(64), {16}).value();
  for (int i = 0; i < 16; ++i) k.mutable_data<int64_t>()[i] = i * 7 - 30;
  const absl::string_view kPasses[] = {"simplify", "unroll_loops",
                                       "vectorize_loops", "plan_workspaces"};
  int vector_code = 0;
  for (unsigned seed = 0; seed < 700; ++seed) {
    const std::string text = Generator(seed).Function();
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    absl::StatusOr<PrimFunc> func = Parse(text);
    ASSERT_TRUE(func.ok()) << func.status() << "\n" << text;
    ASSERT_TRUE(Verify(*func).ok()) << Verify(*func) << "\n" << text;
    Tensor s = Tensor::Empty(f32, {7}).value();
    for (int i = 0; i < 7; ++i) s.mutable_data<float>()[i] = 100.0f + i;
    Tensor want = Tensor::Empty(f32, {512}).value();
    ASSERT_TRUE(Interpret(*func, {a, k, s, want}).ok()) << text;
    std::vector<absl::string_view> order(std::begin(kPasses),
                                         std::end(kPasses));
    std::mt19937 random(seed);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random() % i]);
    }
    order.push_back("simplify");
    order.push_back("share_sizes");
    absl::StatusOr<PrimFunc> result = RunPasses(*func, order);
    ASSERT_TRUE(result.ok()) << result.status() << "\n" << text;
    const std::string printed = Print(*result);
    vector_code += absl::StrContains(printed, "ramp(");
    EXPECT_EQ(Print(Parse(printed).value()), printed);
    EXPECT_FALSE(absl::StrContains(printed, "alloc"));
    Tensor got = Tensor::Empty(f32, {512}).value();
    const absl::Status status = Interpret(*result, {a, k, s, got});
    ASSERT_TRUE(status.ok()) << status << "\n" << text << "\n" << printed;
    ASSERT_EQ(std::memcmp(want.raw_data(), got.raw_data(), want.bytes()), 0)
        << text << "\n"
        << printed;
  }
  EXPECT_GT(vector_code, 100);
}

}  // namespace
}  // namespace ingot::tir
