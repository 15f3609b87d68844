// Instructions of a whole warp for products of small matrices.
#include <cstdint>
#include <cstring>
#include <string>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/numbers.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// The products of 8 columns: D = A B + C, A of 16 x k and B of k x 8 numbers.
constexpr int kRows = 16;
constexpr int kColumns = 8;

// The multiplicand's numbers as the processor takes them.
struct Tf32 {
  static constexpr int kInWord = 1;
  static double Read(uint32_t word, int) {
    word &= 0xffffe000;  // 19 bits
    float number;
    std::memcpy(&number, &word, sizeof number);
    return number;
  }
};
template <typename T>
struct Short {
  static constexpr int kInWord = 2;
  static double Read(uint32_t word, int which) {
    return Widen(T{static_cast<uint16_t>(word >> (16 * which))});
  }
};

template <typename T>
struct Byte {
  static constexpr int kInWord = 4;
  static double Read(uint32_t word, int which) {
    return static_cast<T>(word >> (8 * which));
  }
};

// Reads the fragments of A as the manual lays them out: registers hold
// neighbours of a row; the first two are 8 rows apart, and the others are of
// the second half of the k columns.
template <typename T, int kDepth>
void ReadA(Warp& warp, const uint32_t* at, double (&a)[kRows][kDepth]) {
  constexpr int kWords = kRows * kDepth / T::kInWord / kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int word = 0; word < kWords; ++word) {
      const uint32_t bits = warp.Lanes<uint32_t>(at[word])[lane];
      const int row = lane / 4 + word % 2 * 8;
      const int column = word / 2 * 4 * T::kInWord + lane % 4 * T::kInWord;
      for (int k = 0; k < T::kInWord; ++k) {
        a[row][column + k] = T::Read(bits, k);
      }
    }
  }
}

template <typename T, int kDepth>
void ReadB(Warp& warp, const uint32_t* at, double (&b)[kDepth][kColumns]) {
  constexpr int kWords = kColumns * kDepth / T::kInWord / kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int word = 0; word < kWords; ++word) {
      const uint32_t bits = warp.Lanes<uint32_t>(at[word])[lane];
      const int row = word * 4 * T::kInWord + lane % 4 * T::kInWord;
      for (int k = 0; k < T::kInWord; ++k) {
        b[row + k][lane / 4] = T::Read(bits, k);
      }
    }
  }
}

// The accumulator's element `k` of a thread, of 4: two neighbours of a row, and
// two of the row 8 below.
struct Floats {
  static constexpr int kWords = 4;
  static double Read(Warp& warp, const uint32_t* at, int lane, int k) {
    return warp.Lanes<float>(at[k])[lane];
  }
  static void Write(Warp& warp, const uint32_t* at, int lane, int k,
                    double value) {
    warp.Lanes<float>(at[k])[lane] = static_cast<float>(value);
  }
};
struct Halves {
  static constexpr int kWords = 2;
  static double Read(Warp& warp, const uint32_t* at, int lane, int k) {
    return Widen(warp.Lanes<Half>(at[k / 2])[2 * lane + k % 2]);
  }
  static void Write(Warp& warp, const uint32_t* at, int lane, int k,
                    double value) {
    warp.Lanes<Half>(at[k / 2])[2 * lane + k % 2] = Narrow<Half>(value);
  }
};

bool IsWhole(Warp& warp, const Instruction& i) {
  if (warp.active == kAllLanes) return true;
  return warp.Fail(i, kIllegalInstruction, "it has less than 32 threads");
}

struct Words {
  static constexpr int kWords = 4;
  static double Read(Warp& warp, const uint32_t* at, int lane, int k) {
    return warp.Lanes<int32_t>(at[k])[lane];
  }
  // Sums that do not fit wrap around.
  static void Write(Warp& warp, const uint32_t* at, int lane, int k,
                    double value) {
    warp.Lanes<uint32_t>(at[k])[lane] =
        static_cast<uint32_t>(static_cast<int64_t>(value));
  }
};

