// Maps that the fake driver makes, and a kernel that gets one as a parameter.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "backends/gpu/testing/open_fake_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

constexpr int kFloat16 = 6, kFloat32 = 7, kBfloat16 = 9;
constexpr int kSwizzle64 = 2, kSwizzle128 = 3;

// Arguments of the driver about a tensor; good at first.
struct Tensor {
  int type = kFloat32;
  unsigned rank = 2;
  uint64_t address = 4096;
  uint64_t extents[5] = {6, 5, 1, 1, 1};
  uint64_t strides[4] = {32, 160, 160, 160};
  uint32_t box[5] = {8, 4, 1, 1, 1};
  uint32_t element_strides[5] = {1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct alignas(64) Map {
  uint8_t bytes[128 + 8];
};

class FakeTensorMaps : public testing_support::FakeDriverTest {
 protected:
  FakeTensorMaps() : FakeDriverTest("libcuda.so.1") {}

  void SetUp() override {
    FakeDriverTest::SetUp();
    if (HasFatalFailure()) return;
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    compute_(true);
    Find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context_, 40);
    Find<int(void*)>("cuCtxSetCurrent")(context_);
  }
  void TearDown() override {
    if (compute_ != nullptr) compute_(false);
    FakeDriverTest::TearDown();
  }

  template <typename Function>
  Function* Find(const char* name) {
    auto* const found = reinterpret_cast<Function*>(dlsym(library_, name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }

  int Encode(const Tensor& t, void* map) {
    return Find<int(void*, int, unsigned, void*, const uint64_t*,
                    const uint64_t*, const uint32_t*, const uint32_t*, int, int,
                    int, int)>("cuTensorMapEncodeTiled")(
        map, t.type, t.rank, reinterpret_cast<void*>(t.address), t.extents,
        t.strides, t.box, t.element_strides, t.interleave, t.swizzle,
        t.promotion, t.fill);
  }

  // Expects that a tensor is good until it is changed.
  template <typename Change>
  void ExpectRefusal(const Tensor& good, const Change& change) {
    Map map;
    EXPECT_EQ(Encode(good, map.bytes), 0) << log_();
    log_();
    Tensor bad = good;
    change(&bad);
    EXPECT_EQ(Encode(bad, map.bytes), 1);
    EXPECT_THAT(log_(), HasSubstr("no map: "));
  }

 private:
  void* library_ = nullptr;
  void* context_ = nullptr;
};

TEST_F(FakeTensorMaps, AreChecked) {
  const Tensor good;
  ExpectRefusal(good, [](Tensor* t) { t->address += 8; });
  ExpectRefusal(good, [](Tensor* t) { t->strides[0] = 24; });
  ExpectRefusal(good, [](Tensor* t) { t->strides[0] = uint64_t{1} << 40; });
  ExpectRefusal(good, [](Tensor* t) { t->extents[1] = 0; });
  ExpectRefusal(good,
                [](Tensor* t) { t->extents[1] = (uint64_t{1} << 32) + 1; });
  ExpectRefusal(good, [](Tensor* t) { t->box[1] = 0; });
  ExpectRefusal(good, [](Tensor* t) { t->box[1] = 257; });
  ExpectRefusal(good, [](Tensor* t) { t->box[0] = 7; });
  ExpectRefusal(good, [](Tensor* t) { t->element_strides[1] = 2; });
  ExpectRefusal(good, [](Tensor* t) { t->rank = 0; });
  ExpectRefusal(good, [](Tensor* t) { t->rank = 6; });
  ExpectRefusal(good, [](Tensor* t) { t->interleave = 1; });
  ExpectRefusal(good, [](Tensor* t) { t->swizzle = kSwizzle64; });
  ExpectRefusal(good, [](Tensor* t) { t->type = 13; });
  ExpectRefusal(good, [](Tensor* t) { t->type = -1; });
  ExpectRefusal(good, [](Tensor* t) { t->promotion = 4; });
  ExpectRefusal(good, [](Tensor* t) { t->fill = 1; });
  Map map;
  EXPECT_EQ(Encode(good, map.bytes + 8), 1);
  // A row of what is swizzled has 128 bytes at most.
  Tensor halves;
  halves.swizzle = kSwizzle128;
  halves.box[0] = 64;
  for (const int type : {kFloat16, kBfloat16}) {
    halves.type = type;
    ExpectRefusal(halves, [](Tensor* t) { t->type = kFloat32; });
    ExpectRefusal(halves, [](Tensor* t) { t->box[0] = 72; });
  }
}

// The map is between two addresses. Each of 32 threads stores a word of a box.
constexpr char kKernel[] = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry copy(
	.param .u64 copy_param_0,
	.param .align 64 .b8 copy_param_1[128],
	.param .u64 copy_param_2
)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<10>;
	.shared .align 1024 .b8 tile[128];
	.shared .align 8 .b8 barrier[8];
	mov.b64 %rd4, copy_param_1;
	ld.param.u64 %rd1, [copy_param_2];
	mov.u64 %rd5, %rd4;
	cvta.param.u64 %rd2, %rd5;
	mov.u64 %rd6, tile;
	mov.u64 %rd7, barrier;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra $made;
	mbarrier.init.shared::cta.b64 [%rd7], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%rd7], 128;
	mov.u32 %r2, -1;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd6], [%rd2, {%r2, 2}], [%rd7];
$made:
	bar.warp.sync -1;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [%rd7], 0;
	@!%p2 bra $wait;
	mul.wide.u32 %rd8, %r1, 4;
	add.s64 %rd9, %rd6, %rd8;
	ld.shared.u32 %r3, [%rd9];
	cvta.to.global.u64 %rd3, %rd1;
	add.s64 %rd9, %rd3, %rd8;
	st.global.u32 [%rd9], %r3;
	ret;
}
)";

