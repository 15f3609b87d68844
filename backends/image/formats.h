// One function a format, in a file of its own: whether all of `file` could be
// read. Otherwise `*image` may have any of its pixels. Private to this folder.
#ifndef INGOT_BACKENDS_IMAGE_FORMATS_H_
#define INGOT_BACKENDS_IMAGE_FORMATS_H_

#include "backends/image/image.h"

namespace ingot::image {

bool DecodeBmp(Bytes file, Image* image);
bool DecodeJpeg(Bytes file, Image* image);
bool DecodeJpeg2000(Bytes file, Image* image);
bool DecodePng(Bytes file, Image* image);
bool DecodePnm(Bytes file, Image* image);
bool DecodeTiff(Bytes file, Image* image);
bool DecodeWebp(Bytes file, Image* image);

}  // namespace ingot::image

#endif  // INGOT_BACKENDS_IMAGE_FORMATS_H_
