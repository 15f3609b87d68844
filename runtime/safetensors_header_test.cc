#include "runtime/safetensors_header.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

absl::StatusOr<std::map<std::string, SafetensorsEntry>> EntriesOf(
    absl::string_view text) {
  std::map<std::string, SafetensorsEntry> entries;
  const absl::Status status = ReadSafetensorsHeader(
      text, [&](std::string name, const SafetensorsEntry& entry) {
        return entries.emplace(name, entry).second
                   ? absl::OkStatus()
                   : RepeatedInSafetensorsHeader(name);
      });
  if (!status.ok()) return status;
  return entries;
}

// Another reader of JSON, as the reference for what is JSON.
bool IsJsonObject(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr,
                                          /*allow_exceptions=*/false);
  return json.is_object();
}

bool IsReadAsObject(const std::string& text) {
  const auto entries = EntriesOf(text);
  // A key that is there twice is no fault of JSON's.
  return entries.ok() ||
         absl::StrContains(entries.status().message(), "' twice");
}

TEST(SafetensorsHeaderTest, HeadersAreJson) {
  for (
      const char* text : {
          R"({})",
          R"( { } )",
          R"({"a":{"x":[true,false,null,{},[],"",-0,0.5,1e3,1E+3,-1.25e-07]}})",
          R"({"a":18446744073709551615,"b":18446744073709551616})",
          R"({"\u0061\n\/\\\"\b\f\r\t":0})",
          R"({"\u00e9\u20ac\ud83d\ude00":0})",
          R"({"\ud83d":0})",
          R"({"\ude00":0})",
          R"({"\ud83d\u0041":0})",
          R"({"\x":0})",
          R"({"\u12":0})",
          R"({"\u12g4":0})",
          R"({"a":01})",
          R"({"a":+1})",
          R"({"a":-})",
          R"({"a":.5})",
          R"({"a":1.})",
          R"({"a":1e})",
          R"({"a":tru})",
          R"({"a":truex})",
          R"({"a":1,})",
          R"({,})",
          R"({"a"})",
          R"({"a":})",
          R"({"a":[1,]})",
          R"({"a":[1 2]})",
          R"({"a":{"b":1]})",
          R"({'a':1})",
          R"({a:1})",
          R"({"a":1}})",
          R"({"a":1} x)",
          R"({"a":"	"})",
          "{\"a\":\"\t\"}",
          "{\"\xc3\xa9\":1}",
          "{\"\xc3\":1}",
          "{\"\xed\xa0\x80\":1}",
          "\xff",
      }) {
    EXPECT_EQ(IsReadAsObject(text), IsJsonObject(text)) << text;
  }
  const auto entries = EntriesOf(
      R"({"\u00e9\ud83d\ude00":{"shape":[1,18446744073709551615,-1,1.0]}})");
  ASSERT_TRUE(entries.ok()) << entries.status();
  const SafetensorsEntry& entry = entries->at("\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_THAT(*entry.shape, ElementsAre(Optional(1), Optional(UINT64_MAX),
                                        std::nullopt, std::nullopt));
}

TEST(SafetensorsHeaderTest, DamagedHeadersAreNoJson) {
  const std::string good =
      R"({"__metadata__":{"a":"b\u00e9"},"t":{"dtype":"F32","shape":[1,20],)"
      R"("data_offsets":[0,80],"x":[{"y":-1.5e3},null,true]}})";
  ASSERT_TRUE(IsReadAsObject(good));
  const std::string bytes = "\"\\{}[]:,0123456789.-+eEutrfalsn /\t\x01\x80\xc3";
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (int changes = 0; changes <= i % 3; ++changes) {
      state = state * 1664525 + 1013904223;
      const char byte = bytes[(state >> 8) % bytes.size()];
      const size_t at = (state >> 16) % text.size();
      if (i % 2 == 0) {
        text[at] = byte;
      } else {
        text.insert(at, 1, byte);
      }
    }
    ASSERT_EQ(IsReadAsObject(text), IsJsonObject(text)) << text;
  }
}

TEST(SafetensorsHeaderTest, RefusesWhatNestsDeeply) {
  const auto nested = [](size_t depth) {
    return R"({"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(EntriesOf(nested(50)).ok());
  EXPECT_FALSE(EntriesOf(nested(1'000'000)).ok());
}

TEST(SafetensorsHeaderTest, EndsWithTheFirstErrorOfTheTaker) {
  int taken = 0;
  const absl::Status status = ReadSafetensorsHeader(
      R"({"a":{},"__metadata__":{},"b":{},"c":{}})",
      [&](const std::string& name, const SafetensorsEntry&) {
        ++taken;
        return name == "b" ? absl::DataLossError("b is bad") : absl::OkStatus();
      });
  EXPECT_EQ(status, absl::DataLossError("b is bad"));
  EXPECT_EQ(taken, 2);
}

TEST(SafetensorsHeaderTest, RefusesFieldsThatRepeat) {
  EXPECT_FALSE(EntriesOf(R"({"__metadata__":{},"__metadata__":{}})").ok());
  EXPECT_FALSE(EntriesOf(R"({"__metadata__":{"x":"","x":""}})").ok());
  EXPECT_TRUE(EntriesOf(R"({"a":{"x":1},"b":{"x":1}})").ok());
  for (const char* name : {"dtype", "shape", "data_offsets", "x"}) {
    const auto entries = EntriesOf(
        absl::StrCat(R"({"t":{")", name, R"(":1,"y":2,")", name, R"(":3}})"));
    EXPECT_THAT(std::string(entries.status().message()),
                HasSubstr(absl::StrCat("'", name, "' twice")));
  }
}

}  // namespace
}  // namespace ingot
