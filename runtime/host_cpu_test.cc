#include "runtime/host_cpu.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

#if defined(__x86_64__)
TEST(HostCpu, HasWhatEveryX86_64Has) {
  for (const char* name : {"cx8", "cmov", "mmx", "fxsr", "sse", "sse2"}) {
    EXPECT_EQ(HostCpuFeatures().count(name), 1u) << name;
  }
}

// The compiler's own run-time check, for the names that both know.
TEST(HostCpu, AgreesWithTheCompiler) {
  __builtin_cpu_init();
#define INGOT_AGREES(name)                      \
  EXPECT_EQ(HostCpuFeatures().count(name) != 0, \
            __builtin_cpu_supports(name) != 0)  \
      << name
  INGOT_AGREES("sse4.1");
  INGOT_AGREES("sse4.2");
  INGOT_AGREES("popcnt");
  INGOT_AGREES("avx");
  INGOT_AGREES("avx2");
  INGOT_AGREES("fma");
  INGOT_AGREES("bmi");
  INGOT_AGREES("bmi2");
  INGOT_AGREES("aes");
  INGOT_AGREES("avx512f");
  INGOT_AGREES("avx512bw");
  INGOT_AGREES("avx512vl");
  INGOT_AGREES("avx512dq");
  INGOT_AGREES("avx512cd");
  INGOT_AGREES("avx512vnni");
  INGOT_AGREES("avx512bf16");
#undef INGOT_AGREES
}

TEST(HostCpu, StatesImplyEachOther) {
  const auto& features = HostCpuFeatures();
  if (features.count("avx2") != 0) EXPECT_EQ(features.count("avx"), 1u);
  if (features.count("avx512f") != 0) EXPECT_EQ(features.count("avx2"), 1u);
  if (features.count("amx-int8") != 0) {
    EXPECT_EQ(features.count("amx-tile"), 1u);
  }
}
#endif

TEST(HostCpu, CheckPassesWhatIsThere) {
  const std::vector<std::string> all(HostCpuFeatures().begin(),
                                     HostCpuFeatures().end());
  EXPECT_TRUE(CheckCpuFeatures({}).ok());
  std::vector<std::string> needed;
  for (const std::string& name : all) {
    if (name.rfind("amx-", 0) != 0) needed.push_back(name);
  }
  if (!needed.empty()) needed[0] = "+" + needed[0];
  EXPECT_TRUE(CheckCpuFeatures(needed).ok());
}

// Each is asked for by itself, without the list.
TEST(HostCpu, CheckAgreesWithTheList) {
  for (const char* name :
       {"sse2", "avx2", "avx512f", "amx-int8", "avxvnni", "xsaves", "ptwrite",
        "kl", "widekl", "avx10.1-256", "avx10.1-512", "lzcnt", "clzero", "neon",
        "dotprod", "warp-drive", ""}) {
    EXPECT_EQ(CheckCpuFeatures({name}).ok(), HostCpuFeatures().count(name) != 0)
        << name;
  }
}

TEST(HostCpu, CheckNamesWhatIsMissing) {
  std::vector<std::string> needed(HostCpuFeatures().begin(),
                                  HostCpuFeatures().end());
  needed.push_back("+warp-drive");
  needed.push_back("anti-gravity");
  needed.push_back("warp-drive");
  const absl::Status status = CheckCpuFeatures(needed);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("lacks anti-gravity, warp-drive, which"));
}

}  // namespace
}  // namespace ingot
