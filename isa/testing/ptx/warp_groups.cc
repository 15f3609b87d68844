// Products that four warps make together (wgmma), of 16-bit floats that lie in
// shared memory. Warps run one after the other, so each has the part of a
// product that is its own: 16 of 64 rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/numbers.h"
#include "isa/testing/ptx/tensor_map.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

constexpr uint32_t kWarps = 4;
constexpr int kRows = 16;  // of a warp
constexpr int kDepth = 16;
constexpr int kSide = 8;  // rows and bytes / 2 of the parts that operands have
constexpr uint32_t kLine = 16;           // bytes of a part's row
constexpr uint32_t kSwizzledLine = 128;  // 8 of those, where they are swizzled
constexpr int kSwizzledSide = 64;

// The modes of a descriptor, in its highest bits.
constexpr int kFirstBitOfMode = 62;
constexpr uint64_t kModeNone = 0, kMode128 = 1;

// Registers have this while a product is made that they are for.
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

// An operand's place, as its descriptor says.
struct Operand {
  uint32_t start, leading, stride;  // bytes
  bool terms_are_lines;  // the lines of a part are those of its terms
  bool is_swizzled;

  uint32_t LineOf(int side, int term) const {
    return is_swizzled ? Swizzled128(PlaceInRows(side, term))
                       : PlaceInParts(side, term);
  }
  // Lines that are swizzled are beside each other: 8 make a row of 128 bytes,
  // and 8 of those rows are what is swizzled.
  uint32_t PlaceInRows(int side, int term) const {
    const auto s = static_cast<uint32_t>(side), t = static_cast<uint32_t>(term);
    if (terms_are_lines) {
      return start + s / kSwizzledSide * leading + t / kSide * stride +
             t % kSide * kSwizzledLine + s % kSwizzledSide / kSide * kLine;
    }
    return start + s / kSide * stride + s % kSide * kSwizzledLine +
           t / kSide * kLine;
  }
  uint32_t PlaceInParts(int side, int term) const {
    return start + static_cast<uint32_t>(side / kSide) * stride +
           static_cast<uint32_t>(term / kSide) * leading +
           static_cast<uint32_t>(terms_are_lines ? term % kSide
                                                 : side % kSide) *
               kLine;
  }
  uint32_t InLine(int side, int term) const {
    return 2 *
           static_cast<uint32_t>(terms_are_lines ? side % kSide : term % kSide);
  }
};

bool ReadDescriptor(Warp& warp, const Instruction& i, int operand,
                    bool terms_are_lines, Operand* made) {
  const uint64_t* const lanes = warp.Lanes<uint64_t>(i.at[operand]);
  if (std::any_of(lanes, lanes + kLanes,
                  [&](uint64_t d) { return d != lanes[0]; })) {
    return warp.Fail(i, kIllegalInstruction, "threads describe other operands");
  }
  const auto bytes = [&](int first_bit) {
    return static_cast<uint32_t>(lanes[0] >> first_bit & 0x3fff) * kLine;
  };
  const uint64_t mode = lanes[0] >> kFirstBitOfMode;
  *made = {bytes(0), bytes(16), bytes(32), terms_are_lines, mode == kMode128};
  if (mode != kModeNone && mode != kMode128) {
    return warp.Fail(i, kIllegalInstruction,
                     "the machine does not swizzle 32 or 64 bytes");
  }
  constexpr uint64_t kKnown = 0x3fff | uint64_t{0x3fff} << 16 |
                              uint64_t{0x3fff} << 32 |
                              uint64_t{3} << kFirstBitOfMode;
  return (lanes[0] & ~kKnown) == 0 ||
         warp.Fail(i, kIllegalInstruction,
                   "its descriptor has bits that the machine does not know");
}

// The offsets of all lines that a warp reads of an operand.
std::vector<uint32_t> LinesOf(const Operand& operand, int first, int count) {
  std::vector<uint32_t> lines;
  const int sides = operand.terms_are_lines ? count / kSide : count;
  const int terms = operand.terms_are_lines ? kDepth : kDepth / kSide;
  for (int side = 0; side < sides; ++side) {
    for (int term = 0; term < terms; ++term) {
      lines.push_back(operand.LineOf(first + side * (count / sides),
                                     term * (kDepth / terms)));
    }
  }
  return lines;
}

