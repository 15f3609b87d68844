// Operators that move a window over one, two or three dimensions, and those
// that sample between elements.
#include <algorithm>

#include "absl/strings/match.h"
#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

using relay::Attrs;
using relay::Shape;
using Ints = std::vector<int64_t>;

const DataType kI64 = DataType::Int(64);

// "conv2d" has 2 dimensions.
int DimsOf(const std::string& op) { return op[op.size() - 2] - '0'; }

// A value [batch, channels, n dimensions].
std::optional<Known> PickImage(ModelBuilder* m, int n, bool exact = false) {
  return m->Pick(m->FloatType(), [n, exact](const Known& k) {
    return k.rank() == n + 2 && k.dim(1) > 0 && (k.exact || !exact);
  });
}

bool AddConv(ModelBuilder* m, const std::string& op) {
  const int n = DimsOf(op);
  const auto x = PickImage(m, n);
  if (!x) return false;
  const int64_t channels = x->dim(1);
  int64_t groups = 1;
  if (m->Chance(30)) groups = m->Chance(50) && channels % 2 == 0 ? 2 : channels;
  const bool transposed = absl::StartsWith(op, "conv_transpose");
  const int64_t out = groups * (1 + m->Next(groups == 1 ? 20 : 2));
  Ints shape =
      transposed ? Ints{channels, out / groups} : Ints{out, channels / groups};
  Ints pads(2 * n, 0), strides(n, 1), dilations(n, 1);
  double taps = static_cast<double>(channels) / groups;
  for (int d = 0; d < n; ++d) {
    const int64_t kernel = 1 + m->Next(3);
    shape.push_back(kernel);
    taps *= kernel;
    strides[d] = 1 + m->Next(2);
    if (m->Chance(30)) dilations[d] = 2;
    if (m->Chance(60)) {
      pads[d] = m->Next(kernel);
      pads[d + n] = m->Next(kernel);
    }
  }
  Attrs attrs;
  attrs.Set("groups", groups);
  attrs.Set("pads", pads);
  attrs.Set("strides", strides);
  attrs.Set("dilations", dilations);
  return m->Add(op, {*x, m->Constant(x->type().dtype, shape, false)}, attrs,
                false, x->bound * taps);
}

// Kernels are any numbers: each set of them is the transform of one of more
// dimensions.
bool AddWinograd(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(DataType::Float(32), [](const Known& k) {
    return k.rank() == 5 && k.dim(1) > 0 && k.dim(4) > 0 && k.is_static();
  });
  if (!x) return false;
  const int64_t tile = m->Chance(50) ? 2 : 4;
  const Ints pads = {m->Next(3), m->Next(3), 2, 2};
  Attrs attrs;
  attrs.Set("tile", tile);
  attrs.Set("pads", pads);
  const Known kernel = m->Constant(DataType::Float(32),
                                   {1 + m->Next(2), tile + 2, tile + 2,
                                    x->dim(1), x->dim(4), 1 + m->Next(4)},
                                   false);
  // The largest sums of the transforms' rows, twice: 10^2 before and after.
  return m->Add(op, {*x, kernel}, attrs, false,
                1e4 * x->bound * static_cast<double>(x->dim(1) * x->dim(4)));
}

bool AddPool(ModelBuilder* m, const std::string& op) {
  const int n = DimsOf(op);
  const bool indices = absl::StartsWith(op, "max_pool_indices");
  // Rounding must not decide which of two elements is larger.
  const auto x = PickImage(m, n, /*exact=*/indices);
  if (!x) return false;
  Attrs attrs;
  Ints kernel, strides, pads(2 * n, 0);
  for (int d = 0; d < n; ++d) {
    kernel.push_back(1 + m->Next(3));
    strides.push_back(1 + m->Next(2));
    if (m->Chance(50)) {
      pads[d] = m->Next(kernel[d]);
      pads[d + n] = m->Next(kernel[d]);
    }
  }
  attrs.Set("kernel", kernel);
  attrs.Set("strides", strides);
  attrs.Set("pads", pads);
  attrs.Set("ceil_mode", m->Next(2));
  if (absl::StartsWith(op, "avg")) attrs.Set("count_include_pad", m->Next(2));
  if (indices) {
    attrs.Set("storage_order", m->Next(2));
    return m->Add(op, {*x}, attrs, true, 4096);
  }
  return m->Add(op, {*x}, attrs, absl::StartsWith(op, "max") && x->exact,
                absl::StartsWith(op, "lp") ? 27 * x->bound : x->bound);
}

bool AddGlobalPool(ModelBuilder* m, const std::string& op) {
  const auto x = PickImage(m, DimsOf(op));
  return x &&
         m->Add(op, {*x}, {}, absl::StartsWith(op, "global_max") && x->exact,
                absl::StartsWith(op, "global_lp") ? 81 * x->bound : x->bound);
}

