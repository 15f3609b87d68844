// Conversions: "cvt" with all types, roundings and saturation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/numbers.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

enum Kind : uint8_t { kUnsigned, kSigned, kFloat, kBfloat, kTf32 };

// A type is its kind and its bytes.
constexpr uint8_t Code(Kind kind, int bytes) {
  return static_cast<uint8_t>(kind * 16 + bytes);
}
Kind KindOf(uint8_t type) { return static_cast<Kind>(type / 16); }
int BytesOf(uint8_t type) { return type % 16; }
bool IsInteger(uint8_t type) { return KindOf(type) <= kSigned; }

std::optional<uint8_t> TypeNamed(const std::string& name) {
  static const auto* const types = new std::map<std::string, uint8_t>{
      {"u8", Code(kUnsigned, 1)},  {"u16", Code(kUnsigned, 2)},
      {"u32", Code(kUnsigned, 4)}, {"u64", Code(kUnsigned, 8)},
      {"s8", Code(kSigned, 1)},    {"s16", Code(kSigned, 2)},
      {"s32", Code(kSigned, 4)},   {"s64", Code(kSigned, 8)},
      {"f16", Code(kFloat, 2)},    {"f32", Code(kFloat, 4)},
      {"f64", Code(kFloat, 8)},    {"bf16", Code(kBfloat, 2)},
      {"tf32", Code(kTf32, 4)}};
  const auto found = types->find(name);
  if (found == types->end()) return std::nullopt;
  return found->second;
}

// The bits of a lane, of a register that may be wider than the type.
uint64_t Read(Warp& warp, uint32_t at, int width, int lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, warp.registers + at + width * lane, width);
  return bits;
}

int64_t SignExtended(uint64_t bits, int bytes) {
  const int unused = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << unused) >> unused;
}

uint64_t ZeroExtended(uint64_t bits, int bytes) {
  return bytes == 8 ? bits : bits & ~(~uint64_t{0} << (8 * bytes));
}

