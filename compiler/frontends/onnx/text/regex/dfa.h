// Regular expressions of RE2's syntax, compiled to tables that take one step a
// byte and never go back.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_DFA_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_DFA_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::regex {

// Reading starts in state 0; a byte b leads from state s to
// next[s * num_classes + class_of[b]]. The bytes read match if the state is
// accepting then.
struct Dfa {
  int num_classes = 0;
  std::vector<uint8_t> class_of;  // of 256 bytes
  std::vector<uint16_t> next;
  std::vector<uint8_t> accepting;  // 0 or 1, one a state

  int num_states() const { return static_cast<int>(accepting.size()); }
};

// The automaton of the UTF-8 strings that the pattern matches as a whole.
// InvalidArgument for what RE2 does not take either; Unimplemented, which names
// it, for what this does not: Unicode's classes (\p), the flag i for letters
// beyond ASCII, and patterns that need more than 8192 states.
absl::StatusOr<Dfa> CompileRegex(absl::string_view pattern);

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_DFA_H_
