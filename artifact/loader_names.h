// The loaders that the load stage itself knows.
#ifndef INGOT_ARTIFACT_LOADER_NAMES_H_
#define INGOT_ARTIFACT_LOADER_NAMES_H_

namespace ingot {

// The plan comes first, then native code, which is linked. All others come
// after, sorted by name.
inline constexpr char kMetadataLoader[] = "metadata";
inline constexpr char kNativeLoader[] = "native";

// The loader whose artifacts are weights: their digests are checked when asked,
// and not on every load.
inline constexpr char kConstantsLoader[] = "constants";

}  // namespace ingot

#endif  // INGOT_ARTIFACT_LOADER_NAMES_H_
