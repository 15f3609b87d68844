#include "tools/report/page.h"

#include "absl/strings/str_replace.h"

namespace ingot::report {
namespace {

constexpr char kPage[] =
#include "tools/report/page_html.inc"
    ;
constexpr char kStyle[] =
#include "tools/report/page_css.inc"
    ;
constexpr char kScript[] =
#include "tools/report/page_js.inc"
    ;

}  // namespace

std::string MakePage(const nlohmann::ordered_json& facts) {
  // Within an element of script nothing is markup but what begins with "<".
  const std::string data = absl::StrReplaceAll(
      facts.dump(-1, ' ', false,
                 nlohmann::ordered_json::error_handler_t::replace),
      {{"<", "\\u003c"}});
  return absl::StrReplaceAll(kPage, {{"/* style */", kStyle},
                                     {"/* data */", data},
                                     {"/* script */", kScript}});
}

}  // namespace ingot::report
