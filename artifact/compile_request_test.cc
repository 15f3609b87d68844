#include "artifact/compile_request.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompileRequestTest, ReadsTheFirstLine) {
  const auto request = ParseCompileRequest(
      "/* ingot: cc=clang-19 cflags=-O3 -march=native -DN=2 */\nint x;\n");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->cc, "clang-19");
  EXPECT_THAT(request->flags, ElementsAre("-O3", "-march=native", "-DN=2"));
}

TEST(CompileRequestTest, ASourceMayAskForNothing) {
  for (const char* source : {"", "int x;\n", "/* ingot: */\n"}) {
    const auto request = ParseCompileRequest(source);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(request->cc, "");
    EXPECT_THAT(request->flags, IsEmpty());
  }
}

TEST(CompileRequestTest, KnowsCompilers) {
  for (const char* cc :
       {"cc", "gcc", "clang", "gcc-12", "clang-19", "aarch64-linux-gnu-gcc",
        "riscv64-unknown-linux-gnu-gcc-12.2", "x86_64-linux-musl-gcc"}) {
    EXPECT_EQ(CheckCompilerName(cc), absl::OkStatus()) << cc;
  }
}

// Each of these is, or could be, a program on somebody's PATH that does
// something else with a file than compile it.
TEST(CompileRequestTest, RefusesOtherPrograms) {
  for (const char* cc : {"",
                         "python3",
                         "perl",
                         "sh",
                         "tcc",
                         "/bin/sh",
                         "./gcc",
                         "../gcc",
                         "/usr/bin/gcc",
                         "-gcc",
                         "gcc-",
                         "gcc-ar",
                         "gcc-ranlib-12",
                         "gcc-12x",
                         "clang-format-19",
                         "clang-repl-19",
                         "clang-19-evil",
                         "ccache",
                         "gcc ",
                         "evil-gcc",
                         "aarch64-linux-gnu-",
                         "aarch64-linux-gnu-python3",
                         "aarch64-gcc",
                         "x-aarch64-linux-gnu-gcc",
                         "env",
                         "@gcc"}) {
    EXPECT_EQ(CheckCompilerName(cc).code(), absl::StatusCode::kInvalidArgument)
        << cc;
  }
}

TEST(CompileRequestTest, KnowsFlags) {
  for (const char* flag :
       {"-O2", "-std=c99", "-fwrapv", "-ffp-contract=fast", "-fno-math-errno",
        "-fno-trapping-math", "-march=native", "-march=armv8.2-a+fp16",
        "-mcpu=cortex-a72", "-mavx2", "-mno-avx512f", "-mamx-tile",
        "-mprefer-vector-width=256", "-DX", "-D_GNU_SOURCE=1", "-DV=1.5e-3f"}) {
    EXPECT_EQ(CheckCompilerFlag(flag), absl::OkStatus()) << flag;
  }
}

// Flags that read or write files, load code into the compiler, take the next
// word with them, or stop it from making an object.
TEST(CompileRequestTest, RefusesOtherFlags) {
  for (const char* flag : {"",
                           "-",
                           "--",
                           "x.c",
                           "@flags",
                           "-o",
                           "-include",
                           "-includex.h",
                           "-I/usr/include",
                           "-imacros",
                           "-B.",
                           "-specs=x",
                           "-wrapper",
                           "-fplugin=x",
                           "-fpass-plugin=x",
                           "-fplugin-arg-x-y",
                           "-fdump-tree-all",
                           "-fprofile-use=x",
                           "-fprofile-generate",
                           "-fauto-profile=x",
                           "-fuse-ld=x",
                           "-fmodules-cache-path=x",
                           "-fsanitize=address",
                           "-fsanitize-blacklist=x",
                           "-fdiagnostics-format=json-file",
                           "-fcallgraph-info",
                           "-fstack-usage",
                           "-fsave-optimization-record",
                           "-flto",
                           "-mllvm",
                           "-mrelax-all",
                           "-march=",
                           "-march=a/b",
                           "-march=a,b",
                           "-D",
                           "-D1",
                           "-DX=a/b",
                           "-DX=\"x\"",
                           "-DX(y)=z",
                           "-Wl,-rpath",
                           "-Wa,x",
                           "-Wp,-MD,x",
                           "-gsplit-dwarf",
                           "-save-temps",
                           "-Xclang",
                           "-x",
                           "-E",
                           "-S",
                           "-M",
                           "-Q"}) {
    EXPECT_EQ(CheckCompilerFlag(flag).code(),
              absl::StatusCode::kInvalidArgument)
        << flag;
  }
}

TEST(CompileRequestTest, RefusesMalformedRequests) {
  for (const char* source :
       {"/* ingot: cc=gcc", "/* ingot: surprise */\n",
        "/* ingot: -O2 */\n",  // flags without cflags=
        "/* ingot: cflags=-O2 cc=gcc */\n", "/* ingot: cc=python3 */\n",
        "/* ingot: cc= */\n"}) {
    EXPECT_EQ(ParseCompileRequest(source).status().code(),
              absl::StatusCode::kInvalidArgument)
        << source;
  }
}

}  // namespace
}  // namespace ingot
