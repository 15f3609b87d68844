#include "backends/external/answer.h"

namespace ingot::external {
namespace {

using nlohmann::json;

// Null where there is no such member.
const json* Find(const json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() ? nullptr : &*it;
}

}  // namespace

std::string TextOr(const json& object, const char* name,
                   const char* otherwise) {
  const json* value = Find(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>()
                                                : otherwise;
}

int64_t IntegerOr(const json& object, const char* name, int64_t otherwise) {
  const json* value = Find(object, name);
  return value != nullptr && value->is_number_integer() ? value->get<int64_t>()
                                                        : otherwise;
}

bool BoolOr(const json& object, const char* name, bool otherwise) {
  const json* value = Find(object, name);
  return value != nullptr && value->is_boolean() ? value->get<bool>()
                                                 : otherwise;
}

std::vector<std::string> Texts(const json& object, const char* name) {
  std::vector<std::string> texts;
  const json* list = Find(object, name);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json& element : *list) {
    if (element.is_string()) texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::vector<json> Objects(const json& object, const char* name) {
  std::vector<json> objects;
  const json* list = Find(object, name);
  if (list == nullptr || !list->is_array()) return objects;
  for (const json& element : *list) {
    if (element.is_object()) objects.push_back(element);
  }
  return objects;
}

}  // namespace ingot::external
