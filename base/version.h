#ifndef INGOT_BASE_VERSION_H_
#define INGOT_BASE_VERSION_H_

namespace ingot {

// Of all of Ingot. Sets that were compiled say it.
inline constexpr char kIngotVersion[] = "0.1.0";

}  // namespace ingot

#endif  // INGOT_BASE_VERSION_H_