// Notes that lines are read, and copies them behind `bytes`. What threads wrote
// has to be fenced: units see memory in another way.
bool ReadLines(Warp& warp, const Instruction& i,
               const std::vector<uint32_t>& lines,
               std::vector<uint8_t>* bytes) {
  std::vector<uint8_t>& shared = warp.block->shared;
  for (const uint32_t line : lines) {
    if (line + kLine > shared.size()) {
      return warp.Fail(i, kIllegalAddress, "an operand is not all there");
    }
    uint8_t* at[kLanes];
    std::fill(at, at + kLanes, shared.data() + line);
    if (!NoteReads(warp, i, kLine, at) || !CheckFences(warp, i, kLine, line)) {
      return false;
    }
    bytes->insert(bytes->end(), shared.data() + line,
                  shared.data() + line + kLine);
  }
  return true;
}

template <typename T>
double ElementOf(const Block& block, const Operand& operand, int side,
                 int term) {
  T element;
  std::memcpy(&element,
              block.shared.data() + operand.LineOf(side, term) +
                  operand.InLine(side, term),
              sizeof element);
  return Widen(element);
}

// The sums of `columns` columns, row by row.
template <typename T>
std::vector<double> Multiply(const Block& block, const Operand& a, int first,
                             const Operand& b, int columns) {
  std::vector<double> products(kRows * columns), of_b(columns);
  for (int k = 0; k < kDepth; ++k) {
    for (int column = 0; column < columns; ++column) {
      of_b[column] = ElementOf<T>(block, b, column, k);
    }
    for (int row = 0; row < kRows; ++row) {
      const double x = ElementOf<T>(block, a, first + row, k);
      for (int column = 0; column < columns; ++column) {
        products[row * columns + column] += x * of_b[column];
      }
    }
  }
  return products;
}

// All warps of four must say the same.
bool IsSaidByAll(Warp& warp, const Instruction& i) {
  auto& said = warp.block->group_products[warp.number / kWarps];
  const std::pair<uint64_t, uint64_t> mine = {*warp.Lanes<uint64_t>(i.at[0]),
                                              *warp.Lanes<uint64_t>(i.at[1])};
  const size_t number = warp.products_begun++;
  if (number == said.size()) said.push_back(mine);
  return said[number] == mine ||
         warp.Fail(i, kIllegalInstruction, "warps describe other operands");
}

// a, b, whether sums are added to, the signs of a and b, whether their lines
// are terms.
template <typename T>
bool Begin(Warp& warp, const Instruction& i) {
  if (warp.active != kAllLanes) {
    return warp.Fail(i, kIllegalInstruction, "it has less than 32 threads");
  }
  if (!warp.products_are_fenced) {
    return warp.Fail(i, kIllegalInstruction,
                     "no wgmma.fence is before it: its registers may not be "
                     "what they should be");
  }
  const auto constant = [&](int k) { return *warp.Lanes<uint32_t>(i.at[k]); };
  if (constant(3) != 1 || constant(4) != 1) {
    return warp.Fail(i, kIllegalInstruction, "it changes signs");
  }
  Operand a, b;
  if (!ReadDescriptor(warp, i, 0, constant(5) == 1, &a) ||
      !ReadDescriptor(warp, i, 1, constant(6) == 1, &b) ||
      !IsSaidByAll(warp, i)) {
    return false;
  }
  const int columns = static_cast<int>(i.more.size()) * 2;
  const int first = static_cast<int>(warp.number % kWarps) * kRows;
  GroupProduct product;
  product.group = warp.product_groups;
  product.instruction = &i;
  product.lines = LinesOf(a, first, kRows);
  const std::vector<uint32_t> of_b = LinesOf(b, 0, columns);
  product.lines.insert(product.lines.end(), of_b.begin(), of_b.end());
  if (!ReadLines(warp, i, product.lines, &product.operands)) return false;
  product.products = Multiply<T>(*warp.block, a, first, b, columns);
  product.adds = (constant(2) & 1) != 0;
  // Those before it may be for the same registers: then these have nothing yet.
  const bool is_first = std::none_of(warp.products.begin(), warp.products.end(),
                                     [&](const GroupProduct& other) {
                                       return other.instruction->more == i.more;
                                     });
  if (is_first) {
    for (const uint32_t at : i.more) {
      float* const lanes = warp.Lanes<float>(at);
      product.sums.insert(product.sums.end(), lanes, lanes + kLanes);
      std::fill(lanes, lanes + kLanes, kNothing);
    }
  }
  warp.products.push_back(std::move(product));
  return true;
}

