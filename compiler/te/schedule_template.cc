#include "compiler/te/schedule_template.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::te {
namespace {

// The entry of a parameter, in the values of a choice that has it.
template <typename Values>
auto FindValue(Values& values, absl::string_view name) {
  auto it = std::find_if(values.begin(), values.end(),
                         [name](const auto& v) { return v.first == name; });
  if (it == values.end()) {
    std::fprintf(stderr, "a schedule's template has no parameter '%s'\n",
                 std::string(name).c_str());
    std::abort();
  }
  return it;
}

}  // namespace

ScheduleChoice::ScheduleChoice(absl::Span<const ScheduleParameter> parameters) {
  for (const ScheduleParameter& p : parameters) {
    values_.emplace_back(p.name, p.values.front());
  }
}

int64_t ScheduleChoice::Get(absl::string_view name) const {
  return FindValue(values_, name)->second;
}

void ScheduleChoice::Set(absl::string_view name, int64_t value) {
  FindValue(values_, name)->second = value;
}

std::string ScheduleChoice::ToString() const {
  return absl::StrJoin(values_, " ", [](std::string* out, const auto& v) {
    absl::StrAppend(out, v.first, "=", v.second);
  });
}

}  // namespace ingot::te
