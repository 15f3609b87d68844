#include "runtime/data_type.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

constexpr int kMaxLanes = 1024;

constexpr struct {
  absl::string_view name;
  DataType type;
} kNames[] = {
    {"f64", DataType::Float(64)}, {"f32", DataType::Float(32)},
    {"f16", DataType::Float(16)}, {"bf16", DataType::BFloat16()},
    {"i8", DataType::Int(8)},     {"i16", DataType::Int(16)},
    {"i32", DataType::Int(32)},   {"i64", DataType::Int(64)},
    {"u8", DataType::UInt(8)},    {"u16", DataType::UInt(16)},
    {"u32", DataType::UInt(32)},  {"u64", DataType::UInt(64)},
    {"bool", DataType::Bool()},   {"handle", DataType::Handle()},
};

}  // namespace

bool DataType::HasName() const {
  return lanes >= 1 && lanes <= kMaxLanes &&
         std::any_of(
             std::begin(kNames), std::end(kNames),
             [this](const auto& known) { return known.type == element(); });
}

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
  absl::string_view scalar = text;
  int lanes = 1;
  const size_t x = text.rfind('x');
  if (x != absl::string_view::npos) {
    if (!absl::SimpleAtoi(text.substr(x + 1), &lanes) || lanes < 2 ||
        lanes > kMaxLanes) {
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