// The sum is exact but for the bits of a double, and rounded once.
template <typename T, typename Sum, int kDepth>
bool Multiply(Warp& warp, const Instruction& i) {
  if (!IsWhole(warp, i)) return false;
  constexpr int kWordsOfA = kRows * kDepth / T::kInWord / kLanes;
  constexpr int kWordsOfB = kColumns * kDepth / T::kInWord / kLanes;
  const uint32_t* const at_a = i.at + Sum::kWords;
  const uint32_t* const at_b = at_a + kWordsOfA;
  const uint32_t* const at_c = at_b + kWordsOfB;
  double a[kRows][kDepth], b[kDepth][kColumns], sums[kLanes][4];
  ReadA<T, kDepth>(warp, at_a, a);
  ReadB<T, kDepth>(warp, at_b, b);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int k = 0; k < 4; ++k) {
      const int row = lane / 4 + k / 2 * 8;
      const int column = lane % 4 * 2 + k % 2;
      double sum = Sum::Read(warp, at_c, lane, k);
      for (int d = 0; d < kDepth; ++d) sum += a[row][d] * b[d][column];
      sums[lane][k] = sum;
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int k = 0; k < 4; ++k) Sum::Write(warp, i.at, lane, k, sums[lane][k]);
  }
  return true;
}

// Lanes 8 m to 8 m + 7 have the addresses of the rows of matrix m. Each thread
// gets two neighbours of row lane / 4, of the transposed matrix or not.
template <bool kIsTransposed>
bool LoadMatrices(Warp& warp, const Instruction& i) {
  if (!IsWhole(warp, i)) return false;
  const int count = i.form.count;
  uint8_t* rows[kLanes];
  // The other lanes' addresses mean nothing.
  warp.active = count == 4 ? kAllLanes : (uint32_t{1} << (8 * count)) - 1;
  const bool is_found = Resolve(warp, i, count, Space::kShared, 16, rows) &&
                        NoteReads(warp, i, 16, rows);
  warp.active = kAllLanes;
  if (!is_found) return false;
  for (int matrix = 0; matrix < count; ++matrix) {
    uint16_t* const to = warp.Lanes<uint16_t>(i.at[matrix]);
    for (int element = 0; element < 64; ++element) {
      const int row = kIsTransposed ? element % 8 : element / 8;
      const int column = kIsTransposed ? element / 8 : element % 8;
      std::memcpy(to + element, rows[8 * matrix + row] + 2 * column, 2);
    }
  }
  return true;
}

template <typename T, typename Sum, int kDepth>
void AddProduct(Forms* forms, const std::string& types) {
  Form form;
  form.operands =
      std::string(2 * Sum::kWords + 3 * (kDepth / T::kInWord / 4), 'w');
  form.run = Multiply<T, Sum, kDepth>;
  form.control = Control::kTogether;
  (*forms)["mma.sync.aligned.m16n8k" + std::to_string(kDepth) + ".row.col." +
           types] = form;
}

}  // namespace

void AddMatrices(Forms* forms) {
  AddProduct<Short<Half>, Floats, 16>(forms, "f32.f16.f16.f32");
  AddProduct<Short<Half>, Floats, 8>(forms, "f32.f16.f16.f32");
  AddProduct<Short<Bfloat>, Floats, 16>(forms, "f32.bf16.bf16.f32");
  AddProduct<Short<Bfloat>, Floats, 8>(forms, "f32.bf16.bf16.f32");
  AddProduct<Short<Half>, Halves, 16>(forms, "f16.f16.f16.f16");
  AddProduct<Short<Half>, Halves, 8>(forms, "f16.f16.f16.f16");
  AddProduct<Tf32, Floats, 4>(forms, "f32.tf32.tf32.f32");
  AddProduct<Tf32, Floats, 8>(forms, "f32.tf32.tf32.f32");
  AddProduct<Byte<int8_t>, Words, 16>(forms, "s32.s8.s8.s32");
  AddProduct<Byte<int8_t>, Words, 32>(forms, "s32.s8.s8.s32");
  AddProduct<Byte<uint8_t>, Words, 16>(forms, "s32.u8.u8.s32");
  AddProduct<Byte<uint8_t>, Words, 32>(forms, "s32.u8.u8.s32");
  for (const uint8_t count : {1, 2, 4}) {
    Form form;
    form.operands = std::string(count, 'w') + 'm';
    form.count = count;
    form.control = Control::kTogether;
    const std::string name =
        "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count);
    for (const std::string shared : {".shared.b16", ".shared::cta.b16"}) {
      form.run = LoadMatrices<false>;
      (*forms)[name + shared] = form;
      form.run = LoadMatrices<true>;
      (*forms)[name + ".trans" + shared] = form;
    }
  }
}

}  // namespace ingot::isa::ptx
