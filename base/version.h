#ifndef INGOT_BASE_VERSION_H_
#define INGOT_BASE_VERSION_H_

namespace ingot {

// The version of all of Ingot, which every compiled set names.
inline constexpr char kIngotVersion[] = "0.1.0";

}  // namespace ingot

#endif  // INGOT_BASE_VERSION_H_
