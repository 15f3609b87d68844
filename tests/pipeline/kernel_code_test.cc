// The machine code of the main kernels, as `ingot inspect` shows it: which
// vectors the hottest loop multiplies, how many of them for the instructions
// around, and that its sums stay in registers. For processors that need not be
// this one.
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The loop that has most of them.
struct HotLoop {
  int products = 0;      // instructions that multiply
  int instructions = 0;  // all
  int spills = 0;        // those that read or write the stack
};

// Reads a listing, in which a comment before each innermost loop says how many
// instructions it has.
HotLoop HottestLoop(const std::string& listing, const std::string& product) {
  const std::vector<std::string> lines = absl::StrSplit(listing, '\n');
  const std::regex hot("hot loop, [0-9]+ deep: ([0-9]+) instructions");
  const std::regex instruction("^ +[0-9a-f]+:"), multiplies(product);
  const std::regex stack("\\[(rsp|sp)\\b");
  HotLoop hottest;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::smatch found;
    if (!std::regex_search(lines[i], found, hot)) continue;
    HotLoop loop;
    int length = 0;
    EXPECT_TRUE(absl::SimpleAtoi(found[1].str(), &length));
    for (size_t j = i + 1; j < lines.size() && loop.instructions < length;
         ++j) {
      if (!std::regex_search(lines[j], instruction)) continue;
      ++loop.instructions;
      loop.products += std::regex_search(lines[j], multiplies) ? 1 : 0;
      loop.spills += std::regex_search(lines[j], stack) ? 1 : 0;
    }
    if (loop.products > hottest.products) hottest = loop;
  }
  return hottest;
}

class KernelCodeTest : public CliTest {
 protected:
  // The listing of the code for a module with this main.
  std::string Listing(const std::string& main, const std::string& target) {
    WriteFileBytes(Path("m.relay"),
                   absl::StrCat("module { func @main", main, " }"));
    Do({"compile", "@m.relay", "-o", "@m.ingot", "--target=llvm " + target});
    return Do({"inspect", "@m.ingot", "--artifact=m_kernels.o"});
  }

  // Expects as many products at least, in so many times as many instructions at
  // most.
  void ExpectLoop(const std::string& main, const std::string& target,
                  const std::string& product, int products, double share,
                  int spills = 0) {
    SCOPED_TRACE(target);
    const HotLoop loop = HottestLoop(Listing(main, target), product);
    EXPECT_GE(loop.products, products);
    EXPECT_LE(loop.instructions, share * loop.products);
    EXPECT_LE(loop.spills, spills);
  }
};

const char kHaswell[] = "-mtriple=x86_64-linux-gnu -mcpu=haswell";
const char kSkylake[] = "-mtriple=x86_64-linux-gnu -mcpu=skylake-avx512";
const char kCascadeLake[] = "-mtriple=x86_64-linux-gnu -mcpu=cascadelake";
const char kIcelake[] = "-mtriple=x86_64-linux-gnu -mcpu=icelake-server";
const char kCortex[] = "-mtriple=aarch64-linux-gnu -mcpu=cortex-a76";

TEST_F(KernelCodeTest, Products) {
  const auto product = [](int terms) {
    return absl::Substitute(R"((%x: f32[96, $0]) -> (%y) {
    %w = const f32[$0, 192] random(1)
    %y = matmul(%x, %w)
  })",
                            terms);
  };
  ExpectLoop(product(32), kHaswell, "vfmadd.*ymm", 12, 2);
  ExpectLoop(product(32), kSkylake, "vfmadd.*zmm", 24, 1.6);
  ExpectLoop(product(32), kCortex, "fmla", 24, 1.6);
  // These ask for weights.
  ExpectLoop(product(256), kHaswell, "vfmadd.*ymm", 12, 2);
  ExpectLoop(product(256), kSkylake, "vfmadd.*zmm", 24, 1.65);
  ExpectLoop(product(256), kCortex, "fmla", 24, 1.7);
}

TEST_F(KernelCodeTest, Convolutions) {
  const std::string main = R"((%x: f32[1, 64, 30, 30]) -> (%y) {
    %w = const f32[64, 64, 5, 5] random(1)
    %y = conv2d(%x, %w) {pads=[2, 2, 2, 2]}
  })";
  ExpectLoop(main, kHaswell, "vfmadd.*ymm", 12, 2);
  ExpectLoop(main, kSkylake, "vfmadd.*zmm", 24, 1.8);
  // Its weights do not stay in the smaller cache there, and are asked for.
  ExpectLoop(main, kCortex, "fmla", 24, 2.1);
}

