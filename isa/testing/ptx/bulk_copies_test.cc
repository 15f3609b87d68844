// Copies of boxes of tensors, against loops over their elements, and the
// barriers that count them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/testing/ptx/run_text.h"
#include "isa/testing/ptx/tensor_map.h"

namespace ingot::isa::ptx {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr int kThreads = 64;
constexpr uint32_t kInWords = 6000;

std::vector<uint32_t> Numbers() {
  std::vector<uint32_t> numbers(kInWords);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

// Elements are words. Rows have 4 words more than the tensor says, and so do
// the other dimensions.
TensorMap MapOf(const std::vector<uint32_t>& extents,
                const std::vector<uint32_t>& box,
                uint32_t swizzle = kSwizzleNone) {
  TensorMap map;
  map.rank = static_cast<uint32_t>(extents.size());
  map.element_bytes = 4;
  map.swizzle = swizzle;
  uint64_t stride = 4;
  for (uint32_t k = 0; k < map.rank; ++k) {
    map.extents[k] = extents[k];
    map.box[k] = box[k];
    stride = (stride * extents[k] + 15) / 16 * 16 + 16;
    if (k + 1 < map.rank) map.strides[k] = stride;
  }
  return map;
}

// The words of a box at these coordinates, innermost first.
std::vector<uint32_t> BoxOf(const TensorMap& map,
                            const std::vector<int>& coordinates) {
  const std::vector<uint32_t> in = Numbers();
  std::vector<uint32_t> words(map.BoxBytes() / 4);
  for (size_t word = 0; word < words.size(); ++word) {
    size_t rest = word, offset = 0;
    bool is_inside = true;
    for (uint32_t k = 0; k < map.rank; ++k) {
      const int index = coordinates[k] + static_cast<int>(rest % map.box[k]);
      rest /= map.box[k];
      is_inside &= index >= 0 && index < static_cast<int>(map.extents[k]);
      offset += index * (k == 0 ? 1 : map.strides[k - 1] / 4);
    }
    const size_t place =
        map.swizzle == kSwizzle128 ? word ^ ((word >> 5 & 7) << 2) : word;
    words[place] = is_inside ? in.at(offset) : 0;
  }
  return words;
}

constexpr char kFence[] = "fence.mbarrier_init.release.cluster;\n";

// Makes a barrier for one arrival; %p0 are those threads that are not the one.
std::string Beginning(int thread = 0, const std::string& fence = kFence) {
  return R"(
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b8 barrier[8];
  mov.b64 %d4, k_param_2;
  mov.u64 %d5, %d4;
  cvta.param.u64 %d2, %d5;
  mov.u64 %d1, tile;
  mov.u64 %d3, barrier;
  setp.ne.u32 %p0, %t, )" +
         std::to_string(thread) + R"(;
  @%p0 bra $made;
  mbarrier.init.shared::cta.b64 [%d3], 1;
  )" + fence +
         R"($made:
  bar.sync 0;
)";
}

std::string Arrival(uint64_t bytes) {
  return "@!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%d3], " +
         std::to_string(bytes) + ";\n";
}

std::string CopyOf(const std::vector<int>& coordinates) {
  std::string text = "@!%p0 cp.async.bulk.tensor." +
                     std::to_string(coordinates.size()) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%d1], [%d2, {";
  for (size_t k = 0; k < coordinates.size(); ++k) {
    text += (k > 0 ? ", " : "") + std::to_string(coordinates[k]);
  }
  return text + "}], [%d3];\n";
}

std::string Wait(int parity) {
  const std::string label = "$try" + std::to_string(parity);
  return label + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%d3], " +
         std::to_string(parity) + ";\n@!%p1 bra " + label + ";\n";
}

// Adds `words` words of the tile for each thread to its words.
std::string Read(int words) {
  std::string text = "mul.wide.u32 %d6, %t, " + std::to_string(4 * words) +
                     ";\nadd.s64 %d6, %d1, %d6;\n";
  for (int k = 0; k < words; ++k) {
    const std::string offset = "+" + std::to_string(4 * k) + "]";
    text += "ld.shared.u32 %r1, [%d6" + offset + ";\nld.global.u32 %r2, [%out" +
            offset + ";\nadd.s32 %r1, %r1, %r2;\nst.global.u32 [%out" + offset +
            ", %r1;\n";
  }
  return text;
}

