// Encoded images. Nothing here defines what is in them: a target does, with the
// libraries that read the formats.
#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

absl::Status ExpectBytes(const TensorType& type) {
  if (type.dtype == DataType::UInt(8) && type.shape.size() == 1) {
    return absl::OkStatus();
  }
  return Invalid("needs the bytes of a file, u8[n], not ", ToString(type));
}

OpDef ImageSize() {
  OpDef def;
  def.name = "image_size";
  def.doc = "height and width of an encoded image; 0 and 0 if it has none";
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectBytes(c.type(0)));
    return Types{{DataType::Int(64), {I64(2)}}};
  };
  return def;
}

OpDef DecodeImage() {
  OpDef def;
  def.name = "decode_image";
  def.doc = "the pixels of an encoded image: rows of red, green and blue";
  def.max_inputs = -1;  // after x: values whose shapes bind symbols
  def.attrs = {
      ShapeAttr("size", "[height, width], as image_size says", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectBytes(c.type(0)));
    const Shape& size = c.attrs.Get<Shape>("size");
    if (size.size() != 2) return Invalid("size must be two numbers");
    return Types{{DataType::UInt(8), {size[0], size[1], I64(3)}}};
  };
  return def;
}

}  // namespace

absl::Status RegisterImage(OpRegistry* registry) {
  return RegisterAllOf(registry, {ImageSize(), DecodeImage()});
}

}  // namespace ingot::relay::ops
