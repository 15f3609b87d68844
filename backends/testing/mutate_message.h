// Small changes to a protocol buffer, field by field.
#ifndef INGOT_BACKENDS_TESTING_MUTATE_MESSAGE_H_
#define INGOT_BACKENDS_TESTING_MUTATE_MESSAGE_H_

#include <functional>
#include <string>

#include "google/protobuf/message.h"

namespace ingot::testing_support {

// Calls `visit` with `root` changed in one place, for each of the changes
// below, and with a description of the change; `root` is as before afterwards.
// Covers every field of every message in it:
//
//   - an integer becomes 0, 1, -1, its neighbours, twice itself, the extremes
//     of its type, and, in a list, the index of the element that holds it;
//   - an enum becomes each of its values, and one that it does not have;
//   - a bool is inverted, a string emptied and changed;
//   - a message is cleared, or made where there is none;
//   - an element of a list is dropped, doubled, and swapped with the next one.
void ForEachMutation(
    google::protobuf::Message* root,
    const std::function<void(const std::string& change)>& visit);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_MUTATE_MESSAGE_H_