// Each test's kernel adds to what is there.
Failure RunBody(const std::string& body, const TensorMap& map,
                std::vector<uint32_t>* out) {
  const int words = static_cast<int>(map.BoxBytes() / 4 / kThreads);
  out->assign(words * kThreads, 0);
  std::string zeros = "mov.u32 %r3, 0;\n";
  for (int k = 0; k < words; ++k) {
    zeros += "st.global.u32 [%out+" + std::to_string(4 * k) + "], %r3;\n";
  }
  return RunText(KernelWithMap(zeros + body, words), kThreads, Numbers(), out,
                 1, &map);
}

TEST(PtxBulkCopies, CopyBoxes) {
  struct Case {
    TensorMap map;
    std::vector<int> coordinates;
  };
  const TensorMap plane = MapOf({38, 11}, {16, 8}),
                  swizzled = MapOf({38, 11}, {32, 8}, kSwizzle128),
                  narrow = MapOf({38, 11}, {8, 16}, kSwizzle128),
                  cube = MapOf({11, 5, 7}, {8, 4, 4});
  const Case cases[] = {
      {plane, {2, 3}},
      {plane, {-3, -2}},
      {plane, {30, 7}},
      {plane, {100, 2}},
      {plane, {0, -8}},
      {plane, {-2147483647, 0}},
      {swizzled, {2, 3}},
      {swizzled, {-3, -2}},
      {swizzled, {30, 7}},
      {narrow, {3, 1}},
      {cube, {0, 0, 0}},
      {cube, {5, 3, 5}},
      {cube, {-5, -3, -1}},
      {cube, {8, 4, 7}},
      {MapOf({999}, {64}), {940}},
      {MapOf({5, 4, 3, 2}, {4, 4, 4, 2}), {1, 1, -1, -1}},
      {MapOf({5, 4, 3, 2, 3}, {4, 4, 4, 2, 2}), {1, 1, -1, 0, 2}},
  };
  for (const Case& c : cases) {
    const uint64_t bytes = c.map.BoxBytes();
    // The first warp waits for what the second begins.
    for (const int thread : {0, 35}) {
      std::vector<uint32_t> out;
      const Failure failure =
          RunBody(Beginning(thread) + Arrival(bytes) + CopyOf(c.coordinates) +
                      Wait(0) + Read(static_cast<int>(bytes / 4 / kThreads)),
                  c.map, &out);
      ASSERT_EQ(failure.code, 0) << failure.text;
      EXPECT_EQ(out, BoxOf(c.map, c.coordinates))
          << ::testing::PrintToString(c.coordinates);
    }
  }
}

const TensorMap& Plane() {
  static const auto* const plane = new TensorMap(MapOf({38, 11}, {16, 8}));
  return *plane;
}
constexpr int kBytes = 512;
constexpr int kWords = kBytes / 4 / kThreads;

TEST(PtxBulkCopies, BarriersHavePhases) {
  std::vector<uint32_t> out;
  // The bytes may be counted before they are expected.
  const Failure failure =
      RunBody(Beginning() + Arrival(kBytes) + CopyOf({1, 2}) + Wait(0) +
                  Read(kWords) + "bar.sync 0;\n" + CopyOf({4, 1}) +
                  Arrival(kBytes) + Wait(1) + Read(kWords),
              Plane(), &out);
  ASSERT_EQ(failure.code, 0) << failure.text;
  const std::vector<uint32_t> first = BoxOf(Plane(), {1, 2}),
                              second = BoxOf(Plane(), {4, 1});
  for (size_t k = 0; k < out.size(); ++k) {
    EXPECT_EQ(out[k], first[k] + second[k]);
  }
}

// A phase before the first has ended.
TEST(PtxBulkCopies, BarriersBeginInPhaseZero) {
  std::vector<uint32_t> out;
  const Failure failure = RunBody(Beginning() + Wait(1), Plane(), &out);
  EXPECT_EQ(failure.code, 0) << failure.text;
  EXPECT_THAT(out, Each(0));
}

std::string FailureText(const std::string& body,
                        const TensorMap& map = Plane()) {
  std::vector<uint32_t> out;
  const Failure failure = RunBody(body, map, &out);
  EXPECT_NE(failure.code, 0);
  return failure.text;
}

