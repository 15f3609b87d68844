#include "runtime/safetensors_writer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"
#include "runtime/safetensors_types.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("safetensors: ", what));
}

absl::Status BadTensor(absl::string_view name, absl::string_view what) {
  return Bad(absl::StrCat("tensor '", name, "': ", what));
}

// Empty for a type that the format does not have.
absl::string_view TypeName(DataType type) {
  for (const SafetensorsType& known : kSafetensorsTypes) {
    if (known.type == type) return known.name;
  }
  return {};
}

// In the order of their data.
std::vector<const NamedTensors::value_type*> DataOrder(
    const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    const bool whole_a = a->second.bytes() % kAlignment == 0;
    const bool whole_b = b->second.bytes() % kAlignment == 0;
    if (whole_a != whole_b) return whole_a;
    const size_t size_a = a->second.dtype().bytes();
    const size_t size_b = b->second.dtype().bytes();
    if (size_a != size_b) return size_a > size_b;
    return a->first < b->first;
  });
  return order;
}

absl::StatusOr<std::string> MakeHeader(
    absl::Span<const NamedTensors::value_type* const> order) {
  std::string header = "{";
  uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    if (name == "__metadata__" || !IsUtf8(name)) {
      return Bad("a tensor's name is not allowed by the format");
    }
    const absl::string_view type = TypeName(tensor.dtype());
    if (type.empty()) {
      return BadTensor(name, absl::StrCat(tensor.dtype().ToString(),
                                          " has no safetensors dtype"));
    }
    if (!tensor.device().is_cpu()) return BadTensor(name, "is not on the CPU");
    absl::StrAppend(
        &header, header.size() == 1 ? "" : ",",
        Json(name).dump(-1, ' ', false, Json::error_handler_t::replace),
        ":{\"dtype\":\"", type, "\",\"shape\":[");
    for (size_t i = 0; i < tensor.shape().size(); ++i) {
      absl::StrAppend(&header, i == 0 ? "" : ",", tensor.shape()[i]);
    }
    absl::StrAppend(&header, "],\"data_offsets\":[", offset, ",",
                    offset + tensor.bytes(), "]}");
    offset += tensor.bytes();
  }
  header += "}";
  const size_t total = header.size() + sizeof(uint64_t);
  const size_t padded = AlignUp(total);
  header.append(padded - total, ' ');
  return header;
}

absl::string_view Bytes(const Tensor& tensor) {
  return absl::string_view(static_cast<const char*>(tensor.raw_data()),
                           tensor.bytes());
}

}  // namespace

absl::Status WriteSafetensors(
    const NamedTensors& tensors,
    const std::function<absl::Status(absl::string_view bytes)>& write) {
  const auto order = DataOrder(tensors);
  INGOT_ASSIGN_OR_RETURN(std::string header, MakeHeader(order));
  char length[sizeof(uint64_t)];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i));
  }
  INGOT_RETURN_IF_ERROR(write(absl::string_view(length, sizeof(length))));
  INGOT_RETURN_IF_ERROR(write(header));
  for (const auto* entry : order) {
    if (entry->second.bytes() == 0) continue;
    INGOT_RETURN_IF_ERROR(write(Bytes(entry->second)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Blob> SafetensorsToBlob(const NamedTensors& tensors) {
  INGOT_ASSIGN_OR_RETURN(std::string header, MakeHeader(DataOrder(tensors)));
  size_t total = sizeof(uint64_t) + header.size();
  for (const auto& [name, tensor] : tensors) total += tensor.bytes();
  INGOT_ASSIGN_OR_RETURN(
      Tensor memory,
      Tensor::Empty(DataType::UInt(8), {static_cast<int64_t>(total)}));
  auto* to = static_cast<char*>(memory.mutable_raw_data());
  INGOT_RETURN_IF_ERROR(WriteSafetensors(tensors, [&](absl::string_view bytes) {
    std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
    return absl::OkStatus();
  }));
  auto owner = std::make_shared<Tensor>(std::move(memory));
  const void* data = owner->raw_data();
  return Blob::FromMemory(data, total, std::move(owner));
}

absl::Status WriteSafetensorsFile(const NamedTensors& tensors,
                                  absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(ReplaceFile file, ReplaceFile::Open(path));
  INGOT_RETURN_IF_ERROR(WriteSafetensors(
      tensors, [&](absl::string_view bytes) { return file.Append(bytes); }));
  return file.Commit();
}

}  // namespace ingot
