// Where the code of functions is in a set, and how much of it there is.
#ifndef INGOT_TOOLS_REPORT_CODE_H_
#define INGOT_TOOLS_REPORT_CODE_H_

#include <cstdint>
#include <map>
#include <string>

#include "artifact/artifact_set.h"
#include "tools/report/kernel_texts.h"

namespace ingot::report {

struct Code {
  size_t artifact = 0;  // index into the set's
  // The size of machine code in an object, of the text of a source, or of the
  // whole artifact of one function; with the function's helpers.
  uint64_t bytes = 0;
};

// The code of `functions` as far as it is found: in objects by their symbols,
// in sources by their text, and in an artifact whose file has the function's
// name. Where several artifacts have it, the first counts. The set may come
// from anywhere; what cannot be read has no code.
std::map<std::string, Code> FindCode(const ArtifactSet& set,
                                     const FunctionNames& functions);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_CODE_H_
