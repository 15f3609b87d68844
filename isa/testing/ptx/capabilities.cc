// The GPUs and versions of PTX that have an instruction. Source: the notes
// "PTX ISA Notes" and "Target ISA Notes" of NVIDIA's Parallel Thread Execution
// ISA.
#include <string>
#include <string_view>

#include "isa/testing/ptx/forms.h"

namespace ingot::isa::ptx {
namespace {

struct Row {
  std::string_view begins, has, ends;  // parts of an opcode
  Capability needed;
};

// The first that fits counts.
constexpr Row kRows[] = {
    {"wgmma.", "", "", {90, 80, /*is_of_one=*/true}},
    {"cp.async.bulk.", "", "", {90, 80}},
    {"cp.async.", "::cta", "", {80, 78}},
    {"cp.async.", "", "", {80, 70}},
    {"fence.mbarrier_init.", "", "", {90, 80}},
    {"fence.proxy.async", "", "", {90, 80}},
    {"mbarrier.try_wait.", "", "", {90, 78}},
    {"mbarrier.arrive.expect_tx.", "", "", {90, 80}},
    {"mbarrier.", "", "", {80, 78}},
    {"ldmatrix.", "::cta", "", {75, 78}},
    {"ldmatrix.", "", "", {75, 65}},
    {"mma.", ".m16n8k8.", ".f16.f16.f16.f16", {75, 65}},
    {"mma.", ".m16n8k8.", ".f32.f16.f16.f32", {75, 65}},
    {"mma.", "", "", {80, 70}},
    {"tanh.", "", ".bf16", {90, 78}},
    {"tanh.", "", "", {75, 70}},
    {"ex2.", "", ".f16", {75, 70}},
    {"min.", ".NaN", "", {80, 70}},
    {"max.", ".NaN", "", {80, 70}},
    {"min.", "f16", "", {80, 70}},
    {"max.", "f16", "", {80, 70}},
    {"fma.", ".bf16", "", {80, 70}},
    {"neg.", ".bf16", "", {80, 70}},
    {"abs.", ".bf16", "", {80, 70}},
    {"add.", ".bf16", "", {90, 78}},
    {"sub.", ".bf16", "", {90, 78}},
    {"mul.", ".bf16", "", {90, 78}},
    {"setp.", ".bf16", "", {90, 78}},
    {"cvt.", ".tf32", "", {80, 70}},
    {"cvt.", ".bf16.f32", "", {80, 70}},
    {"cvt.", "x2.f32", "", {80, 70}},
    {"cvt.", ".bf16", "", {90, 78}},
    {"dp4a.", "", "", {61, 50}},
    {"add.", ".f16", "", {53, 42}},
    {"sub.", ".f16", "", {53, 42}},
    {"mul.", ".f16", "", {53, 42}},
    {"fma.", ".f16", "", {53, 42}},
    {"setp.", ".f16", "", {53, 42}},
    {"neg.", ".f16", "", {53, 60}},
    {"abs.", ".f16", "", {53, 65}},
    {"shfl.", "", "", {30, 60}},
    {"vote.", "", "", {30, 60}},
    {"bar.warp.", "", "", {30, 60}},
    {"fence.", "", "", {70, 60}},
};

bool Fits(const Row& row, std::string_view opcode) {
  return opcode.substr(0, row.begins.size()) == row.begins &&
         opcode.find(row.has) != opcode.npos &&
         opcode.size() >= row.ends.size() &&
         opcode.substr(opcode.size() - row.ends.size()) == row.ends;
}

int NumberIn(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') number = 10 * number + (c - '0');
  }
  return number;
}

}  // namespace

std::string LackOf(std::string_view opcode, std::string_view version,
                   std::string_view target) {
  for (const Row& row : kRows) {
    if (!Fits(row, opcode)) continue;
    const Capability& needed = row.needed;
    const bool is_of_one = target.back() == 'a';
    if (NumberIn(target) < needed.gpu || (needed.is_of_one && !is_of_one) ||
        (needed.is_of_one && NumberIn(target) != needed.gpu)) {
      return "it needs sm_" + std::to_string(needed.gpu) +
             (needed.is_of_one ? "a" : "");
    }
    if (NumberIn(version) < needed.version) {
      return "it needs version " + std::to_string(needed.version / 10) + "." +
             std::to_string(needed.version % 10) + " of PTX";
    }
    return "";
  }
  return "";
}

}  // namespace ingot::isa::ptx