TEST_F(FakeTensorMaps, AreParametersOfKernels) {
  void *stream = nullptr, *in = nullptr, *out = nullptr, *code = nullptr,
       *kernel = nullptr;
  const auto alloc = Find<int(void**, size_t)>("cuMemAlloc_v2");
  ASSERT_EQ(Find<int(void**, unsigned)>("cuStreamCreate")(&stream, 0), 0);
  ASSERT_EQ(alloc(&in, 160), 0);
  ASSERT_EQ(alloc(&out, 128), 0);
  std::vector<uint32_t> numbers(40), words(32);
  std::iota(numbers.begin(), numbers.end(), 1);
  ASSERT_EQ(Find<int(void*, const void*, size_t, void*)>(
                "cuMemcpyHtoDAsync_v2")(in, numbers.data(), 160, stream),
            0);
  ASSERT_EQ(Find<int(void**, const void*, unsigned, int*, void**)>(
                "cuModuleLoadDataEx")(&code, kKernel, 0, nullptr, nullptr),
            0);
  ASSERT_EQ(Find<int(void**, void*, const char*)>("cuModuleGetFunction")(
                &kernel, code, "copy"),
            0);
  Tensor tensor;
  tensor.address = reinterpret_cast<uintptr_t>(in);
  Map map;
  ASSERT_EQ(Encode(tensor, map.bytes), 0);
  void* parameters[] = {&in, map.bytes, &out};
  ASSERT_EQ(
      Find<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned,
               unsigned, unsigned, void*, void**, void**)>("cuLaunchKernel")(
          kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr),
      0);
  // The launch has its own.
  std::memset(&map, 0, sizeof map);
  ASSERT_EQ(Find<int(void*, const void*, size_t, void*)>(
                "cuMemcpyDtoHAsync_v2")(words.data(), out, 128, stream),
            0);
  EXPECT_EQ(Find<int(void*)>("cuStreamSynchronize")(stream), 0);
  for (uint32_t word = 0; word < 32; ++word) {
    const int x = static_cast<int>(word % 8) - 1;
    const uint32_t y = word / 8 + 2;
    const bool is_inside = x >= 0 && x < 6 && y < 5;
    EXPECT_EQ(words[word], is_inside ? numbers[y * 8 + x] : 0) << word;
  }
  const std::string log = log_();
  EXPECT_THAT(log, HasSubstr("map of 2 dimensions\n"));
  EXPECT_THAT(log, HasSubstr("launch copy 1 x 32, 3 arguments\n"));
  Find<int(void*)>("cuMemFree_v2")(in);
  Find<int(void*)>("cuMemFree_v2")(out);
  Find<int(void*)>("cuModuleUnload")(code);
  Find<int(void*)>("cuStreamDestroy_v2")(stream);
}

}  // namespace
}  // namespace ingot