TEST(PtxBulkCopies, DeadlocksAreFound) {
  EXPECT_THAT(FailureText(Beginning() + Wait(0)),
              AllOf(HasSubstr("k, line "), HasSubstr("a deadlock"),
                    HasSubstr("1 arrivals and 0 bytes in phase 0")));
  EXPECT_THAT(FailureText(Beginning() + Arrival(kBytes + 16) + CopyOf({0, 0}) +
                          Wait(0)),
              HasSubstr("0 arrivals and 16 bytes"));
  EXPECT_THAT(FailureText(Beginning() + Arrival(kBytes - 16) + CopyOf({0, 0}) +
                          Wait(0)),
              HasSubstr("0 arrivals and -16 bytes"));
  // Bytes outside of the tensor count, too.
  EXPECT_THAT(
      FailureText(Beginning() + Arrival(256) + CopyOf({30, 0}) + Wait(0)),
      HasSubstr("0 arrivals and -256 bytes"));
  // One warp waits for the barrier, the other for the whole block.
  EXPECT_THAT(
      FailureText(Beginning() + "setp.ge.u32 %p2, %t, 32;\n@%p2 bra $rest;\n" +
                  Wait(0) + "$rest:\nbar.sync 0;\n"),
      HasSubstr("warp 0 waits"));
}

// Threads that try let the others of their warp go on.
TEST(PtxBulkCopies, ThreadsOfAWarpWaitForEachOther) {
  std::vector<uint32_t> out;
  const Failure failure = RunBody(
      Beginning(5) + "@%p0 bra $wait;\nbra $arrive;\n" + "$wait:\n" + Wait(0) +
          "bra $end;\n" + "$arrive:\n" + Arrival(0) + "$end:\n",
      Plane(), &out);
  EXPECT_EQ(failure.code, 0) << failure.text;
}

TEST(PtxBulkCopies, AreWaitedFor) {
  const std::string begin = Beginning() + Arrival(kBytes) + CopyOf({0, 0});
  EXPECT_THAT(FailureText(begin + Read(kWords) + Wait(0)),
              HasSubstr("the warp has not waited for the bulk copy of line"));
  EXPECT_THAT(FailureText(begin + "st.shared.u32 [tile], %r1;\n" + Wait(0)),
              HasSubstr("the warp has not waited for the bulk copy of line"));
  EXPECT_THAT(FailureText(begin + "st.shared.u8 [tile], %t;\n" + Wait(0)),
              HasSubstr("the warp has not waited for the bulk copy of line"));
  // One warp has waited, and the other has not.
  const std::string half =
      begin + "setp.ge.u32 %p2, %t, 32;\n@%p2 bra $rest;\n" + Wait(0);
  EXPECT_THAT(FailureText(half + "$rest:\n" + Read(kWords)),
              HasSubstr("the warp has not waited for the bulk copy of line"));
  std::vector<uint32_t> out;
  EXPECT_EQ(
      RunBody(half + "$rest:\nbar.sync 0;\n" + Read(kWords), Plane(), &out)
          .code,
      0);
  EXPECT_THAT(FailureText(begin), HasSubstr("did not wait for it"));
  EXPECT_THAT(FailureText(begin + "ld.shared.u8 %r1, [tile];\n" + Wait(0)),
              HasSubstr("the warp has not waited for the bulk copy of line"));
}

TEST(PtxBulkCopies, DoNotMeetOtherUsesOfTheirDestinations) {
  const std::string copy = Arrival(kBytes) + CopyOf({0, 0}) + Wait(0);
  const std::string write = "st.shared.u32 [%d1], 7;\n";
  EXPECT_THAT(FailureText(Beginning(35) + write + copy),
              HasSubstr("several warps wrote word 0"));
  EXPECT_THAT(FailureText(Beginning() + "@!%p0 " + write + copy),
              HasSubstr("no fence.proxy.async"));
  std::vector<uint32_t> out;
  const Failure failure =
      RunBody(Beginning() + write +
                  "fence.proxy.async.shared::cta;\nbar.sync 0;\n" + copy,
              Plane(), &out);
  EXPECT_EQ(failure.code, 0) << failure.text;
  // The next copy comes while others may read the first.
  const std::string again =
      Arrival(kBytes) + CopyOf({0, 0}) + Wait(1) + Read(kWords);
  EXPECT_THAT(FailureText(Beginning(35) + copy + Read(kWords) + again),
              HasSubstr("warp 0 read word"));
}

