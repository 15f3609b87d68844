#include "compiler/frontends/onnx/model/newer_fields.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace ingot::onnx_frontend {
namespace {

using google::protobuf::internal::WireFormatLite;

// With a newer schema these would no longer be among the unknown fields.
static_assert(onnx::IR_VERSION <= 8, "read the fields by their names");
constexpr int kFunctionAttributeProto = 11;  // of IR version 9
constexpr int kFunctionOverload = 13;        // of IR version 10
constexpr int kNodeOverload = 8;             // of IR version 10

// The contents of the fields with this number among those that the schema does
// not know.
std::vector<std::string> Fields(const std::string& unknown, int number) {
  std::vector<std::string> found;
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const uint8_t*>(unknown.data()),
      static_cast<int>(unknown.size()));
  const uint32_t wanted = WireFormatLite::MakeTag(
      number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  while (const uint32_t tag = in.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&in, tag)) break;
      continue;
    }
    std::string content;
    if (!WireFormatLite::ReadBytes(&in, &content)) break;
    found.push_back(std::move(content));
  }
  return found;
}

std::string LastOf(const std::vector<std::string>& fields) {
  return fields.empty() ? "" : fields.back();
}

}  // namespace

absl::StatusOr<std::vector<onnx::AttributeProto>> DefaultAttributes(
    const onnx::FunctionProto& function) {
  std::vector<onnx::AttributeProto> attributes;
  for (const std::string& bytes :
       Fields(function.unknown_fields(), kFunctionAttributeProto)) {
    if (!attributes.emplace_back().ParseFromString(bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function '", function.name(), "' has a damaged attribute"));
    }
    // Its names were not checked when the model was read.
    if (attributes.back().has_g() || attributes.back().graphs_size() > 0) {
      return absl::UnimplementedError(absl::StrCat(
          "function '", function.name(), "' has a graph as a default value"));
    }
  }
  return attributes;
}

std::string Overload(const onnx::FunctionProto& function) {
  return LastOf(Fields(function.unknown_fields(), kFunctionOverload));
}

std::string Overload(const onnx::NodeProto& node) {
  return LastOf(Fields(node.unknown_fields(), kNodeOverload));
}

}  // namespace ingot::onnx_frontend
