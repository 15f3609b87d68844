// Operators that sample images.
#include <algorithm>
#include <numeric>

#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// An image: an existing value, or a new one with channels enough for vectors of
// them.
std::string ImageOfRank(Grower* g, int rank) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  if (!g->Large()) return g->Some(t, rank, rank);
  Shape shape = {r.OneOf<int64_t>({1, 1, 2}),
                 r.OneOf<int64_t>({1, 3, 8, 13, 16, 32, 64})};
  while (static_cast<int>(shape.size()) < rank) {
    const int64_t extent =
        r.OneOf<int64_t>({1, 5, 16, 17, 32, 40, 63, 64, 81, 128, 200});
    shape.push_back(std::min(extent, 150000 / CountOf(shape)));
  }
  return g->New(t, shape);
}

// Sizes or scales of a resized image: all dimensions, or those that `axes`
// names. Where the nearest pixel counts, factors and extents are exact, since a
// coordinate on the border between two pixels may fall to either.
void SetExtents(Grower* g, const Shape& from, const Shape& axes, bool exact,
                Call* call) {
  Random& r = g->random();
  const int64_t count = static_cast<int64_t>(axes.size());
  if (r.Chance(50)) {
    std::vector<double> scales;
    for (int64_t axis : axes) {
      scales.push_back(axis < 2 ? 1 : r.OneOf({0.5, 1.0, 2.0, 4.0}));
    }
    call->operands.push_back(
        g->Parameter(TensorOf(DataType::Float(32), {count}, scales)));
    return;
  }
  Shape to;
  for (int64_t axis : axes) {
    const int64_t factor = axis < 2 ? 1 : r.OneOf<int64_t>({1, 2, 4});
    const int64_t divisor = axis < 2 ? 1 : r.OneOf<int64_t>({1, 1, 2});
    const bool any = !exact && axis >= 2 && r.Chance(50);
    to.push_back(any ? 1 + r.Next(2 * from[axis] + 1)
                     : std::max<int64_t>(1, from[axis] * factor / divisor));
  }
  call->operands.push_back("");
  call->operands.push_back(g->Parameter(to));
  if (g->opset() >= 18 && r.Chance(20)) {
    call->String("keep_aspect_ratio_policy",
                 r.OneOf({"stretch", "not_larger", "not_smaller"}));
  }
}

void AddResize(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int rank = static_cast<int>(r.OneOf<int64_t>({4, 4, 4, 3, 5}));
  const std::string x = ImageOfRank(g, rank);
  const Shape from = g->ShapeOf(x);
  const std::string mode = r.OneOf({"nearest", "linear", "linear", "cubic"});
  Call call(op, {x, ""});
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (g->opset() >= 18 && r.Chance(25)) {
    axes.erase(axes.begin(), axes.begin() + 2);
    call.Ints("axes", axes);
  }
  SetExtents(g, from, axes, mode == "nearest", &call);
  call.String("mode", mode);
  std::vector<std::string> coordinates = {
      "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
  if (g->opset() >= 19) coordinates.push_back("half_pixel_symmetric");
  call.String("coordinate_transformation_mode", r.OneOf(coordinates));
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
  const std::string x = ImageOfRank(g, 4);
  const Shape from = g->ShapeOf(x);
  std::vector<double> region(8);
  for (int d = 0; d < 4; ++d) {
    region[d] = d < 2 ? 0 : r.OneOf({0.125, 0.25, 0.375});
    region[4 + d] = d < 2 ? 1 : r.OneOf({0.625, 0.75, 0.875});
  }
  const int64_t most = g->Large() ? 60 : 9;
  g->Try(
      Call(op, {x, g->Parameter(TensorOf(DataType::Float(32), {8}, region)), "",
                g->Parameter(
                    {from[0], from[1], 1 + r.Next(most), 1 + r.Next(most)})})
          .String("mode", r.OneOf({"linear", "cubic"}))
          .String("coordinate_transformation_mode", "tf_crop_and_resize"));
}

void AddGridSample(Grower* g, const std::string& op) {
  Random& r = g->random();
  const bool words = g->opset() >= 20;
  const int rank = words && r.Chance(20) ? 5 : 4;
  const std::string x = ImageOfRank(g, rank);
  Shape places = {g->ShapeOf(x)[0]};
  const int64_t most = g->Large() ? 50 : 8;
  while (static_cast<int>(places.size()) + 1 < rank) {
    places.push_back(1 + r.Next(rank == 4 ? most : 8));
  }
  places.push_back(rank - 2);
  const std::string grid =
      g->New(DataType::Float(32), places, Fill{-1.3, 1.3, false});
  const std::string cubic = rank == 5 ? "linear" : words ? "cubic" : "bicubic";
  g->Try(Call(op, {x, grid})
             .String("mode", r.OneOf<std::string>(
                                 {words ? "linear" : "bilinear", cubic}))
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
  const std::string x = ImageOfRank(g, 4);
  const Shape from = g->ShapeOf(x);
  if (g->At(x).NumElements() == 0) return;
  const int64_t count = 1 + r.Next(g->Large() ? 20 : 3);
  Call call(op, {x, Regions(g, count, from[2], from[3], op == "MaxRoiPool")});
  if (op == "RoiAlign") {
    Shape images;
    for (int64_t k = 0; k < count; ++k) images.push_back(r.Next(from[0]));
    call.operands.push_back(g->Parameter(images));
    call.Int("output_height", 1 + r.Next(7)).Int("output_width", 1 + r.Next(7));
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
  const int64_t batch = 1 + r.Next(2), classes = 1 + r.Next(3);
  const int64_t boxes = 1 + r.Next(g->Large() ? 900 : 30);
  const bool center = r.Chance(30);
  Call call(
      op,
      {g->New(DataType::Float(32), {batch, boxes, 4}, Fill{0.1, 1, false}),
       g->New(DataType::Float(32), {batch, classes, boxes}, Fill{0, 1, false}),
       g->Parameter({1 + r.Next(g->Large() ? 200 : 6)}),
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