template <typename T, typename B>
T As(B bits) {
  T value;
  static_assert(sizeof(T) == sizeof(B));
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double FloatOf(uint64_t bits, uint8_t type) {
  if (type == Code(kFloat, 8)) return As<double>(bits);
  if (type == Code(kFloat, 2)) return Widen(Half{static_cast<uint16_t>(bits)});
  if (KindOf(type) == kBfloat) {
    return Widen(Bfloat{static_cast<uint16_t>(bits)});
  }
  return As<float>(static_cast<uint32_t>(bits));
}

Format FormatOf(uint8_t type) {
  switch (type) {
    case Code(kFloat, 2):
      return kHalfFormat;
    case Code(kBfloat, 2):
      return kBfloatFormat;
    case Code(kTf32, 4):
      return kTf32Format;
    default:
      return kFloatFormat;
  }
}

uint64_t BitsOfFloat(double value, uint8_t type, Rounding rounding) {
  if (type == Code(kFloat, 8)) return As<uint64_t>(value);
  const bool is_nearest = rounding == Rounding::kNearest;
  // C++ rounds to the nearest float by itself.
  const float rounded = static_cast<float>(
      is_nearest && BytesOf(type) == 4 && KindOf(type) == kFloat
          ? value
          : RoundTo(value, FormatOf(type), rounding));
  if (type == Code(kFloat, 2)) return Narrow<Half>(rounded).bits;
  if (KindOf(type) == kBfloat) return Narrow<Bfloat>(rounded).bits;
  return As<uint32_t>(rounded);
}

uint64_t IntegerOfFloat(double value, uint8_t type, uint8_t from) {
  const int bits = 8 * BytesOf(type);
  const bool is_signed = KindOf(type) == kSigned;
  if (value != value) {
    return bits == 64 || BytesOf(from) == 8 ? uint64_t{1} << (bits - 1) : 0;
  }
  const double limit = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const uint64_t largest = ~uint64_t{0} >> (64 - bits + is_signed);
  if (value >= limit) return largest;
  if (!is_signed) return value <= 0 ? 0 : static_cast<uint64_t>(value);
  if (value < -limit) return ~largest;
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

uint64_t IntegerOfInteger(uint64_t bits, const Form& form) {
  const bool is_signed = KindOf(form.from) == kSigned;
  const uint64_t value =
      is_signed ? static_cast<uint64_t>(SignExtended(bits, BytesOf(form.from)))
                : ZeroExtended(bits, BytesOf(form.from));
  if (!form.saturates) return value;
  const int to_bits = 8 * BytesOf(form.to);
  const bool to_signed = KindOf(form.to) == kSigned;
  const uint64_t largest = ~uint64_t{0} >> (64 - to_bits + to_signed);
  if (is_signed && static_cast<int64_t>(value) < 0) {
    if (!to_signed) return 0;
    return static_cast<uint64_t>(
        std::max(static_cast<int64_t>(value), static_cast<int64_t>(~largest)));
  }
  return std::min(value, largest);
}

// Integers of 64 bits become floats in one rounding.
uint64_t FloatOfInteger(uint64_t bits, const Form& form) {
  const int bytes = BytesOf(form.from);
  if (KindOf(form.from) == kSigned) {
    const int64_t value = SignExtended(bits, bytes);
    if (form.to == Code(kFloat, 4)) {
      return As<uint32_t>(static_cast<float>(value));
    }
    return BitsOfFloat(static_cast<double>(value), form.to, Rounding::kNearest);
  }
  const uint64_t value = ZeroExtended(bits, bytes);
  if (form.to == Code(kFloat, 4)) {
    return As<uint32_t>(static_cast<float>(value));
  }
  return BitsOfFloat(static_cast<double>(value), form.to, Rounding::kNearest);
}

// The bit 8 of a form's rounding says that it gives an integer: "rzi".
constexpr uint8_t kToInteger = 8;

uint64_t FloatOfFloat(double value, const Form& form) {
  const auto rounding = static_cast<Rounding>(form.rounding & 7);
  if ((form.rounding & kToInteger) != 0) {
    value = RoundToInteger(value, rounding);
  }
  if (form.saturates) value = value > 0 ? std::min(value, 1.0) : 0.0;
  return BitsOfFloat(value, form.to, rounding);
}

uint64_t Convert(uint64_t bits, const Form& form) {
  if (IsInteger(form.from)) {
    return IsInteger(form.to) ? IntegerOfInteger(bits, form)
                              : FloatOfInteger(bits, form);
  }
  const double value = FloatOf(bits, form.from);
  if (!IsInteger(form.to)) return FloatOfFloat(value, form);
  const auto rounding = static_cast<Rounding>(form.rounding & 7);
  return IntegerOfFloat(RoundToInteger(value, rounding), form.to, form.from);
}

// Integers that are narrower than their register are extended.
uint64_t Extended(uint64_t bits, uint8_t type) {
  if (KindOf(type) == kSigned) {
    return static_cast<uint64_t>(SignExtended(bits, BytesOf(type)));
  }
  return ZeroExtended(bits, BytesOf(type));
}

bool ConvertLanes(Warp& warp, const Instruction& i) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    const uint64_t from = Read(warp, i.at[1], i.width[1], lane);
    const uint64_t to = Extended(Convert(from, i.form), i.form.to);
    std::memcpy(warp.registers + i.at[0] + i.width[0] * lane, &to, i.width[0]);
  }
  return true;
}

// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
bool ConvertPairs(Warp& warp, const Instruction& i) {
  const auto rounding = static_cast<Rounding>(i.form.rounding & 7);
  uint32_t to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const double high = warp.Lanes<float>(i.at[1])[lane];
    const double low = warp.Lanes<float>(i.at[2])[lane];
    to[lane] =
        static_cast<uint32_t>(BitsOfFloat(high, i.form.to, rounding) << 16 |
                              BitsOfFloat(low, i.form.to, rounding));
  }
  Keep(warp, i.at[0], to);
  return true;
}

template <typename S, typename D>
bool Extend(Warp& warp, const Instruction& i) {
  const S* const from = warp.Lanes<S>(i.at[1]);
  D to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = from[lane];
  Keep(warp, i.at[0], to);
  return true;
}

template <typename T>
bool ConvertWidened(Warp& warp, const Instruction& i) {
  const T* const from = warp.Lanes<T>(i.at[1]);
  float to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = Widen(from[lane]);
  Keep(warp, i.at[0], to);
  return true;
}