TEST(PtxBulkCopies, BarriersAreMadeFirst) {
  const std::string copy = Arrival(kBytes) + CopyOf({0, 0}) + Wait(0);
  EXPECT_THAT(FailureText(Beginning(0, "") + copy),
              HasSubstr("no fence.proxy.async"));
  EXPECT_THAT(FailureText(Beginning() + "add.s64 %d3, %d3, 8;\n" + copy),
              HasSubstr("nothing is at address"));
  EXPECT_THAT(FailureText(Beginning() + "add.s64 %d3, %d1, 2048;\n" + copy),
              HasSubstr("no mbarrier is there"));
  EXPECT_THAT(
      FailureText(Beginning() + "@!%p0 st.shared.u32 [barrier], %t;\n" + copy),
      HasSubstr("no mbarrier is there"));
  EXPECT_THAT(FailureText(Beginning() +
                          "@!%p0 mbarrier.init.shared::cta.b64 [%d3], 1;\n"),
              HasSubstr("is there already"));
  EXPECT_THAT(FailureText(Beginning() + Arrival(16) + Arrival(16) + Wait(0)),
              HasSubstr("the phase has all its arrivals"));
  std::string early = Beginning();
  early.replace(early.find("bar.sync 0;"), 11, "bar.warp.sync -1;");
  EXPECT_THAT(FailureText(early + copy), HasSubstr("warp 0 wrote word"));
}

TEST(PtxBulkCopies, MapsAreChecked) {
  const std::string begin = Beginning() + Arrival(kBytes);
  const auto text = [&](const TensorMap& map) {
    std::vector<uint32_t> out(kThreads);
    const Failure failure =
        RunText(KernelWithMap(begin + CopyOf({0, 0}) + Wait(0), 1), kThreads,
                Numbers(), &out, 1, &map);
    EXPECT_NE(failure.code, 0);
    return failure.text;
  };
  TensorMap map = Plane();
  map.magic ^= 1;
  EXPECT_THAT(text(map), HasSubstr("it is no tensor map"));
  map = Plane();
  map.address += 24000;
  EXPECT_THAT(text(map), HasSubstr("nothing is at address"));
  map = Plane();
  map.extents[1] = 1000;
  map.strides[0] = (uint64_t{1} << 40) - 16;
  EXPECT_THAT(text(map), HasSubstr("nothing is at address"));
  map = Plane();
  map.rank = 77;
  EXPECT_THAT(text(map), HasSubstr("77 dimensions"));
  map = Plane();
  map.box[1] = 0;
  EXPECT_THAT(text(map), HasSubstr("0 elements in dimension 1"));
  map = Plane();
  map.box[0] = map.box[1] = 256;
  EXPECT_THAT(text(map), HasSubstr("its box has 262144 bytes"));
  map = Plane();
  map.element_bytes = 3;
  EXPECT_THAT(text(map), HasSubstr("elements have 3 bytes"));
  map = Plane();
  map.swizzle = 1;
  EXPECT_THAT(text(map), HasSubstr("does not know swizzle 1"));
  EXPECT_THAT(text(MapOf({11, 5, 7}, {8, 4, 4})), HasSubstr("3 dimensions"));
}

TEST(PtxBulkCopies, PlacesAreChecked) {
  const auto text = [&](const std::string& change, const TensorMap& map) {
    return FailureText(
        Beginning() + change + Arrival(kBytes) + CopyOf({0, 0}) + Wait(0), map);
  };
  EXPECT_THAT(text("add.s64 %d1, %d1, 64;\n", Plane()),
              HasSubstr("is not of 128 bytes"));
  EXPECT_THAT(
      text("add.s64 %d1, %d1, 128;\n", MapOf({38, 11}, {32, 8}, kSwizzle128)),
      HasSubstr("is not of 1024 bytes"));
  EXPECT_THAT(text("add.s64 %d1, %d1, 3712;\n", Plane()),
              HasSubstr("nothing is at address"));
  EXPECT_THAT(text("add.s64 %d2, %d2, 32;\n", Plane()),
              HasSubstr("its map is not at 64 bytes"));
  EXPECT_THAT(text("add.s64 %d2, %d2, 64;\n", Plane()),
              HasSubstr("its map is not all there"));
  EXPECT_THAT(text("mov.u64 %d2, 0;\n", Plane()),
              HasSubstr("nothing is at address 0x0"));
}

}  // namespace
}  // namespace ingot::isa::ptx