// Weights that are asked for in advance. A tile of 13 rows fills the registers;
// of one of 5 rows and 2 vectors, eight steps are written out.
TEST_F(KernelCodeTest, ConvolutionsWithWeightsFromMemory) {
  const auto convolution = [](int in, int out, int width) {
    return absl::Substitute(R"((%x: f32[1, $0, $2, $2]) -> (%y) {
    %w = const f32[$1, $0, 1, 1] random(1)
    %y = conv2d(%x, %w)
  })",
                            in, out, width);
  };
  const std::string rows = convolution(512, 1000, 13);
  ExpectLoop(rows, kHaswell, "vfmadd.*ymm", 13, 2.4);
  ExpectLoop(rows, kSkylake, "vfmadd.*zmm", 12, 2.3);
  ExpectLoop(rows, kCortex, "fmla", 24, 2);
  const std::string columns = convolution(256, 1024, 14);
  ExpectLoop(columns, kHaswell, "vfmadd.*ymm", 80, 1.9);
  ExpectLoop(columns, kSkylake, "vfmadd.*zmm", 12, 2.3);
  ExpectLoop(columns, kCortex, "fmla", 24, 2);
}

// Where no instruction multiplies bytes, numbers of 16 bits are multiplied in
// pairs: beside each product of vectors are a sum and few loads.
TEST_F(KernelCodeTest, ProductsOfBytes) {
  const std::string product = R"((%x: u8[96, 128]) -> (%y) {
    %w = const i8[128, 192] random(1)
    %y = matmul(%x, %w) {out_dtype=i32}
  })";
  const auto convolution = [](int channels, int taps) {
    return absl::Substitute(R"((%x: u8[1, $0, 30, 30]) -> (%y) {
    %w = const i8[64, $0, $1, $1] random(1)
    %y = conv2d(%x, %w) {out_dtype=i32}
  })",
                            channels, taps);
  };
  for (const std::string& main : {product, convolution(16, 5)}) {
    ExpectLoop(main, kHaswell, "vpmaddwd.*ymm", 8, 3.2);
    ExpectLoop(main, kSkylake, "vpmaddwd.*zmm", 24, 2.9);
    ExpectLoop(main, kCascadeLake, "vpdpbusd.*zmm", 24, 1.8);
  }
  // It asks for weights.
  ExpectLoop(convolution(64, 5), kHaswell, "vpmaddwd.*ymm", 8, 3.25);
  ExpectLoop(convolution(64, 5), kSkylake, "vpmaddwd.*zmm", 24, 2.9);
  ExpectLoop(convolution(64, 5), kCascadeLake, "vpdpbusd.*zmm", 24, 1.9);
  // By tiles, whose numbers are of 16 bits.
  ExpectLoop(convolution(64, 3), kHaswell, "vpmaddwd.*ymm", 16, 3.6);
  ExpectLoop(convolution(64, 3), kCascadeLake, "vpdpwssd.*zmm", 20, 1.9);
}

TEST_F(KernelCodeTest, ProductsOfFewBits) {
  const std::string main = R"((%x: f32[64, 256]) -> (%y) {
    %w = const u8[96, 8, 16] random(1)
    %s = const f32[96, 8] random(2)
    %y = dense_bits(%x, %w, %s) {bits=4, data_bits=8}
  })";
  // Four rows with eight words, whose numbers leave few of 16 registers.
  ExpectLoop(main, kHaswell, "vpmaddubsw.*ymm", 32, 5, 8);
  ExpectLoop(main, kSkylake, "vpmaddubsw.*zmm", 64, 5, 4);
  ExpectLoop(main, kCascadeLake, "vpdpbusd.*zmm", 64, 2.5, 4);
  // LLVM loads what all rows need first here, which is more than registers
  // hold.
  ExpectLoop(main, kCortex, "sdot", 64, 5.2, 64);
}

// 64 bytes at once: two instructions choose among the halves of a table.
TEST_F(KernelCodeTest, TablesOfBytes) {
  ExpectLoop(R"((%x: u8[4096]) -> (%y) {
    %t = const u8[256] random(1)
    %y = look_up(%x, %t)
  })",
             kIcelake, "vperm[it]2b.*zmm", 2, 6);
}

