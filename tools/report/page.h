// The page of a report: one HTML file that needs nothing else.
#ifndef INGOT_TOOLS_REPORT_PAGE_H_
#define INGOT_TOOLS_REPORT_PAGE_H_

#include <string>

#include "nlohmann/json.hpp"

namespace ingot::report {

// The page that shows `facts` (set_facts.h). What is in them is data to it,
// never markup or script, whatever it says; what is no UTF-8 becomes U+FFFD.
std::string MakePage(const nlohmann::ordered_json& facts);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_PAGE_H_
