#include "runtime/module.h"

#include <memory>
#include <optional>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;

Function Answer(int64_t value) {
  return Function::FromLambda(
      [value](absl::Span<const TVMFFIAny>, TVMFFIAny* result) {
        *result = AnyInt(value);
        return absl::OkStatus();
      });
}

int64_t Ask(const Module& module, absl::string_view name) {
  absl::StatusOr<Function> function = module.Find(name);
  EXPECT_TRUE(function.ok()) << function.status();
  if (!function.ok()) return -1;
  TVMFFIAny result;
  EXPECT_TRUE(function->Call(absl::Span<const TVMFFIAny>(), &result).ok());
  return result.v_int64;
}

std::shared_ptr<TableModule> Make(absl::string_view kind) {
  return std::make_shared<TableModule>(kind);
}

TEST(Module, FindsItsOwnFirstThenImportsDepthFirst) {
  auto host = Make("host");
  auto a = Make("a");
  auto b = Make("b");
  auto under_a = Make("under_a");
  ASSERT_TRUE(host->Add("f", Answer(1)).ok());
  ASSERT_TRUE(a->Add("f", Answer(2)).ok());
  ASSERT_TRUE(under_a->Add("g", Answer(3)).ok());
  ASSERT_TRUE(b->Add("g", Answer(4)).ok());
  ASSERT_TRUE(b->Add("h", Answer(5)).ok());
  ASSERT_TRUE(a->Import(under_a).ok());
  ASSERT_TRUE(host->Import(a).ok());
  ASSERT_TRUE(host->Import(b).ok());
  EXPECT_EQ(Ask(*host, "f"), 1);
  EXPECT_EQ(Ask(*host, "g"), 3);
  EXPECT_EQ(Ask(*host, "h"), 5);
  EXPECT_FALSE(host->GetFunction("h").has_value());
}

TEST(Module, NotFoundNamesWhatWasSearched) {
  auto host = Make("native");
  ASSERT_TRUE(host->Import(Make("dnnl")).ok());
  const absl::Status status = host->Find("conv").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no function 'conv' in the modules native, dnnl");
}

TEST(Module, RefusesCycles) {
  auto a = Make("a");
  auto b = Make("b");
  auto c = Make("c");
  EXPECT_FALSE(a->Import(nullptr).ok());
  EXPECT_FALSE(a->Import(a).ok());
  ASSERT_TRUE(a->Import(b).ok());
  ASSERT_TRUE(b->Import(c).ok());
  EXPECT_EQ(c->Import(a).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(a->Import(b).ok());
  EXPECT_EQ(a->imports().size(), 1u);
}

TEST(Module, SharedImportsAreSearchedOnce) {
  // 2^40 paths through 40 diamonds.
  std::shared_ptr<TableModule> last = Make("last");
  for (int i = 0; i < 40; ++i) {
    auto left = Make("left");
    auto right = Make("right");
    auto top = Make("top");
    ASSERT_TRUE(left->Import(last).ok());
    ASSERT_TRUE(right->Import(last).ok());
    ASSERT_TRUE(top->Import(left).ok());
    ASSERT_TRUE(top->Import(right).ok());
    last = top;
  }
  EXPECT_FALSE(last->Find("f").ok());
}

TEST(TableModule, RefusesDuplicates) {
  auto module = Make("table");
  ASSERT_TRUE(module->Add("b", Answer(1)).ok());
  ASSERT_TRUE(module->Add("a", Answer(1)).ok());
  EXPECT_EQ(module->Add("a", Answer(2)).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(module->Add("c", Function()).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(module->FunctionNames(), ElementsAre("a", "b"));
}

// As a library has it: the function's owner is the module.
class Library : public Module {
 public:
  absl::string_view kind() const override { return "library"; }
  std::optional<Function> GetFunction(absl::string_view name) const override {
    return Function(
        [](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) { return 0; }, nullptr,
        shared_from_this());
  }
};

TEST(Module, StaysLoadedWhileAFunctionLives) {
  std::shared_ptr<Module> library = std::make_shared<Library>();
  std::weak_ptr<Module> alive = library;
  auto host = Make("host");
  ASSERT_TRUE(host->Import(std::move(library)).ok());
  Function function = *host->Find("f");
  host.reset();
  EXPECT_FALSE(alive.expired());
  function = Function();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace ingot