// The sums that a product makes of what they were: [register, lane]. Lanes have
// rows lane / 4 and 8 later, and pairs of columns.
void AddTo(std::vector<float>* sums, const GroupProduct& product) {
  const size_t columns = product.products.size() / kRows;
  for (size_t k = 0; k < sums->size() / kLanes; ++k) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const size_t row = lane / 4 + k / 2 % 2 * 8;
      const size_t column = k / 4 * 8 + lane % 4 * 2 + k % 2;
      float& sum = (*sums)[k * kLanes + lane];
      sum = static_cast<float>((product.adds ? sum : 0) +
                               product.products[row * columns + column]);
    }
  }
}

// Ends the product at the front, of which the operands must be as they were.
bool EndFirst(Warp& warp, const Instruction& i) {
  GroupProduct product = std::move(warp.products.front());
  warp.products.erase(warp.products.begin());
  std::vector<uint8_t> operands;
  if (!ReadLines(warp, i, product.lines, &operands)) return false;
  if (operands != product.operands) {
    return warp.Fail(i, kIllegalInstruction,
                     "what is multiplied was changed before it was waited for");
  }
  AddTo(&product.sums, product);
  const std::vector<uint32_t>& registers = product.instruction->more;
  for (GroupProduct& later : warp.products) {
    if (later.instruction->more == registers) {
      later.sums = std::move(product.sums);
      return true;
    }
  }
  for (size_t k = 0; k < registers.size(); ++k) {
    float* const lanes = warp.Lanes<float>(registers[k]);
    if (!std::all_of(lanes, lanes + kLanes,
                     [](float x) { return std::isnan(x); })) {
      return warp.Fail(i, kIllegalInstruction,
                       "sums were used before they were waited for");
    }
    std::copy_n(product.sums.data() + k * kLanes, kLanes, lanes);
  }
  return true;
}

bool Fence(Warp& warp, const Instruction&) {
  warp.products_are_fenced = true;
  return true;
}

bool Commit(Warp& warp, const Instruction&) {
  ++warp.product_groups;
  return true;
}

// All groups but the last N.
bool Wait(Warp& warp, const Instruction& i) {
  const uint32_t pending = *warp.Lanes<uint32_t>(i.at[0]);
  warp.products_are_fenced = false;
  while (!warp.products.empty() &&
         warp.products.front().group + pending < warp.product_groups) {
    if (!EndFirst(warp, i)) return false;
  }
  return true;
}

bool FenceMemory(Warp& warp, const Instruction&) {
  ++warp.block->uses.fences[warp.number];
  return true;
}

Form Of(const char* operands, Handler run) {
  Form form;
  form.operands = operands;
  form.run = run;
  form.control = Control::kTogether;
  return form;
}

}  // namespace

bool HasAllProducts(std::vector<Warp>* warps) {
  for (Warp& warp : *warps) {
    if (warp.products.empty()) continue;
    return warp.Fail(*warp.products.front().instruction, kIllegalInstruction,
                     "the block ended and did not wait for it");
  }
  for (const auto& [group, said] : warps->front().block->group_products) {
    for (uint32_t k = 0; k < kWarps; ++k) {
      const uint32_t number = group * kWarps + k;
      const size_t begun =
          number < warps->size() ? (*warps)[number].products_begun : 0;
      if (begun == said.size()) continue;
      return warps->front().Fail(
          warps->front().block->kernel->code.front(), kIllegalInstruction,
          "warp " + std::to_string(number) + " makes " + std::to_string(begun) +
              " of the " + std::to_string(said.size()) +
              " products of four warps");
    }
  }
  return true;
}

void AddWarpGroups(Forms* forms) {
  Forms& f = *forms;
  for (int columns = 8; columns <= 256; columns += 8) {
    const std::string opcode = "wgmma.mma_async.sync.aligned.m64n" +
                               std::to_string(columns) + "k16.f32.";
    Form form = Of("ddpwwww", Begin<Half>);
    form.more = static_cast<uint8_t>(columns / 2);
    f[opcode + "f16.f16"] = form;
    form.run = Begin<Bfloat>;
    f[opcode + "bf16.bf16"] = form;
  }
  f["wgmma.fence.sync.aligned"] = Of("", Fence);
  f["wgmma.commit_group.sync.aligned"] = Of("", Commit);
  f["wgmma.wait_group.sync.aligned"] = Of("w", Wait);
  f["fence.proxy.async.shared::cta"] = f["fence.proxy.async"] =
      Of("", FenceMemory);
  f["fence.proxy.async.shared::cta"].control = Control::kNext;
  f["fence.proxy.async"].control = Control::kNext;
}

}  // namespace ingot::isa::ptx
