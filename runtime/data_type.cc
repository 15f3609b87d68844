#include "runtime/data_type.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ingot {

std::string DataType::ToString() const {
  std::string name;
  switch (code) {
    case kInt:
      name = absl::StrCat("i", bits);
      break;
    case kUInt:
      name = absl::StrCat("u", bits);
      break;
    case kFloat:
      name = absl::StrCat("f", bits);
      break;
    case kBFloat:
      name = absl::StrCat("bf", bits);
      break;
    case kBool:
      name = "bool";
      break;
    case kHandle:
      name = "handle";
      break;
    default:
      name = absl::StrCat("type", code, "_", bits);
  }
  if (lanes > 1) absl::StrAppend(&name, "x", lanes);
  return name;
}

absl::StatusOr<DataType> DataType::Parse(absl::string_view text) {
  static constexpr struct {
    absl::string_view name;
    DataType type;
  } kNames[] = {
      {"f64", Float(64)},   {"f32", Float(32)},   {"f16", Float(16)},
      {"bf16", BFloat16()}, {"i8", Int(8)},       {"i16", Int(16)},
      {"i32", Int(32)},     {"i64", Int(64)},     {"u8", UInt(8)},
      {"u16", UInt(16)},    {"u32", UInt(32)},    {"u64", UInt(64)},
      {"bool", Bool()},     {"handle", Handle()},
  };
  absl::string_view scalar = text;
  int lanes = 1;
  const size_t x = text.rfind('x');
  if (x != absl::string_view::npos) {
    if (!absl::SimpleAtoi(text.substr(x + 1), &lanes) || lanes < 2 ||
        lanes > 1024) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "' is not a data type"));
    }
    scalar = text.substr(0, x);
  }
  for (const auto& entry : kNames) {
    if (entry.name == scalar) return entry.type.with_lanes(lanes);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a data type"));
}

}  // namespace ingot
