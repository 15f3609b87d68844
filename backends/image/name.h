// The name that the target kind, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_IMAGE_NAME_H_
#define INGOT_BACKENDS_IMAGE_NAME_H_

namespace ingot::image {

inline constexpr char kName[] = "image";

}  // namespace ingot::image

#endif  // INGOT_BACKENDS_IMAGE_NAME_H_
