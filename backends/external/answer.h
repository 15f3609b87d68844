// Members of a JSON object that another program wrote.
#ifndef INGOT_BACKENDS_EXTERNAL_ANSWER_H_
#define INGOT_BACKENDS_EXTERNAL_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace ingot::external {

// The member of that name and kind, or `otherwise` where there is none.
std::string TextOr(const nlohmann::json& object, const char* name,
                   const char* otherwise);
int64_t IntegerOr(const nlohmann::json& object, const char* name,
                  int64_t otherwise);
bool BoolOr(const nlohmann::json& object, const char* name, bool otherwise);
// The texts in the list of that name.
std::vector<std::string> Texts(const nlohmann::json& object, const char* name);
// The objects in the list of that name.
std::vector<nlohmann::json> Objects(const nlohmann::json& object,
                                    const char* name);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_ANSWER_H_