bool AddResize(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 4 && k.dim(2) > 0 && k.dim(3) > 0;
  });
  if (!x) return false;
  // Nearest only where every coordinate falls between two of the operand.
  const bool linear = m->Chance(60);
  Shape sizes = x->type().shape;
  sizes[2] = tir::MakeInt(linear ? 1 + m->Next(9) : 2 * x->dim(2));
  sizes[3] = tir::MakeInt(linear ? 1 + m->Next(9) : 2 * x->dim(3));
  Attrs attrs;
  attrs.Set("sizes", sizes);
  attrs.Set("mode", linear ? "linear" : "nearest");
  if (linear && m->Chance(40)) {
    attrs.Set("coordinate_transformation_mode", "align_corners");
  } else if (linear && m->Chance(30)) {
    attrs.Set("coordinate_transformation_mode", "tf_crop_and_resize");
    attrs.Set("roi_operand", 1);
    const Known roi = m->Constant(DataType::Float(32), {8}, false);
    return m->Add(op, {*x, roi}, attrs, false, x->bound);
  }
  return m->Add(op, {*x}, attrs, false, x->bound);
}

std::optional<Known> PickStaticImage(ModelBuilder* m) {
  return m->Pick(m->FloatType(),
                 [](const Known& k) { return k.rank() == 4 && k.is_static(); });
}

bool AddGridSample(ModelBuilder* m, const std::string& op) {
  const auto x = PickStaticImage(m);
  if (!x) return false;
  static const char* const kPadding[] = {"zeros", "border", "reflection"};
  Attrs attrs;
  // Nearest would jump.
  attrs.Set("mode", m->Chance(60) ? "linear" : "cubic");
  attrs.Set("padding_mode", kPadding[m->Next(3)]);
  attrs.Set("align_corners", m->Next(2));
  const Known grid =
      m->Constant(x->type().dtype, {x->dim(0), 3, 1 + m->Next(4), 2}, false);
  return m->Add(op, {*x, grid}, attrs, false, 3 * x->bound);
}

bool AddRoiAlign(ModelBuilder* m, const std::string& op) {
  const auto x = PickStaticImage(m);
  if (!x) return false;
  Attrs attrs;
  attrs.Set("output_height", 1 + m->Next(3));
  attrs.Set("output_width", 1 + m->Next(3));
  attrs.Set("sampling_ratio", m->Next(3));
  if (m->Chance(30)) attrs.Set("mode", "max");
  attrs.Set("spatial_scale", 1.7);
  attrs.Set("half_pixel", m->Next(2));
  const Known rois = m->Constant(x->type().dtype, {2, 4}, false);
  const Known batch =
      m->Integers({m->Next(x->dim(0)), m->Next(x->dim(0))}, kI64, {2});
  return m->Add(op, {*x, rois, batch}, attrs, false, x->bound);
}

bool AddMaxRoiPool(ModelBuilder* m, const std::string& op) {
  const auto x = PickStaticImage(m);
  if (!x) return false;
  Attrs attrs;
  attrs.Set("output_height", 1 + m->Next(3));
  attrs.Set("output_width", 1 + m->Next(3));
  Ints rois;
  for (int i = 0; i < 2; ++i) {
    const int64_t left = m->Next(x->dim(3)), top = m->Next(x->dim(2));
    rois.insert(rois.end(), {m->Next(x->dim(0)), left, top,
                             left + m->Next(x->dim(3) - left),
                             top + m->Next(x->dim(2) - top)});
  }
  return m->Add(op, {*x, m->Integers(rois, x->type().dtype, {2, 5})}, attrs,
                x->exact, x->bound);
}

bool AddDeformColumns(ModelBuilder* m, const std::string& op) {
  const auto x = PickStaticImage(m);
  if (!x || x->dim(2) < 2 || x->dim(3) < 2) return false;
  const int64_t pad = m->Next(2);
  Attrs attrs;
  attrs.Set("kernel", Ints{2, 2});
  attrs.Set("pads", Ints{pad, pad, pad, pad});
  const int64_t height = x->dim(2) + 2 * pad - 1;
  const int64_t width = x->dim(3) + 2 * pad - 1;
  const Known offset =
      m->Constant(x->type().dtype, {x->dim(0), 8, height, width}, false);
  if (m->Chance(50)) return m->Add(op, {*x, offset}, attrs, false, x->bound);
  const Known mask =
      m->Constant(x->type().dtype, {x->dim(0), 4, height, width}, false);
  return m->Add(op, {*x, offset, mask}, attrs, false, x->bound);
}

}  // namespace

void AddWindowSamplers(std::vector<OpSampler>* samplers) {
  const std::vector<OpSampler> added = {
      {{"conv2d", "conv2d", "conv2d", "conv1d", "conv3d", "conv_transpose1d",
        "conv_transpose2d", "conv_transpose3d"},
       AddConv},
      {{"winograd_conv2d"}, AddWinograd},
      {{"max_pool2d", "max_pool1d", "max_pool3d", "avg_pool2d", "avg_pool1d",
        "avg_pool3d", "lp_pool2d", "lp_pool1d", "lp_pool3d",
        "max_pool_indices1d", "max_pool_indices2d", "max_pool_indices3d"},
       AddPool},
      {{"global_avg_pool1d", "global_avg_pool2d", "global_avg_pool3d",
        "global_max_pool1d", "global_max_pool2d", "global_max_pool3d",
        "global_lp_pool1d", "global_lp_pool2d", "global_lp_pool3d"},
       AddGlobalPool},
      {{"resize"}, AddResize},
      {{"grid_sample"}, AddGridSample},
      {{"roi_align"}, AddRoiAlign},
      {{"max_roi_pool"}, AddMaxRoiPool},
      {{"deform_columns"}, AddDeformColumns},
  };
  samplers->insert(samplers->end(), added.begin(), added.end());
}

}  // namespace ingot::fuzz