template <typename T>
bool ConvertNarrowed(Warp& warp, const Instruction& i) {
  const float* const from = warp.Lanes<float>(i.at[1]);
  T to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = Narrow<T>(from[lane]);
  Keep(warp, i.at[0], to);
  return true;
}

// The frequent ones, whose registers have just the widths of their types.
const Form* FrequentForm(const std::string& opcode) {
  const auto of = [](const char* operands, Handler run) {
    Form form;
    form.operands = operands;
    form.run = run;
    return form;
  };
  static const auto* const forms =
      new Forms{{"cvt.u64.u32", of("dw", Extend<uint32_t, uint64_t>)},
                {"cvt.s64.s32", of("dw", Extend<int32_t, int64_t>)},
                {"cvt.u32.u64", of("wd", Extend<uint64_t, uint32_t>)},
                {"cvt.f32.f16", of("wh", ConvertWidened<Half>)},
                {"cvt.f32.bf16", of("wh", ConvertWidened<Bfloat>)},
                {"cvt.rn.f16.f32", of("hw", ConvertNarrowed<Half>)},
                {"cvt.rn.bf16.f32", of("hw", ConvertNarrowed<Bfloat>)}};
  const auto found = forms->find(opcode);
  return found == forms->end() ? nullptr : &found->second;
}

std::vector<std::string> PartsOf(const std::string& opcode) {
  std::vector<std::string> parts(1);
  for (const char c : opcode) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool SetRounding(const std::string& name, Form* form) {
  static const auto* const roundings =
      new std::map<std::string, Rounding>{{"rn", Rounding::kNearest},
                                          {"rz", Rounding::kZero},
                                          {"rm", Rounding::kDown},
                                          {"rp", Rounding::kUp},
                                          {"rna", Rounding::kNearestAway}};
  const bool is_integer = name.size() == 3 && name[2] == 'i';
  const auto found = roundings->find(is_integer ? name.substr(0, 2) : name);
  if (found == roundings->end()) return false;
  form->rounding = static_cast<uint8_t>(found->second);
  if (is_integer) form->rounding |= kToInteger;
  return true;
}

// Whether the ISA has the rounding for these types.
bool IsRoundingRight(const Form& form, bool has_rounding) {
  const bool to_integer = (form.rounding & kToInteger) != 0;
  if (IsInteger(form.from)) {
    if (IsInteger(form.to)) return !has_rounding;
    return has_rounding && form.rounding == 0;
  }
  if (IsInteger(form.to)) return to_integer;
  if (KindOf(form.to) == kTf32) {
    return form.from == Code(kFloat, 4) && has_rounding && !to_integer;
  }
  const bool narrows = BytesOf(form.to) < BytesOf(form.from);
  return narrows ? has_rounding && !to_integer : has_rounding == to_integer;
}

}  // namespace

std::optional<Form> ConversionForm(const std::string& opcode) {
  if (const Form* const frequent = FrequentForm(opcode)) return *frequent;
  const std::vector<std::string> parts = PartsOf(opcode);
  if (parts.size() < 3 || parts[0] != "cvt") return std::nullopt;
  Form form;
  size_t k = 1;
  const bool has_rounding = SetRounding(parts[k], &form);
  if (has_rounding) ++k;
  if (parts[k] == "sat") {
    form.saturates = true;
    ++k;
  }
  if (k + 2 != parts.size()) return std::nullopt;
  if (parts[k] == "f16x2" || parts[k] == "bf16x2") {
    if (parts[k + 1] != "f32" || !has_rounding) return std::nullopt;
    form.to = *TypeNamed(parts[k].substr(0, parts[k].size() - 2));
    form.operands = "www";
    form.run = ConvertPairs;
    return form;
  }
  const auto to = TypeNamed(parts[k]);
  const auto from = TypeNamed(parts[k + 1]);
  if (!to.has_value() || !from.has_value()) return std::nullopt;
  form.to = *to;
  form.from = *from;
  form.operands = "xx";
  form.run = ConvertLanes;
  if (!IsRoundingRight(form, has_rounding)) return std::nullopt;
  return form;
}

}  // namespace ingot::isa::ptx
