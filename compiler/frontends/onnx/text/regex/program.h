// A pattern as steps over bytes, several of which may be taken. Internal to
// this folder.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PROGRAM_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/text/regex/byte_ranges.h"
#include "compiler/frontends/onnx/text/regex/syntax.h"

namespace ingot::regex {

struct Step {
  enum Kind {
    kByte,    // takes a byte of `range`, then `next`
    kAssert,  // `next` if `assertion` holds
    kEither,  // `next` or `other`
    kMatch,   // the end of the pattern
  };
  Kind kind = kMatch;
  ByteRange range;
  Assertion assertion = Assertion::kTextStart;
  int next = 0, other = 0;
};

struct Program {
  std::vector<Step> steps;
  int start = 0;
};

// Unimplemented if it would have too many steps.
absl::StatusOr<Program> MakeProgram(const Syntax& syntax);

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PROGRAM_H_
