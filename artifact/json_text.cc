#include "artifact/json_text.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;

// Lays out the events of a JSON parser, so that a document is never held as a
// tree and its depth costs no stack.
class JsonPrinter : public nlohmann::json_sax<Json> {
 public:
  std::string TakeText() { return std::move(text_); }
  const std::string& error() const { return error_; }

  bool null() override { return Scalar("null"); }
  bool boolean(bool value) override { return Scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return Scalar(absl::StrCat(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Scalar(absl::StrCat(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Scalar(text);
  }
  bool string(string_t& value) override { return Scalar(Quoted(value)); }
  bool binary(binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return Open('{'); }
  bool end_object() override { return Close('}'); }
  bool start_array(std::size_t) override { return Open('['); }
  bool end_array() override { return Close(']'); }
  bool key(string_t& name) override {
    open_.back().key = absl::StrCat(Quoted(name), ": ");
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
  static constexpr size_t kWidth = 100;

  // An object or array whose end is not there yet.
  struct Container {
    char bracket;
    std::string key;  // of the member that comes next
    // Its items, whole ones, while all of it may still fit on one line.
    std::vector<std::string> items;
    size_t items_size = 0;
    // Once it does not: lines, of which the last one has `column` bytes and may
    // go on, unless a container ends it.
    bool is_long = false, line_is_closed = true;
    std::string lines;
    size_t column = 0;
  };

  static std::string Quoted(const std::string& value) {
    return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  size_t Indent() const { return 2 * open_.size(); }

  bool Scalar(std::string text) {
    Add(std::move(text), /*is_container=*/false);
    return true;
  }

  bool Open(char bracket) {
    if (open_.size() >= kMaxDepth) {
      error_ = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
      return false;
    }
    open_.emplace_back();
    open_.back().bracket = bracket;
    return true;
  }

  bool Close(char bracket) {
    Container container = std::move(open_.back());
    open_.pop_back();
    std::string text(1, container.bracket);
    if (container.is_long) {
      absl::StrAppend(&text, container.lines, "\n", std::string(Indent(), ' '));
    } else {
      absl::StrAppend(&text, absl::StrJoin(container.items, ", "));
    }
    text += bracket;
    Add(std::move(text), /*is_container=*/true);
    return true;
  }

  // Adds a whole value to what is open.
  void Add(std::string value, bool is_container) {
    if (open_.empty()) {
      text_ = std::move(value);
      return;
    }
    Container& into = open_.back();
    std::string item = absl::StrCat(into.key, value);
    into.key.clear();
    if (into.is_long) return AddToLines(item, is_container, &into);
    into.items_size += item.size() + 2;
    into.items.push_back(std::move(item));
    const bool is_one_line =
        !is_container || value.find('\n') == std::string::npos;
    if (is_one_line && Indent() + into.items_size <= kWidth) return;
    into.is_long = true;
    for (const std::string& each : std::exchange(into.items, {})) {
      const bool closes = each.back() == '}' || each.back() == ']';
      AddToLines(each, closes, &into);
    }
  }

  // Numbers and names share a line; a container has its own.
  void AddToLines(const std::string& item, bool is_container,
                  Container* into) const {
    const bool fits = !is_container && !into->line_is_closed &&
                      into->column + item.size() + 3 <= kWidth;
    if (!into->lines.empty()) into->lines += ',';
    if (fits) {
      absl::StrAppend(&into->lines, " ", item);
      into->column += item.size() + 2;
    } else {
      absl::StrAppend(&into->lines, "\n", std::string(Indent(), ' '), item);
      into->column = Indent() + item.size();
    }
    into->line_is_closed = is_container;
  }

  std::string text_;
  std::string error_;
  std::vector<Container> open_;
};

}  // namespace

absl::StatusOr<std::string> LayOutJson(absl::string_view text) {
  JsonPrinter printer;
  if (!Json::sax_parse(text.begin(), text.end(), &printer)) {
    return absl::InvalidArgumentError(printer.error());
  }
  return absl::StrCat(printer.TakeText(), "\n");
}

}  // namespace ingot
