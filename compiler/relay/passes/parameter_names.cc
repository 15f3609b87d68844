#include "compiler/relay/passes/parameter_names.h"

namespace ingot::relay {

std::string CommonName(absl::string_view a, absl::string_view b) {
  if (a == b) return std::string(a);
  const auto last = [](absl::string_view name) {
    return name.substr(name.find_last_of("./:") + 1);
  };
  return last(a) == last(b) ? std::string(last(a)) : "";
}

}  // namespace ingot::relay
