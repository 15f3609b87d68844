#include "runtime/safetensors_header.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;
using Entries = std::map<std::string, SafetensorsEntry>;

// Most lists have no more.
constexpr size_t kFewNumbers = 4;

constexpr char kMetadata[] = "__metadata__";

// Receives the header's JSON event by event. `depth_` counts open objects and
// lists: 1 is the header, 2 a tensor's entry, 3 one of its lists; deeper
// values have no meaning in the format and are skipped.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  Entries TakeEntries() {
    entries_.erase(kMetadata);
    return std::move(entries_);
  }
  const std::string& repeated() const { return repeated_; }

  bool null() override { return Scalar(std::nullopt); }
  bool boolean(bool) override { return Scalar(std::nullopt); }
  bool number_integer(int64_t) override { return Scalar(std::nullopt); }
  bool number_unsigned(uint64_t value) override { return Scalar(value); }
  bool number_float(double, const std::string&) override {
    return Scalar(std::nullopt);
  }
  bool binary(Json::binary_t&) override { return false; }  // never in text

  bool string(std::string& value) override {
    if (depth_ == 2 && entry_ != nullptr && field_ == "dtype") {
      entry_->dtype = std::move(value);
      return true;
    }
    return Scalar(std::nullopt);
  }

  bool start_object(size_t) override {
    if (depth_ == 1) {
      if (entry_ != nullptr) entry_->is_object = true;
      fields_.clear();
    } else if (depth_ == 3) {
      Append(std::nullopt);
    }
    ++depth_;
    return true;
  }

  bool key(std::string& value) override {
    if (depth_ == 1) {
      const bool is_entry = value != kMetadata;
      auto [place, is_new] = entries_.try_emplace(value);
      if (!is_new) return Repeated(value);
      entry_ = is_entry ? &place->second : nullptr;
    } else if (depth_ == 2) {
      if (!fields_.insert(value).second) return Repeated(value);
      field_ = value;
    }
    return true;
  }

  bool end_object() override { return Close(); }

  bool start_array(size_t) override {
    if (depth_ == 0) return false;  // the header is an object
    if (depth_ == 2 && entry_ != nullptr) {
      if (field_ == "shape") list_ = &entry_->shape.emplace();
      if (field_ == "data_offsets") list_ = &entry_->data_offsets.emplace();
      if (list_ != nullptr) list_->reserve(kFewNumbers);
    } else if (depth_ == 3) {
      Append(std::nullopt);
    }
    ++depth_;
    return true;
  }

  bool end_array() override { return Close(); }

  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Scalar(std::optional<uint64_t> value) {
    if (depth_ == 3) Append(value);
    return depth_ > 0;
  }

  void Append(std::optional<uint64_t> value) {
    if (list_ != nullptr) list_->push_back(value);
  }

  bool Close() {
    --depth_;
    if (depth_ == 2) list_ = nullptr;
    return true;
  }

  bool Repeated(const std::string& name) {
    repeated_ = name;
    return false;
  }

  Entries entries_;
  absl::flat_hash_set<std::string> fields_;  // of the entry being read
  std::string repeated_;
  int depth_ = 0;
  SafetensorsEntry* entry_ = nullptr;  // null inside "__metadata__"
  std::string field_;
  SafetensorsEntry::Numbers* list_ = nullptr;
};

}  // namespace

absl::StatusOr<Entries> ParseSafetensorsHeader(absl::string_view text) {
  HeaderReader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) {
    return absl::InvalidArgumentError(
        reader.repeated().empty()
            ? "safetensors: the header is not a JSON object"
            : absl::StrCat("safetensors: the header has '", reader.repeated(),
                           "' twice"));
  }
  return reader.TakeEntries();
}

}  // namespace ingot
