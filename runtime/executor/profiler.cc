#include "runtime/executor/profiler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace ingot {
namespace {

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Appends `text` as a JSON string. Bytes of UTF-8 pass as they are.
void AppendJsonString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

}  // namespace

Profiler::Profiler() : origin_ns_(SteadyNs()) {}

int64_t Profiler::Now() const { return SteadyNs() - origin_ns_; }

void Profiler::Record(absl::string_view name, absl::string_view source,
                      int64_t start_ns, int64_t duration_ns) {
  const uint64_t id = std::hash<std::thread::id>()(std::this_thread::get_id());
  absl::MutexLock lock(&mutex_);
  auto it = std::find(threads_.begin(), threads_.end(), id);
  const int32_t thread = static_cast<int32_t>(it - threads_.begin());
  if (it == threads_.end()) threads_.push_back(id);
  events_.push_back(Event{std::string(name), std::string(source), start_ns,
                          duration_ns, thread});
}

std::vector<Profiler::Event> Profiler::Events() const {
  absl::MutexLock lock(&mutex_);
  return events_;
}

void Profiler::Clear() {
  absl::MutexLock lock(&mutex_);
  events_.clear();
}

std::string Profiler::ToChromeTrace() const {
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool first = true;
  for (const Event& event : Events()) {
    absl::StrAppend(&json, first ? "\n" : ",\n", "{\"name\":");
    first = false;
    AppendJsonString(event.name, &json);
    absl::StrAppendFormat(
        &json,
        ",\"cat\":\"call\",\"ph\":\"X\",\"ts\":%d.%03d,\"dur\":%d.%03d,"
        "\"pid\":1,\"tid\":%d,\"args\":{\"source\":",
        event.start_ns / 1000, event.start_ns % 1000, event.duration_ns / 1000,
        event.duration_ns % 1000, event.thread);
    AppendJsonString(event.source, &json);
    absl::StrAppend(&json, "}}");
  }
  absl::StrAppend(&json, "\n]}\n");
  return json;
}

}  // namespace ingot
