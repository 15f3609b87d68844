#include "artifact/constants_symbol.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

std::string File(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + data;
}

TEST(ConstantsSymbolTest, FollowsFromTheHeaderAlone) {
  const auto first = FindConstantsSymbol("net", File("{\"a\":1}", "1234"));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::StartsWith(first->name, "net_constants_"));
  EXPECT_EQ(first->offset, 15u);
  EXPECT_EQ(FindConstantsSymbol("net", File("{\"a\":1}", "5678"))->name,
            first->name);
  EXPECT_NE(FindConstantsSymbol("net", File("{\"b\":1}", "1234"))->name,
            first->name);
}

TEST(ConstantsSymbolTest, RefusesWhatIsNoSafetensorsFile) {
  EXPECT_FALSE(FindConstantsSymbol("net", "").ok());
  EXPECT_FALSE(FindConstantsSymbol("net", "1234567").ok());
  EXPECT_FALSE(FindConstantsSymbol("net", std::string(8, '\xff')).ok());
  const std::string cut = File("{\"a\":1}", "");
  EXPECT_FALSE(FindConstantsSymbol("net", cut.substr(0, 14)).ok());
  EXPECT_TRUE(FindConstantsSymbol("net", cut).ok());
}

}  // namespace
}  // namespace ingot
