#include "artifact/text_inspectors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "nlohmann/json.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;

absl::StatusOr<std::string> InspectText(const Artifact& artifact) {
  return std::string(artifact.content.view());
}

// Prints the events of a JSON parser, so that a document is never held as a
// tree: members keep their order, and its depth costs no stack.
class JsonPrinter : public nlohmann::json_sax<Json> {
 public:
  std::string TakeText() { return std::move(text_); }
  const std::string& error() const { return error_; }

  bool null() override { return Value("null"); }
  bool boolean(bool value) override { return Value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return Value(absl::StrCat(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Value(absl::StrCat(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Value(text);
  }
  bool string(string_t& value) override { return Value(Quoted(value)); }
  bool binary(binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return Open('{'); }
  bool end_object() override { return Close('}'); }
  bool start_array(std::size_t) override { return Open('['); }
  bool end_array() override { return Close(']'); }
  bool key(string_t& name) override {
    StartItem();
    absl::StrAppend(&text_, Quoted(name), ": ");
    after_key_ = true;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    error_ = absl::StrCat("not JSON, at byte ", position, ": ", error.what());
    return false;
  }

 private:
  // Indentation makes the output grow with the square of the depth.
  static constexpr size_t kMaxDepth = 200;

  static std::string Quoted(const std::string& value) {
    return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void NewLine() {
    text_ += '\n';
    text_.append(2 * has_items_.size(), ' ');
  }

  // The comma and line break before a member or an element.
  void StartItem() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (has_items_.empty()) return;
    if (has_items_.back()) text_ += ',';
    has_items_.back() = true;
    NewLine();
  }

  bool Value(absl::string_view text) {
    StartItem();
    absl::StrAppend(&text_, text);
    return true;
  }

  bool Open(char bracket) {
    if (has_items_.size() >= kMaxDepth) {
      error_ = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
      return false;
    }
    StartItem();
    text_ += bracket;
    has_items_.push_back(false);
    return true;
  }

  bool Close(char bracket) {
    const bool had_items = has_items_.back();
    has_items_.pop_back();
    if (had_items) NewLine();
    text_ += bracket;
    return true;
  }

  std::string text_;
  std::string error_;
  // For each open object or array: whether something is in it already.
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

absl::StatusOr<std::string> InspectJson(const Artifact& artifact) {
  const absl::string_view text = artifact.content.view();
  JsonPrinter printer;
  if (!Json::sax_parse(text.begin(), text.end(), &printer)) {
    return absl::InvalidArgumentError(printer.error());
  }
  return absl::StrCat(printer.TakeText(), "\n");
}

}  // namespace

absl::Status RegisterTextInspectors(InspectorRegistry* registry) {
  InspectorRule text;
  text.name = "text";
  text.file_suffixes = {".txt", ".md",  ".csv", ".c",     ".h",     ".cc",
                        ".cpp", ".hpp", ".cu",  ".cl",    ".metal", ".s",
                        ".S",   ".asm", ".ll",  ".relay", ".tir",   ".dot"};
  text.inspect = InspectText;

  InspectorRule json;
  json.name = "json";
  json.file_suffixes = {".json"};
  json.output_suffix = ".pretty.json";
  json.inspect = InspectJson;

  absl::Status status = registry->Register(std::move(text));
  status.Update(registry->Register(std::move(json)));
  return status;
}

}  // namespace ingot
