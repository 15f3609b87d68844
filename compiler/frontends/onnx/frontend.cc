#include "compiler/frontends/onnx/frontend.h"

#include <cstdint>
#include <utility>

#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/model/values.h"

namespace ingot {
namespace {

// The forms in which protobuf writes a field.
enum WireType { kVarint = 0, kBytes = 2 };

bool ReadVarint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>((*bytes)[0]);
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Walks the fields of the message up to its graph, which every model has. Most
// other files fail at their first byte.
bool IsOnnxModel(absl::string_view bytes) {
  constexpr uint64_t kGraph = 7;      // of onnx.ModelProto
  constexpr uint64_t kMaxField = 64;  // far more than it has
  uint64_t tag = 0, value = 0;
  while (ReadVarint(&bytes, &tag)) {
    const uint64_t field = tag >> 3;
    if (field == 0 || field > kMaxField) return false;
    switch (tag & 7) {
      case kVarint:
        if (!ReadVarint(&bytes, &value)) return false;
        break;
      case kBytes:
        if (!ReadVarint(&bytes, &value)) return false;
        if (field == kGraph) return value > 0;
        if (value > bytes.size()) return false;
        bytes.remove_prefix(value);
        break;
      default:
        return false;  // a model has no fields of fixed size
    }
  }
  return false;
}

absl::StatusOr<std::vector<ModelValue>> ListValues(
    const Blob& model, const ImportOptions& options) {
  return OnnxValues(model);
}

}  // namespace

absl::Status RegisterOnnxFrontend(FrontendRegistry* registry) {
  Frontend frontend;
  frontend.name = "onnx";
  frontend.suffix = ".onnx";
  frontend.looks_for = "the graph of an onnx.ModelProto";
  frontend.accepts = &IsOnnxModel;
  frontend.import = &ImportOnnx;
  frontend.list_values = &ListValues;
  return registry->Register(std::move(frontend));
}

}  // namespace ingot
