// Which loops of a kernel threads share, as `--dump-ir` shows them: each thread
// should find what it reads where it wrote it, and have as much to do as the
// others, also where only a run knows the batch, which is then one.
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SharedLoopsTest : public CliTest {
 protected:
  void Compile(const std::string& main) {
    WriteFileBytes(Path("m.relay"),
                   absl::StrCat("module { func @main", main, " }"));
    Do({"compile", "@m.relay", "-o", "@m.ingot", "--dump-ir=@ir",
        "--target=llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"});
  }

  std::string Loops(const std::string& kernel) const {
    return ReadFile(Path(absl::StrCat("ir/tir/m_", kernel, "/00_lower.tir")));
  }

  // The loops of a kernel that threads share, as "i2 in [0, 7)".
  std::vector<std::string> Shared(const std::string& kernel) const {
    std::vector<std::string> shared;
    const std::string loops = Loops(kernel);
    for (absl::string_view line : absl::StrSplit(loops, '\n')) {
      line = absl::StripLeadingAsciiWhitespace(line);
      if (absl::ConsumePrefix(&line, "parallel ")) {
        shared.emplace_back(absl::StripSuffix(line, " {"));
      }
    }
    return shared;
  }
};

// A kernel that reads all channels of some rows finds them where its thread
// wrote them.
TEST_F(SharedLoopsTest, RowsOfImages) {
  Compile(R"((%x: f32[1, 64, 40, 40]) -> (%depthwise) {
    %w = const f32[64, 64, 1, 1] random(1)
    %y = conv2d(%x, %w)
    %k = const f32[64, 1, 3, 3] random(2)
    %depthwise = conv2d(%y, %k) {pads=[1, 1, 1, 1], groups=64}
  })");
  EXPECT_THAT(Shared("layout_transform"), ElementsAre("i0_i2_i1 in [0, 160)"));
  EXPECT_THAT(Shared("conv2d"), ElementsAre("i0_i2_i3o in [0, 10)"));
  EXPECT_THAT(Shared("conv2d_1"), ElementsAre("i2o in [0, 8)"));
}

// An image of few rows has more channels.
TEST_F(SharedLoopsTest, ChannelsOfImagesOfFewRows) {
  Compile(R"((%x: f32[1, 512, 7, 20]) -> (%y) {
    %k = const f32[512, 1, 3, 3] random(1)
    %y = conv2d(%x, %k) {pads=[1, 1, 1, 1], groups=512}
  })");
  EXPECT_THAT(Shared("conv2d"), ElementsAre("i0_i1 in [0, 32)"));
}

TEST_F(SharedLoopsTest, OpenSizes) {
  Compile(R"((%x: f32[n, 32, h, w]) -> (%conv, %pool) {
    %w = const f32[32, 32, 3, 3] random(1)
    %conv = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %pool = avg_pool2d(%conv) {kernel=[3, 3], pads=[1, 1, 1, 1]}
  })");
  EXPECT_THAT(Shared("layout_transform"), ElementsAre("i0_i2 in [0, n * h)"));
  EXPECT_THAT(Shared("avg_pool2d"),
              ElementsAre("i0_i2o in [0, n * ((h + 3) // 4))"));
  // The padding, and tiles that a thread transforms and multiplies.
  EXPECT_THAT(
      Shared("winograd_conv2d"),
      ElementsAre("i2 in [0, h)", "i2 in [0, (h + 3) // 4 * 4 - h + 1)",
                  "i2o_i3oo in [0, ((h + 3) // 4 * ((w + 3) // 4) + 15) // "
                  "16)"));
  EXPECT_THAT(Loops("winograd_conv2d"),
              HasSubstr("alloc %winograd_conv2d_tiles: f32[1, 6, 6, 2, 16, "
                        "16] stack"));
}

// A concatenation cannot be one loop over its channels.
TEST_F(SharedLoopsTest, PartsOfABatchOfOne) {
  Compile(R"((%x: f32[n, 24, h, w], %y: f32[n, 40, h, w]) -> (%z) {
    %z = concat(%x, %y) {axis=1}
  })");
  EXPECT_THAT(Shared("concat"), ElementsAre("i1 in [0, 24)", "i1 in [0, 40)"));
}

// The last 2 of 26 rows are a part as the three times 8 before them.
TEST_F(SharedLoopsTest, FewTilesAndWhatTheyLeaveOver) {
  Compile(R"((%x: f32[1, 32, 26, 26]) -> (%y) {
    %w = const f32[32, 32, 3, 3] random(1)
    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
  })");
  EXPECT_THAT(Shared("winograd_conv2d"), ElementsAre("i2o in [0, 4)"));
}

// Both threads multiply half of the rows, which is 6 of 12 blocks; by the
// second-level cache there would be 3.
TEST_F(SharedLoopsTest, AsManyRowsOfAProduct) {
  Compile(R"((%x: f32[3136, 96]) -> (%y) {
    %w = const f32[96, 384] random(1)
    %y = matmul(%x, %w)
  })");
  EXPECT_THAT(Shared("dense_packed"), ElementsAre("i0o in [0, 12)"));
}

// The first 4 of 7 rows of tiles lie before the others, in the memory of the
// thread that multiplies them, too, which is padded for the cache's sets.
TEST_F(SharedLoopsTest, ChunksOfTilesThatLeaveTheStack) {
  Compile(R"((%x: f32[1, 64, 28, 28]) -> (%y) {
    %w = const f32[64, 64, 3, 3] random(1)
    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
  })");
  EXPECT_THAT(Shared("winograd_conv2d"),
              ElementsAre("i4o_i3 in [0, 8)", "i2o_i1o in [0, 4)"));
  EXPECT_THAT(Loops("winograd_conv2d"),
              HasSubstr("workspace(%winograd_conv2d_tiles: "
                        "f32[2, 1, 6, 6, 5, 5, 7, 16])"));
}

// Threads meet once, not for each of the images.
TEST_F(SharedLoopsTest, ChunksOfTilesOfManyImages) {
  Compile(R"((%x: f32[9, 64, 16, 16]) -> (%y) {
    %w = const f32[64, 64, 3, 3] random(1)
    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
  })");
  EXPECT_THAT(Shared("winograd_conv2d"), ElementsAre("i0_i2o in [0, 18)"));
}

// Where all of them leave the second-level cache, too, each chunk is
// transformed and multiplied before the next.
TEST_F(SharedLoopsTest, ChunksOfTilesThatLeaveTheCache) {
  Compile(R"((%x: f32[1, 96, 28, 28]) -> (%y) {
    %w = const f32[96, 96, 3, 3] random(1)
    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
  })");
  EXPECT_THAT(Shared("winograd_conv2d"),
              ElementsAre("i3 in [0, 6)", "i1o in [0, 3)", "i3 in [0, 6)",
                          "i1o in [0, 3)"));
}

// Weights that leave the cache are read for half of the rows at a time.
TEST_F(SharedLoopsTest, HalvesOfTheRowsOfManyChannels) {
  Compile(R"((%x: f32[1, 128, 56, 56]) -> (%y) {
    %w = const f32[128, 128, 3, 3] random(1)
    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1], strides=[2, 2]}
  })");
  EXPECT_THAT(Loops("conv2d"), HasSubstr("parallel i0_i2o_i1o_i2i"));
}

}  // namespace
}  // namespace ingot
