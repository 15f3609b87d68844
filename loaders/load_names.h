#ifndef INGOT_LOADERS_LOAD_NAMES_H_
#define INGOT_LOADERS_LOAD_NAMES_H_

namespace ingot {

// The loaders to which the load stage itself gives an order: the plan first,
// then native code. All others come after, sorted by name.
inline constexpr char kMetadataLoader[] = "metadata";
inline constexpr char kNativeLoader[] = "native";

}  // namespace ingot

#endif  // INGOT_LOADERS_LOAD_NAMES_H_
