#include "runtime/safetensors_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/safetensors_types.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

constexpr size_t kDataAlignment = 64;
absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("safetensors: ", what));
}

absl::Status BadTensor(absl::string_view name, absl::string_view what) {
  return Bad(absl::StrCat("tensor '", name, "': ", what));
}

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(absl::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 0;
    if (more == 0 || lead > 0xF4 || text.size() - i <= size_t(more)) {
      return false;
    }
    uint32_t point = lead & (0x3F >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3F);
    }
    if ((more == 2 && point < 0x800) || (more == 3 && point < 0x10000) ||
        point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

const char* TypeName(DataType type) {
  for (const SafetensorsType& known : kSafetensorsTypes) {
    if (known.type == type) return known.name;
  }
  return nullptr;
}

// In the order of their data.
std::vector<const NamedTensors::value_type*> DataOrder(
    const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    const bool whole_a = a->second.bytes() % kDataAlignment == 0;
    const bool whole_b = b->second.bytes() % kDataAlignment == 0;
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
    const char* type = TypeName(tensor.dtype());
    if (type == nullptr) {
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
  const size_t padded = (total + kDataAlignment - 1) & ~(kDataAlignment - 1);
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
  absl::StatusOr<std::string> header = MakeHeader(order);
  if (!header.ok()) return header.status();
  char length[sizeof(uint64_t)];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(header->size() >> (8 * i));
  }
  absl::Status status = write(absl::string_view(length, sizeof(length)));
  if (status.ok()) status = write(*header);
  for (const auto* entry : order) {
    if (!status.ok()) break;
    if (entry->second.bytes() > 0) status = write(Bytes(entry->second));
  }
  return status;
}

absl::StatusOr<Blob> SafetensorsToBlob(const NamedTensors& tensors) {
  absl::StatusOr<std::string> header = MakeHeader(DataOrder(tensors));
  if (!header.ok()) return header.status();
  size_t total = sizeof(uint64_t) + header->size();
  for (const auto& [name, tensor] : tensors) total += tensor.bytes();
  absl::StatusOr<Tensor> memory =
      Tensor::Empty(DataType::UInt(8), {static_cast<int64_t>(total)});
  if (!memory.ok()) return memory.status();
  auto* to = static_cast<char*>(memory->mutable_raw_data());
  absl::Status status = WriteSafetensors(tensors, [&](absl::string_view bytes) {
    std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  auto owner = std::make_shared<Tensor>(*std::move(memory));
  const void* data = owner->raw_data();
  return Blob::FromMemory(data, total, std::move(owner));
}

absl::Status WriteSafetensorsFile(const NamedTensors& tensors,
                                  absl::string_view path) {
  const std::string target(path);
  const std::string temporary =
      absl::StrCat(path, ".", static_cast<int64_t>(getpid()), ".tmp");
  auto failed = [&](absl::string_view what) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    return absl::UnavailableError(
        absl::StrCat("cannot ", what, " ", target, ": ", reason));
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return failed("create");
  absl::Status status = WriteSafetensors(tensors, [&](absl::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
      return absl::UnavailableError(
          absl::StrCat("cannot write ", target, ": ", strerror(errno)));
    }
    return absl::OkStatus();
  });
  if (std::fclose(file) != 0 && status.ok()) return failed("write");
  if (!status.ok()) {
    std::remove(temporary.c_str());
    return status;
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    return failed("replace");
  }
  return absl::OkStatus();
}

}  // namespace ingot