// Four vectors of results are looked up at once: two instructions put their
// bytes side by side.
TEST_F(KernelCodeTest, TablesOfRoundedSums) {
  const std::string listing = Listing(R"((%x: u8[1, 16, 8, 8]) -> (%y) {
    %w = const i8[16, 16, 1, 1] random(1)
    %s = const f32[1] fill(0.07)
    %z = const u8[1] fill(121)
    %one = const f32[1] fill(0.01)
    %c = conv2d(%x, %w) {out_dtype=i32}
    %f = cast(%c) {dtype=f32}
    %q = quantize(%f, %s, %z) {dtype=u8}
    %d = dequantize(%q, %s, %z)
    %h = sigmoid(%d)
    %u = quantize(%h, %one) {dtype=u8}
    %y = conv2d(%u, %w) {out_dtype=i32}
  })",
                                      kIcelake);
  EXPECT_TRUE(absl::StrContains(listing, "vpermt2b") ||
              absl::StrContains(listing, "vpermi2b"));
  EXPECT_FALSE(absl::StrContains(listing, "vpmovdb"));
}

// Three taps of a row are one product of words, whose data a load and a
// permutation give.
TEST_F(KernelCodeTest, DepthwiseBytes) {
  const std::string main = R"((%x: u8[1, 32, 64, 64]) -> (%y) {
    %w = const i8[32, 1, 3, 3] random(1)
    %y = conv2d(%x, %w) {groups=32, out_dtype=i32}
  })";
  ExpectLoop(main, kIcelake, "vpdpbusd.*zmm", 24, 4);
  ExpectLoop(main, kCascadeLake, "vpdpbusd.*zmm", 24, 5);
}

// Floats become bytes, and these floats again, by products and sums, without a
// division or a conversion between.
TEST_F(KernelCodeTest, RoundingToBytes) {
  const std::string main = R"((%x: f32[4096], %c: f32[1]) -> (%y) {
    %s = const f32[1] fill(0.07)
    %z = const u8[1] fill(121)
    %t = const f32[1] fill(0.03)
    %q = quantize(%x, %s, %z) {dtype=u8}
    %d = dequantize(%q, %s, %z)
    %a = add(%d, %c)
    %r = relu(%a)
    %y = quantize(%r, %t) {dtype=u8}
  })";
  // Two limits, two steps of the division, a sum that rounds, one that takes
  // the rest away, and for the second byte the limits alone, division and sum.
  ExpectLoop(main, kSkylake, "vpmovdb", 1, 19);
  EXPECT_THAT(Listing(main, kSkylake), Not(HasSubstr("vdivps")));
  EXPECT_THAT(Listing(main, kSkylake), Not(HasSubstr("vcvt")));
  EXPECT_THAT(Listing(main, kCortex), Not(HasSubstr("fdiv")));
}

// Weights that stay in a cache are not asked for.
// By the instructions for vectors, not number by number.
TEST_F(KernelCodeTest, FloatsBecomeIntegers) {
  const auto listing = [&](absl::string_view from, absl::string_view to,
                           const char* target) {
    return Listing(absl::Substitute(R"((%x: $0[4096]) -> (%y) {
                     %y = cast(%x) {dtype=$1}
                   })",
                                    from, to),
                   target);
  };
  for (const char* from : {"f32", "f64"}) {
    for (const char* to : {"i32", "u32", "i64", "u64"}) {
      SCOPED_TRACE(absl::StrCat(from, " to ", to));
      EXPECT_THAT(listing(from, to, kSkylake),
                  Not(ContainsRegex("vcvtts[sd]2u?si")));
    }
    EXPECT_THAT(listing(from, "i32", kHaswell),
                Not(ContainsRegex("vcvtts[sd]2si")));
  }
  EXPECT_THAT(listing("f32", "i64", kSkylake), HasSubstr("vcvttps2qq"));
  EXPECT_THAT(listing("f32", "i32", kHaswell), HasSubstr("vcvttps2dq"));
}

TEST_F(KernelCodeTest, WeightsAreAskedForInAdvance) {
  const auto product = [](int columns) {
    return absl::Substitute(R"((%x: f32[64, 1024]) -> (%y) {
    %w = const f32[1024, $0] random(1)
    %y = matmul(%x, %w)
  })",
                            columns);
  };
  EXPECT_THAT(Listing(product(1024), kHaswell), HasSubstr("prefetcht0"));
  EXPECT_THAT(Listing(product(1024), kCortex), HasSubstr("prfm"));
  EXPECT_THAT(Listing(product(16), kHaswell), Not(HasSubstr("prefetch")));
  const std::string window = R"((%x: f32[1, 256, 14, 14]) -> (%y) {
    %w = const f32[512, 256, 1, 1] random(1)
    %y = conv2d(%x, %w)
  })";
  EXPECT_THAT(Listing(window, kHaswell), HasSubstr("prefetcht0"));
  const std::string of_few_bits = R"((%x: f32[1, 2048]) -> (%y) {
    %w = const u8[2048, 64, 16] random(1)
    %s = const f32[2048, 64] random(2)
    %y = dense_bits(%x, %w, %s) {bits=4, data_bits=8}
  })";
  EXPECT_THAT(Listing(of_few_bits, kHaswell), HasSubstr("prefetcht0"));
  // C has the request, too, and leaves it out for compilers that know none.
  Do({"compile", "@m.relay", "-o", "@c.ingot", "--target=c -mcpu=haswell"});
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--artifact=m_kernels.c"}),
              HasSubstr("ingot_prefetch_bytes(&"));
  Do({"link", "@c.ingot", "-o", "@c.so"});
}

