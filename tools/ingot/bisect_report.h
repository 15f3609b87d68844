// What a bisection found, for people and programs.
#ifndef INGOT_TOOLS_INGOT_BISECT_REPORT_H_
#define INGOT_TOOLS_INGOT_BISECT_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/ingot/bisect_search.h"
#include "tools/ingot/bisect_subject.h"
#include "tools/ingot/compile_flags.h"

namespace ingot {

// A paragraph, and the commands that show more. `path`, `flags` and
// `replacements` are those of the call.
std::string FindingText(const Finding& finding, const BisectSubject& subject,
                        absl::string_view path, const CompileFlags& flags,
                        const std::vector<std::string>& replacements);

// The same in a few words: "module pass simplify is wrong for node Conv_0".
std::string FindingLine(const Finding& finding);

nlohmann::ordered_json FindingJson(const std::optional<Finding>& finding,
                                   int runs);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_REPORT_H_
