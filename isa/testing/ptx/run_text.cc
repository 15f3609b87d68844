#include "isa/testing/ptx/run_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "isa/testing/ptx/machine.h"

namespace ingot::isa::ptx {
namespace {

constexpr char kHead[] = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
  .reg .pred %p<32>;
  .reg .b16 %s<32>;
  .reg .b32 %r<32>, %t;
  .reg .b64 %d<32>, %in, %out, %offset;
  .reg .f32 %f<32>;
  .reg .f64 %g<32>;
  ld.param.u64 %in, [k_param_0];
  ld.param.u64 %out, [k_param_1];
  mov.u32 %t, %tid.x;
  mad.lo.s32 %r0, %ctaid.x, %ntid.x, %t;
)";

// Memory like that of a GPU's driver.
class Buffer {
 public:
  explicit Buffer(size_t words)
      : bytes_(4 * words),
        data_(static_cast<uint8_t*>(
            std::aligned_alloc(256, (bytes_ + 256) / 256 * 256))) {}
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Range range() const { return {data_, bytes_}; }

 private:
  const size_t bytes_;
  uint8_t* const data_;
};

}  // namespace

std::string KernelOf(const std::string& body, int words) {
  return kHead + ("  mul.wide.u32 %offset, %r0, " + std::to_string(4 * words)) +
         ";\n  add.s64 %out, %out, %offset;\n\n\n" + body + "\n  ret;\n}\n";
}

std::string KernelWithMap(const std::string& body, int words) {
  std::string text = KernelOf(body, words);
  const std::string last = "k_param_1)";
  return text.replace(text.find(last), last.size(),
                      "k_param_1, .param .align 64 .b8 k_param_2[128])");
}

Failure RunText(const std::string& text, uint32_t block,
                const std::vector<uint32_t>& in, std::vector<uint32_t>* out,
                uint32_t grid, const TensorMap* map) {
  Failure failure;
  const std::unique_ptr<Module> module = Parse(text, &failure);
  if (module == nullptr) {
    ADD_FAILURE() << failure.text;
    return failure;
  }
  const Buffer in_buffer(in.size()), out_buffer(out->size());
  Launch launch;
  launch.grid = grid;
  launch.block = block;
  launch.memory = {in_buffer.range(), out_buffer.range()};
  std::copy(in.begin(), in.end(),
            reinterpret_cast<uint32_t*>(in_buffer.range().begin));
  uint8_t map_bytes[kTensorMapBytes] = {};
  if (map != nullptr) {
    TensorMap placed = *map;
    placed.address += reinterpret_cast<uintptr_t>(launch.memory[0].begin);
    std::memcpy(map_bytes, &placed, sizeof placed);
  }
  const void* const addresses[] = {&launch.memory[0].begin,
                                   &launch.memory[1].begin, map_bytes};
  launch.parameters = addresses;
  failure = Run(*module, module->kernels.at("k"), launch);
  std::memcpy(out->data(), out_buffer.range().begin, 4 * out->size());
  return failure;
}

std::vector<uint32_t> WordsOf(const std::string& body, uint32_t block,
                              const std::vector<uint32_t>& in, int words) {
  std::vector<uint32_t> out(block * words);
  const Failure failure = RunText(KernelOf(body, words), block, in, &out);
  EXPECT_EQ(failure.code, 0) << failure.text;
  return out;
}

Failure FailureOf(const std::string& body, uint32_t block,
                  const std::vector<uint32_t>& in) {
  std::vector<uint32_t> out(block);
  return RunText(KernelOf(body), block, in, &out);
}

}  // namespace ingot::isa::ptx