#ifdef __x86_64__
// GCC tunes for an older processor where it does not know this one.
TEST_F(KernelCodeTest, CIsTunedForWideVectors) {
  WriteFileBytes(Path("m.relay"),
                 "module { func @main(%x: f32[96]) -> (%y) { %y = exp(%x) } }");
  for (const bool by_gcc : {true, false}) {
    Do({"compile", "@m.relay", "-o", "@c.ingot",
        absl::StrCat("--target=c -mcpu=native -cc=",
                     by_gcc ? "gcc" : "clang-19")});
    const std::string tuned = "-mtune=icelake-server";
    EXPECT_EQ(absl::StrContains(
                  Do({"inspect", "@c.ingot", "--artifact=m_kernels.c"}), tuned),
              by_gcc && __builtin_cpu_supports("avx512f"))
        << by_gcc;
  }
}
#endif

TEST_F(KernelCodeTest, TilesAreConfiguredOnce) {
  const std::string listing =
      Listing(R"((%x: f32[96, 256]) -> (%y) {
    %w = const f32[256, 192] random(1)
    %y = matmul(%x, %w)
  })",
              "-mtriple=x86_64-linux-gnu -mcpu=sapphirerapids "
              "-matmul-precision=medium");
  EXPECT_GE(HottestLoop(listing, "tdpbf16ps").products, 16);
  // Sums that start from zero are not loaded.
  EXPECT_THAT(listing, HasSubstr("tilezero"));
  EXPECT_THAT(listing, Not(testing::ContainsRegex("tileloadd tmm[0-3],")));
  const std::vector<std::string> parts = absl::StrSplit(listing, "ldtilecfg");
  EXPECT_EQ(parts.size(), 2u);
}

TEST_F(KernelCodeTest, TilesOfBytes) {
  const std::string product = R"((%x: u8[96, 512]) -> (%y) {
    %w = const i8[512, 192] random(1)
    %y = matmul(%x, %w) {out_dtype=i32}
  })";
  const std::string convolution = R"((%x: u8[1, 512, 32, 32]) -> (%y) {
    %w = const i8[64, 512, 1, 1] random(1)
    %y = conv2d(%x, %w) {out_dtype=i32}
  })";
  for (const std::string& main : {product, convolution}) {
    const std::string listing =
        Listing(main, "-mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
    EXPECT_GE(HottestLoop(listing, "tdpbusd").products, 16);
    const std::vector<std::string> parts = absl::StrSplit(listing, "ldtilecfg");
    EXPECT_EQ(parts.size(), 2u);
  }
}

// The sums of a group of numbers leave a tile that was never loaded, and each
// row of them is loaded from the stack, scaled and added by five instructions.
TEST_F(KernelCodeTest, TilesOfFewBits) {
  const std::string listing =
      Listing(R"((%x: f32[64, 256]) -> (%y) {
    %w = const u8[96, 8, 16] random(1)
    %s = const f32[96, 8] random(2)
    %y = dense_bits(%x, %w, %s) {bits=4, data_bits=8}
  })",
              "-mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
  const HotLoop loop = HottestLoop(listing, "tdpbsud");
  EXPECT_EQ(loop.products, 1);
  EXPECT_LE(loop.instructions, 16 * 5 + 14);
  EXPECT_LE(loop.spills, 16);
  EXPECT_EQ(HottestLoop(listing, "vfmadd.*zmm").products, 16);
  EXPECT_EQ(HottestLoop(listing, "tilezero").products, 1);
  EXPECT_EQ(HottestLoop(listing, "tilestored").products, 1);
  EXPECT_EQ(HottestLoop(listing, "ldtilecfg").products, 0);
  const std::vector<std::string> parts = absl::StrSplit(listing, "ldtilecfg");
  EXPECT_EQ(parts.size(), 2u);
}

}  // namespace
}  // namespace ingot
