// Operators that sample images.
#include <algorithm>

#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddResize(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int rank = static_cast<int>(r.OneOf<int64_t>({4, 4, 4, 3, 5}));
  const std::string x = g->Some(DataType::Float(32), rank, rank);
  const Shape from = g->ShapeOf(x);
  const std::string mode = r.OneOf({"nearest", "linear", "linear", "cubic"});
  Call call(op, {x, ""});
  // Factors and extents that are exact, since a coordinate on the border
  // between two pixels may fall to either.
  if (r.Chance(50)) {
    Shape factors(rank, 1);
    std::vector<double> scales(rank, 1);
    for (int d = 2; d < rank; ++d) scales[d] = r.OneOf({0.5, 1.0, 2.0, 4.0});
    call.operands.push_back(
        g->Parameter(TensorOf(DataType::Float(32), {rank}, scales)));
  } else {
    Shape to = from;
    for (int d = 2; d < rank; ++d) {
      to[d] = std::max<int64_t>(1, from[d] * r.OneOf<int64_t>({1, 2, 4}) /
                                       r.OneOf<int64_t>({1, 1, 2}));
    }
    call.operands.push_back("");
    call.operands.push_back(g->Parameter(to));
  }
  call.String("mode", mode);
  call.String("coordinate_transformation_mode",
              r.OneOf({"half_pixel", "asymmetric", "align_corners",
                       "pytorch_half_pixel"}));
  if (mode == "nearest") {
    call.String("nearest_mode", r.OneOf({"round_prefer_floor", "floor", "ceil",
                                         "round_prefer_ceil"}));
  }
  if (mode == "cubic" && r.Chance(50)) call.Float("cubic_coeff_a", -0.5);
  if (mode == "cubic" && r.Chance(30)) call.Int("exclude_outside", 1);
  if (g->opset() >= 18 && mode != "nearest" && r.Chance(25)) {
    call.Int("antialias", 1);
  }
  g->Try(call);
}

// A part of an image, inside of it: where a sample lies on the border of what
// is there depends on how its place was rounded.
void AddCropAndResize(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 4, 4);
  const Shape from = g->ShapeOf(x);
  std::vector<double> region(8);
  for (int d = 0; d < 4; ++d) {
    region[d] = d < 2 ? 0 : r.OneOf({0.125, 0.25, 0.375});
    region[4 + d] = d < 2 ? 1 : r.OneOf({0.625, 0.75, 0.875});
  }
  g->Try(
      Call(op, {x, g->Parameter(TensorOf(DataType::Float(32), {8}, region)), "",
                g->Parameter({from[0], from[1], 1 + r.Next(9), 1 + r.Next(9)})})
          .String("mode", r.OneOf({"linear", "cubic"}))
          .String("coordinate_transformation_mode", "tf_crop_and_resize"));
}

void AddGridSample(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 4, 4);
  const Shape from = g->ShapeOf(x);
  const std::string grid =
      g->New(DataType::Float(32), {from[0], 1 + r.Next(8), 1 + r.Next(8), 2},
             Fill{-1.3, 1.3, false});
  const bool words = g->opset() >= 20;
  g->Try(Call(op, {x, grid})
             .String("mode", words ? r.OneOf({"linear", "cubic"})
                                   : r.OneOf({"bilinear", "bicubic"}))
             .String("padding_mode", r.OneOf({"zeros", "border", "reflection"}))
             .Int("align_corners", r.Next(2)));
}

void AddAffineGrid(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t batch = 1 + r.Next(2);
  const bool volume = r.Chance(30);
  Shape size = {batch, 1 + r.Next(3), 2 + r.Next(6), 2 + r.Next(6)};
  if (volume) size.push_back(2 + r.Next(3));
  g->Try(Call(op, {g->New(DataType::Float(32),
                          {batch, volume ? 3 : 2, volume ? 4 : 3}),
                   g->Parameter(size)})
             .Int("align_corners", r.Next(2)));
}

std::string Regions(Grower* g, int64_t count, int64_t h, int64_t w,
                    bool with_batch) {
  Random& r = g->random();
  std::vector<double> boxes;
  for (int64_t k = 0; k < count; ++k) {
    const double x = static_cast<double>(r.Next(w)),
                 y = static_cast<double>(r.Next(h));
    if (with_batch) boxes.push_back(0);
    boxes.push_back(x);
    boxes.push_back(y);
    boxes.push_back(x + static_cast<double>(1 + r.Next(w)));
    boxes.push_back(y + static_cast<double>(1 + r.Next(h)));
  }
  return g->Initializer(
      TensorOf(DataType::Float(32), {count, with_batch ? 5 : 4}, boxes));
}

void AddRoi(Grower* g, const std::string& op) {
  Random& r = g->random();
  const std::string x = g->Some(DataType::Float(32), 4, 4);
  const Shape from = g->ShapeOf(x);
  if (g->At(x).NumElements() == 0) return;
  const int64_t count = 1 + r.Next(3);
  Call call(op, {x, Regions(g, count, from[2], from[3], op == "MaxRoiPool")});
  if (op == "RoiAlign") {
    call.operands.push_back(g->Parameter(Shape(count, 0)));
    call.Int("output_height", 1 + r.Next(4)).Int("output_width", 1 + r.Next(4));
    call.Int("sampling_ratio", r.Next(3))
        .String("mode", r.OneOf({"avg", "max"}));
    if (g->opset() >= 16 && r.Chance(50)) {
      call.String("coordinate_transformation_mode",
                  r.OneOf({"half_pixel", "output_half_pixel"}));
    }
  } else {
    call.Ints("pooled_shape", {1 + r.Next(3), 1 + r.Next(3)});
  }
  if (r.Chance(40)) call.Float("spatial_scale", 0.5);
  g->Try(call);
}

void AddNonMaxSuppression(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t batch = 1 + r.Next(2), boxes = 1 + r.Next(30),
                classes = 1 + r.Next(3);
  const bool center = r.Chance(30);
  Call call(
      op,
      {g->New(DataType::Float(32), {batch, boxes, 4}, Fill{0.1, 1, false}),
       g->New(DataType::Float(32), {batch, classes, boxes}, Fill{0, 1, false}),
       g->Parameter({1 + r.Next(6)}),
       g->Parameter(TensorOf(DataType::Float(32), {1}, {r.Real(0.2, 0.8)}))});
  if (r.Chance(60)) {
    call.operands.push_back(
        g->Parameter(TensorOf(DataType::Float(32), {1}, {r.Real(0.1, 0.6)})));
  }
  if (center) call.Int("center_point_box", 1);
  g->Try(call);
}

}  // namespace

void AddImages(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"Resize"}, AddResize, 3});
  samplers->push_back({{"Resize"}, AddCropAndResize});
  samplers->push_back({{"GridSample"}, AddGridSample});
  samplers->push_back({{"AffineGrid"}, AddAffineGrid});
  samplers->push_back({{"MaxRoiPool", "RoiAlign"}, AddRoi});
  samplers->push_back({{"NonMaxSuppression"}, AddNonMaxSuppression});
}

}  // namespace ingot::fuzz
