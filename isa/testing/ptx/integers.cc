// Arithmetic, logic and comparisons of integers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// Two's complement wraps around, which only unsigned numbers of C++ do.
template <typename T>
uint64_t U(T value) {
  return static_cast<uint64_t>(value);
}
template <typename T>
constexpr int kBits = 8 * sizeof(T);

#define BINARY(name, result)         \
  struct name {                      \
    template <typename T>            \
    static T Do(T a, T b) {          \
      return static_cast<T>(result); \
    }                                \
  }
#define UNARY(name, result)          \
  struct name {                      \
    template <typename T>            \
    static T Do(T a) {               \
      return static_cast<T>(result); \
    }                                \
  }

BINARY(Add, U(a) + U(b));
BINARY(Subtract, U(a) - U(b));
BINARY(MultiplyLow, U(a) * U(b));
BINARY(Minimum, std::min(a, b));
BINARY(Maximum, std::max(a, b));
BINARY(And, a& b);
BINARY(Or, a | b);
BINARY(Xor, a ^ b);
UNARY(Not, ~a);
UNARY(Negative, 0 - U(a));
UNARY(Absolute, a < 0 ? 0 - U(a) : U(a));
UNARY(LogicalNot, a == 0);

// The GPU gives all ones for what is divided by 0.
struct Divide {
  template <typename T>
  static T Do(T a, T b) {
    if (b == 0) return static_cast<T>(~U(T{0}));
    if (std::is_signed_v<T> && b == T(-1)) return Negative::Do(a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <typename T>
  static T Do(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

template <typename T>
using Twice = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, int32_t,
                       std::conditional_t<sizeof(T) == 4, int64_t, __int128>>,
    std::conditional_t<
        sizeof(T) == 2, uint32_t,
        std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>>>;

BINARY(MultiplyHigh, (Twice<T>(a) * Twice<T>(b)) >> kBits<T>);

struct MultiplyWide {
  template <typename T>
  static Twice<T> Do(T a, T b) {
    return Twice<T>(a) * Twice<T>(b);
  }
};
struct MultiplyAddLow {
  template <typename T>
  static T Do(T a, T b, T c) {
    return static_cast<T>(U(a) * U(b) + U(c));
  }
};
struct MultiplyAddHigh {
  template <typename T>
  static T Do(T a, T b, T c) {
    return static_cast<T>(U(MultiplyHigh::Do(a, b)) + U(c));
  }
};
struct MultiplyAddWide {
  template <typename T>
  static Twice<T> Do(T a, T b, Twice<T> c) {
    return static_cast<Twice<T>>(U(Twice<T>(a) * Twice<T>(b)) + U(c));
  }
};

struct ShiftLeft {
  template <typename T>
  static T Do(T a, uint32_t by) {
    return by >= kBits<T> ? 0 : static_cast<T>(U(a) << by);
  }
};
struct ShiftRight {
  template <typename T>
  static T Do(T a, uint32_t by) {
    return static_cast<T>(
        std::is_signed_v<T>
            ? a >> std::min<uint32_t>(by, kBits<T> - 1)
            : (by >= kBits<T> ? T{0} : static_cast<T>(a >> by)));
  }
};

struct ExtractBits {
  template <typename T>
  static T Do(T a, uint32_t position, uint32_t bits) {
    position &= 0xff;
    bits &= 0xff;
    if (bits == 0) return 0;
    if (!std::is_signed_v<T>) {
      const T shifted = ShiftRight::Do(a, position);
      return bits >= kBits<T> ? shifted
                              : static_cast<T>(U(shifted) & ~(~U(0) << bits));
    }
    // The sign is the field's highest bit that there is.
    const uint32_t top = std::min<uint32_t>(position + bits, kBits<T>) - 1;
    if (position >= kBits<T>) return ShiftRight::Do(a, kBits<T> - 1);
    const uint32_t unused = kBits<T> - 1 - top;
    return ShiftRight::Do(static_cast<T>(U(a) << unused), unused + position);
  }
};
struct InsertBits {
  template <typename T>
  static T Do(T a, T b, uint32_t position, uint32_t bits) {
    const T ones = bits >= kBits<T> ? static_cast<T>(~U(0))
                                    : static_cast<T>(~(~U(0) << bits));
    const T mask = ShiftLeft::Do(ones, position);
    return static_cast<T>((b & ~mask) | (ShiftLeft::Do(a, position) & mask));
  }
};

struct Permute {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
      const uint32_t which = selector >> (4 * k) & 0xf;
      uint32_t byte = bytes >> (8 * (which & 7)) & 0xff;
      if ((which & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << (8 * k);
    }
    return result;
  }
};
template <bool kLeft, bool kWraps>
struct Funnel {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t by) {
    by = kWraps ? by & 31 : std::min(by, 32u);
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(kLeft ? both << by >> 32 : both >> by);
  }
};
struct CountOnes {
  template <typename T>
  static uint32_t Do(T a) {
    return static_cast<uint32_t>(__builtin_popcountll(a));
  }
};
struct CountLeadingZeros {
  template <typename T>
  static uint32_t Do(T a) {
    if (a == 0) return kBits<T>;
    return static_cast<uint32_t>(__builtin_clzll(a) - 64 + kBits<T>);
  }
};
struct Reverse {
  template <typename T>
  static T Do(T a) {
    T result = 0;
    for (int k = 0; k < kBits<T>; ++k) {
      result = static_cast<T>(result << 1 | (a >> k & 1));
    }
    return result;
  }
};
template <typename A, typename B>
struct DotBytes {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    for (int k = 0; k < 4; ++k) {
      c += static_cast<uint32_t>(static_cast<A>(a >> (8 * k)) *
                                 static_cast<B>(b >> (8 * k)));
    }
    return c;
  }
};

struct Equal {
  template <typename T>
  static bool Do(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool Do(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <typename T>
  static bool Do(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool Do(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool Do(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool Do(T a, T b) {
    return a >= b;
  }
};

template <typename T>
std::string NameOf() {
  return (std::is_signed_v<T> ? ".s" : ".u") + std::to_string(kBits<T>);
}
template <typename T>
std::string BitsNameOf() {
  return ".b" + std::to_string(kBits<T>);
}

template <typename T>
void AddArithmetic(Forms* forms) {
  const std::string type = NameOf<T>();
  Forms& f = *forms;
  f["add" + type] = Lanewise<Add, T, T, T>::MakeForm();
  f["sub" + type] = Lanewise<Subtract, T, T, T>::MakeForm();
  f["mul.lo" + type] = Lanewise<MultiplyLow, T, T, T>::MakeForm();
  f["mul.hi" + type] = Lanewise<MultiplyHigh, T, T, T>::MakeForm();
  f["mad.lo" + type] = Lanewise<MultiplyAddLow, T, T, T, T>::MakeForm();
  f["mad.hi" + type] = Lanewise<MultiplyAddHigh, T, T, T, T>::MakeForm();
  f["min" + type] = Lanewise<Minimum, T, T, T>::MakeForm();
  f["max" + type] = Lanewise<Maximum, T, T, T>::MakeForm();
  f["div" + type] = Lanewise<Divide, T, T, T>::MakeForm();
  f["rem" + type] = Lanewise<Remainder, T, T, T>::MakeForm();
  f["shr" + type] = Lanewise<ShiftRight, T, T, uint32_t>::MakeForm();
}

template <typename T>
void AddWide(Forms* forms) {
  const std::string type = ".wide" + NameOf<T>();
  (*forms)["mul" + type] = Lanewise<MultiplyWide, Twice<T>, T, T>::MakeForm();
  (*forms)["mad" + type] =
      Lanewise<MultiplyAddWide, Twice<T>, T, T, Twice<T>>::MakeForm();
}

template <typename T>
void AddOfSigned(Forms* forms) {
  (*forms)["neg" + NameOf<T>()] = Lanewise<Negative, T, T>::MakeForm();
  (*forms)["abs" + NameOf<T>()] = Lanewise<Absolute, T, T>::MakeForm();
}

template <typename T>
void AddLogic(Forms* forms) {
  const std::string type = BitsNameOf<T>();
  Forms& f = *forms;
  f["and" + type] = Lanewise<And, T, T, T>::MakeForm();
  f["or" + type] = Lanewise<Or, T, T, T>::MakeForm();
  f["xor" + type] = Lanewise<Xor, T, T, T>::MakeForm();
  f["not" + type] = Lanewise<Not, T, T>::MakeForm();
  f["cnot" + type] = Lanewise<LogicalNot, T, T>::MakeForm();
  f["shl" + type] = Lanewise<ShiftLeft, T, T, uint32_t>::MakeForm();
  f["shr" + type] = Lanewise<ShiftRight, T, T, uint32_t>::MakeForm();
  f["setp.eq" + type] = Comparison<Equal, T>::MakeForm();
  f["setp.ne" + type] = Comparison<NotEqual, T>::MakeForm();
}

template <typename T>
void AddComparisons(Forms* forms) {
  const std::string type = NameOf<T>();
  Forms& f = *forms;
  f["setp.eq" + type] = Comparison<Equal, T>::MakeForm();
  f["setp.ne" + type] = Comparison<NotEqual, T>::MakeForm();
  f["setp.lt" + type] = Comparison<Less, T>::MakeForm();
  f["setp.le" + type] = Comparison<LessEqual, T>::MakeForm();
  f["setp.gt" + type] = Comparison<Greater, T>::MakeForm();
  f["setp.ge" + type] = Comparison<GreaterEqual, T>::MakeForm();
  f["setp.lo" + type] = Comparison<Less, T>::MakeForm();
  f["setp.ls" + type] = Comparison<LessEqual, T>::MakeForm();
  f["setp.hi" + type] = Comparison<Greater, T>::MakeForm();
  f["setp.hs" + type] = Comparison<GreaterEqual, T>::MakeForm();
}

template <typename T>
void AddBitFields(Forms* forms) {
  using Signed = std::make_signed_t<T>;
  Forms& f = *forms;
  f["bfe" + NameOf<T>()] =
      Lanewise<ExtractBits, T, T, uint32_t, uint32_t>::MakeForm();
  f["bfe" + NameOf<Signed>()] =
      Lanewise<ExtractBits, Signed, Signed, uint32_t, uint32_t>::MakeForm();
  f["bfi" + BitsNameOf<T>()] =
      Lanewise<InsertBits, T, T, T, uint32_t, uint32_t>::MakeForm();
  f["popc" + BitsNameOf<T>()] = Lanewise<CountOnes, uint32_t, T>::MakeForm();
  f["clz" + BitsNameOf<T>()] =
      Lanewise<CountLeadingZeros, uint32_t, T>::MakeForm();
  f["brev" + BitsNameOf<T>()] = Lanewise<Reverse, T, T>::MakeForm();
}

template <typename Op>
Form OfThreeWords() {
  return Lanewise<Op, uint32_t, uint32_t, uint32_t, uint32_t>::MakeForm();
}

void AddOfWords(Forms* forms) {
  Forms& f = *forms;
  f["prmt.b32"] = OfThreeWords<Permute>();
  f["shf.l.wrap.b32"] = OfThreeWords<Funnel<true, true>>();
  f["shf.r.wrap.b32"] = OfThreeWords<Funnel<false, true>>();
  f["shf.l.clamp.b32"] = OfThreeWords<Funnel<true, false>>();
  f["shf.r.clamp.b32"] = OfThreeWords<Funnel<false, false>>();
  f["dp4a.s32.s32"] = OfThreeWords<DotBytes<int8_t, int8_t>>();
  f["dp4a.s32.u32"] = OfThreeWords<DotBytes<int8_t, uint8_t>>();
  f["dp4a.u32.s32"] = OfThreeWords<DotBytes<uint8_t, int8_t>>();
  f["dp4a.u32.u32"] = OfThreeWords<DotBytes<uint8_t, uint8_t>>();
}

// Adds what all integers of a width have, signed and not.
template <typename T>
void AddOfWidth(Forms* forms) {
  using Signed = std::make_signed_t<T>;
  AddArithmetic<T>(forms);
  AddArithmetic<Signed>(forms);
  AddComparisons<T>(forms);
  AddComparisons<Signed>(forms);
  AddOfSigned<Signed>(forms);
  AddLogic<T>(forms);
}

}  // namespace

void AddIntegers(Forms* forms) {
  AddOfWidth<uint16_t>(forms);
  AddOfWidth<uint32_t>(forms);
  AddOfWidth<uint64_t>(forms);
  AddWide<uint16_t>(forms);
  AddWide<int16_t>(forms);
  AddWide<uint32_t>(forms);
  AddWide<int32_t>(forms);
  AddBitFields<uint32_t>(forms);
  AddBitFields<uint64_t>(forms);
  AddOfWords(forms);
}

}  // namespace ingot::isa::ptx
