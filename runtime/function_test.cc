#include "runtime/function.h"

#include <memory>

#include "gtest/gtest.h"
#include "runtime/any.h"
#include "runtime/error.h"

namespace ingot {
namespace {

TEST(Any, ReadsWhatItHolds) {
  EXPECT_EQ(*AnyToInt(AnyInt(-3)), -3);
  EXPECT_EQ(*AnyToInt(AnyBool(true)), 1);
  EXPECT_EQ(*AnyToDouble(AnyFloat(0.5)), 0.5);
  EXPECT_EQ(*AnyToDouble(AnyInt(2)), 2.0);
  DLTensor tensor = {};
  EXPECT_EQ(*AnyToTensor(AnyTensor(&tensor)), &tensor);
}

TEST(Any, WrongKindsAreNamed) {
  EXPECT_EQ(AnyToInt(AnyFloat(1)).status().message(),
            "expected int, got float");
  EXPECT_EQ(AnyToTensor(AnyString("x")).status().message(),
            "expected DLTensor*, got str");
  EXPECT_FALSE(AnyToTensor(AnyTensor(nullptr)).ok());
  EXPECT_EQ(AnyKindName(130), "object 130");
}

struct Counted {
  TVMFFIObject header = {};
  DLTensor tensor = {};
  int strong_went = 0;
  int weak_went = 0;
};

Counted MakeCounted(uint64_t strong, uint64_t weak) {
  Counted counted;
  counted.header.combined_ref_count = (weak << 32) | strong;
  counted.header.type_index = kTVMFFITensor;
  counted.header.deleter = [](void* self, int flags) {
    if ((flags & 1) != 0) ++static_cast<Counted*>(self)->strong_went;
    if ((flags & 2) != 0) ++static_cast<Counted*>(self)->weak_went;
  };
  return counted;
}

TEST(Any, ReleasesObjects) {
  Counted one = MakeCounted(1, 1);
  TVMFFIAny any = MakeAny(kTVMFFITensor);
  any.v_obj = &one.header;
  EXPECT_EQ(*AnyToTensor(any), &one.tensor);
  ReleaseAny(&any);
  EXPECT_EQ(any.type_index, kTVMFFINone);
  EXPECT_EQ(one.strong_went, 1);
  EXPECT_EQ(one.weak_went, 1);

  Counted shared = MakeCounted(2, 1);
  any = MakeAny(kTVMFFITensor);
  any.v_obj = &shared.header;
  ReleaseAny(&any);
  EXPECT_EQ(shared.strong_went, 0);

  Counted watched = MakeCounted(1, 2);
  any = MakeAny(kTVMFFITensor);
  any.v_obj = &watched.header;
  ReleaseAny(&any);
  EXPECT_EQ(watched.strong_went, 1);
  EXPECT_EQ(watched.weak_went, 0);

  any = AnyInt(3);
  ReleaseAny(&any);
  EXPECT_EQ(any.type_index, kTVMFFINone);
}

TEST(Function, CallsALambda) {
  Function add = Function::FromLambda(
      [](absl::Span<const TVMFFIAny> args, TVMFFIAny* result) {
        *result = AnyInt(args[0].v_int64 + args[1].v_int64);
        return absl::OkStatus();
      });
  TVMFFIAny result = AnyFloat(1);
  ASSERT_TRUE(add.Call({AnyInt(1), AnyInt(2)}, &result).ok());
  EXPECT_EQ(*AnyToInt(result), 3);
}

TEST(Function, PassesTensors) {
  int calls = 0;
  Function check =
      Function::FromLambda([&](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        for (const TVMFFIAny& arg : args) {
          EXPECT_EQ(arg.type_index, kTVMFFIDLTensorPtr);
          EXPECT_EQ(arg.zero_padding, 0u);
          ++calls;
        }
        return absl::OkStatus();
      });
  DLTensor a = {};
  DLTensor b = {};
  EXPECT_TRUE(check.Call({&a, &b}).ok());
  EXPECT_EQ(calls, 2);
}

TEST(Function, ErrorsKeepTheirCode) {
  Function fail =
      Function::FromLambda([](absl::Span<const TVMFFIAny>, TVMFFIAny* result) {
        *result = AnyInt(5);
        return absl::OutOfRangeError("index 9 of 3");
      });
  TVMFFIAny result;
  EXPECT_EQ(fail.Call({}, &result), absl::OutOfRangeError("index 9 of 3"));
  EXPECT_EQ(result.type_index, kTVMFFINone);
}

TEST(Function, PlainCFunction) {
  Function plain(
      [](void* handle, const TVMFFIAny*, int32_t, TVMFFIAny*) -> int {
        if (handle == nullptr) return -1;
        SetLastError("TypeError", "wrong");
        return -1;
      },
      nullptr, nullptr);
  EXPECT_EQ(plain.Call(absl::Span<DLTensor* const>()).code(),
            absl::StatusCode::kInternal);
  int anything = 0;
  Function with_handle(plain.call(), &anything, nullptr);
  EXPECT_EQ(with_handle.Call(absl::Span<DLTensor* const>()),
            absl::InvalidArgumentError("wrong"));
}

TEST(Function, KeepsItsOwner) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> alive = owner;
  Function f([](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) { return 0; },
             nullptr, std::move(owner));
  Function copy = f;
  f = Function();
  EXPECT_FALSE(f.defined());
  EXPECT_FALSE(alive.expired());
  copy = Function();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace ingot
