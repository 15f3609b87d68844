// --json: the last line of stdout is one JSON object.

#ifndef INGOT_TOOLS_INGOT_JSON_H_
#define INGOT_TOOLS_INGOT_JSON_H_

#include <string>

#include "nlohmann/json.hpp"
#include "tools/ingot/output.h"

namespace ingot {

// Prints `value` on one line. Names from a model may be no UTF-8: what is not
// becomes U+FFFD. Infinities and NaN, which JSON has not, become null.
inline void PrintJson(const nlohmann::ordered_json& value) {
  std::string line = value.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  line += '\n';
  Print(line);
}

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_JSON_H_
