// Regions that a device's library runs call by call: the values between the
// calls, and the part of an artifact's text that says what they are. Code
// generators write it, and loaders read it; each library's own lines follow.
#ifndef INGOT_BACKENDS_LIBRARY_CALLS_REGION_H_
#define INGOT_BACKENDS_LIBRARY_CALLS_REGION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "loaders/text_lines.h"
#include "runtime/plan/call_spec.h"

namespace ingot::library_calls {

// A function of the model's plan. Its values are counted from 0: inputs, then
// outputs, then `temporaries`, by their numbers of elements; all are of f32.
struct Region {
  std::string name;
  CallSpec spec;
  std::vector<int64_t> temporaries;

  int64_t NumInputs() const { return static_cast<int64_t>(spec.inputs.size()); }
  // -1: there is no such value.
  int64_t ElementsOf(int64_t value) const;
};

// The lines of a region's values.
std::string WriteValues(const Region& region);

// Whether a line is of those, and reads it. InvalidArgument says what is wrong.
bool IsOfValues(Words words);
absl::Status ReadValues(Words words, Region* region);

// Reads one value's number behind a key such as "bias:"; -1 where the key is
// not there. InvalidArgument unless there is such a value with so many elements
// (any number of them where that is negative).
absl::Status ReadValueBehind(absl::string_view key, Words words,
                             const Region& region, int64_t elements,
                             int64_t* value);

}  // namespace ingot::library_calls

#endif  // INGOT_BACKENDS_LIBRARY_CALLS_REGION_H_
