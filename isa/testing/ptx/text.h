// Pieces of PTX's text.
#ifndef INGOT_ISA_TESTING_PTX_TEXT_H_
#define INGOT_ISA_TESTING_PTX_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::isa::ptx {

// Without spaces and line ends at both ends.
std::string_view Trim(std::string_view text);

// The text with spaces in the place of comments; lines stay lines.
std::string WithoutComments(std::string_view text);

// Parts between separators that are in no brackets, trimmed. Nothing of an
// empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Takes a name or opcode, which may be empty, from the text's begin, and the
// spaces behind it.
std::string_view TakeWord(std::string_view* text);

// The bits of a constant: "-3", "0x1F", "7U", "0f3F800000", "0d3FF0...".
std::optional<uint64_t> ConstantOf(std::string_view text);

// The bytes of a type such as ".b32" or "f64"; 0: there is no such type.
uint32_t BytesOfType(std::string_view type);

// A variable: ".align 4 .b8 name[36] = {1, 2}".
struct Variable {
  std::string name;
  uint32_t alignment = 1;
  uint32_t element_bytes = 1;
  uint32_t bytes = 0;
  std::vector<uint64_t> values;  // the first elements; the others are zeros
};

// Without the word that says in which space it is.
std::optional<Variable> VariableOf(std::string_view text);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_TEXT_H_
