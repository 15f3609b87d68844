#include "runtime/safetensors.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/safetensors_header.h"
#include "runtime/safetensors_types.h"

namespace ingot {
namespace {

// The format's own limit; also keeps a hostile length from being believed.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
// More dimensions than any operator has.
constexpr size_t kMaxRank = 64;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("safetensors: ", what));
}

absl::Status BadTensor(absl::string_view name, absl::string_view what) {
  return Bad(absl::StrCat("tensor '", name, "': ", what));
}

absl::StatusOr<Tensor> ReadTensor(const std::string& name,
                                  const SafetensorsEntry& entry,
                                  const Blob& data) {
  if (!entry.is_object) return BadTensor(name, "is not an object");
  if (!entry.dtype.has_value()) return BadTensor(name, "has no dtype");
  if (!entry.shape.has_value() || entry.shape->size() > kMaxRank) {
    return BadTensor(name, "has no proper shape");
  }
  const auto& offsets = entry.data_offsets;
  if (!offsets.has_value() || offsets->size() != 2 ||
      !(*offsets)[0].has_value() || !(*offsets)[1].has_value()) {
    return BadTensor(name, "has no proper data_offsets");
  }
  const DataType* type = nullptr;
  for (const SafetensorsType& known : kSafetensorsTypes) {
    if (*entry.dtype == known.name) type = &known.type;
  }
  if (type == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("safetensors: tensor '", name, "' has dtype '",
                     *entry.dtype, "', which Ingot does not have"));
  }
  absl::InlinedVector<int64_t, 8> dims;
  for (const std::optional<uint64_t>& dim : *entry.shape) {
    if (!dim.has_value() || *dim > INT64_MAX) {
      return BadTensor(name, "has a dimension that is not a size");
    }
    dims.push_back(static_cast<int64_t>(*dim));
  }
  const uint64_t begin = *(*offsets)[0];
  const uint64_t end = *(*offsets)[1];
  if (begin > end || end > data.size()) {
    return BadTensor(name, absl::StrCat("lies at [", begin, ", ", end, ") of ",
                                        data.size(), " bytes of data"));
  }
  const absl::StatusOr<size_t> bytes = CountBytes(*type, dims);
  if (!bytes.ok()) return BadTensor(name, bytes.status().message());
  if (*bytes != end - begin) {
    return BadTensor(
        name, absl::StrCat("is ", TypeString(*type, dims), " and so needs ",
                           *bytes, " bytes, but has ", end - begin));
  }
  const Blob content = data.Slice(begin, *bytes);
  const auto address = reinterpret_cast<uintptr_t>(data.data()) + begin;
  if (*bytes > 0 && address % type->bytes() == 0) {
    return Tensor::FromBlob(content, *type, dims);
  }
  absl::StatusOr<Tensor> copy = Tensor::Empty(*type, dims);
  if (copy.ok() && *bytes > 0) {
    std::memcpy(copy->mutable_raw_data(), content.data(), *bytes);
  }
  return copy;
}

}  // namespace

absl::StatusOr<NamedTensors> ReadSafetensors(const Blob& blob) {
  if (blob.size() < sizeof(uint64_t)) return Bad("the file is too short");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | blob.data()[i];
  if (length > kMaxHeaderBytes || length > blob.size() - sizeof(uint64_t)) {
    return Bad(absl::StrCat("a header of ", length, " bytes does not fit in ",
                            blob.size(), " bytes"));
  }
  const uint64_t start = sizeof(uint64_t) + length;
  const Blob data = blob.Slice(start, blob.size() - start);
  NamedTensors tensors;
  const auto add = [&](std::string name,
                       const SafetensorsEntry& entry) -> absl::Status {
    // Names mostly come in order.
    const size_t before = tensors.size();
    const auto place = tensors.try_emplace(tensors.end(), std::move(name));
    if (tensors.size() == before) {
      return RepeatedInSafetensorsHeader(place->first);
    }
    INGOT_ASSIGN_OR_RETURN(place->second,
                           ReadTensor(place->first, entry, data));
    return absl::OkStatus();
  };
  INGOT_RETURN_IF_ERROR(
      ReadSafetensorsHeader(blob.view().substr(sizeof(uint64_t), length), add));
  return tensors;
}

absl::StatusOr<NamedTensors> ReadSafetensorsFile(absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(Blob blob, Blob::MapFile(path));
  absl::StatusOr<NamedTensors> tensors = ReadSafetensors(blob);
  if (!tensors.ok()) {
    return Annotate(tensors.status(), path);
  }
  return tensors;
}

}  // namespace ingot
