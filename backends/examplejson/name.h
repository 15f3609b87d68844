// The name that the target kind, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_EXAMPLEJSON_NAME_H_
#define INGOT_BACKENDS_EXAMPLEJSON_NAME_H_

namespace ingot::examplejson {

inline constexpr char kName[] = "examplejson";

}  // namespace ingot::examplejson

#endif  // INGOT_BACKENDS_EXAMPLEJSON_NAME_H_
