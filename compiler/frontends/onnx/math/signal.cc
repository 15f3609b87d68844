// Fourier transforms, as products with constant matrices, and sampling.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kMaxLength = 8192;
// 128 MiB: longer transforms want another algorithm than a product.
constexpr int64_t kMaxMatrix = int64_t{1} << 25;

// The matrix that takes n elements of `parts` (1: real, 2: complex,
// interleaved) to m complex ones: [n * parts, m * 2]. Elements from `used` on
// are ignored.
absl::StatusOr<Value> FourierMatrix(NodeContext& c, int64_t n, int64_t used,
                                    int64_t m, int64_t parts, bool inverse,
                                    DataType dtype) {
  if (used * parts * m * 2 > kMaxMatrix) {
    return c.NotSupported("a transform of ", n, " elements");
  }
  std::vector<float> matrix(used * parts * m * 2, 0);
  const double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
  for (int64_t j = 0; j < used && j < n; ++j) {
    for (int64_t k = 0; k < m; ++k) {
      const double angle = (inverse ? 2 : -2) * M_PI *
                           static_cast<double>(j * k % n) /
                           static_cast<double>(n);
      const double re = std::cos(angle) * scale, im = std::sin(angle) * scale;
      float* row = &matrix[(j * parts * m + k) * 2];
      row[0] = static_cast<float>(re);
      row[1] = static_cast<float>(im);
      if (parts == 2) {
        float* next = row + m * 2;
        next[0] = static_cast<float>(-im);
        next[1] = static_cast<float>(re);
      }
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      Tensor tensor,
      MakeTensor<float>(DataType::Float(32), {used * parts, m * 2}, matrix));
  INGOT_ASSIGN_OR_RETURN(Value value, c.Constant(std::move(tensor), "fourier"));
  return c.Cast(value, dtype);
}

absl::Status Dft(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", 1);
  if (c.opset() >= 20) {
    axis = -2;
    if (c.has_input(2)) {
      INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> a, c.ConstantInts(2, "axis"));
      if (a.size() != 1) return c.Error("axis must be one number");
      axis = a[0];
    }
  }
  if (axis < 0) axis += rank;
  int64_t extent, parts;
  if (rank < 2 || axis < 0 || axis >= rank - 1 ||
      !tir::AsConstInt(ShapeOf(x)[axis], &extent) ||
      !tir::AsConstInt(ShapeOf(x)[rank - 1], &parts) || parts < 1 ||
      parts > 2) {
    return c.Error("axis ", axis, " of ", relay::ToString(x.type()));
  }
  int64_t n = extent;
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> length,
                           c.ConstantInts(1, "dft_length"));
    if (length.size() != 1) return c.Error("dft_length must be one number");
    n = length[0];
  }
  if (n < 1 || n > kMaxLength || extent > kMaxLength) {
    return c.NotSupported("a transform of ", n, " elements");
  }
  const bool onesided = c.Int("onesided", 0) != 0;
  const int64_t m = onesided ? n / 2 + 1 : n;
  // The transformed dimension last but one, then joined with the parts.
  std::vector<int64_t> order, back(rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (d != axis && d != rank - 1) order.push_back(d);
  }
  order.push_back(axis);
  order.push_back(rank - 1);
  for (int64_t d = 0; d < rank; ++d) back[order[d]] = d;
  INGOT_ASSIGN_OR_RETURN(x, c.Transpose(x, order, "in"));
  Shape rows = ShapeOf(x);
  rows.resize(rank - 2);
  Shape flat = rows;
  flat.push_back(tir::MakeInt(extent * parts));
  if (rows.empty()) flat.insert(flat.begin(), tir::MakeInt(1));
  INGOT_ASSIGN_OR_RETURN(x, c.Reshape(x, flat, "rows"));
  INGOT_ASSIGN_OR_RETURN(
      Value matrix, FourierMatrix(c, n, extent, m, parts,
                                  c.Int("inverse", 0) != 0, x.type().dtype));
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit("matmul", {x, matrix}));
  rows.push_back(tir::MakeInt(m));
  rows.push_back(tir::MakeInt(2));
  INGOT_ASSIGN_OR_RETURN(y, c.Reshape(y, rows, "complex"));
  INGOT_ASSIGN_OR_RETURN(y, c.Transpose(y, back, "out"));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Stft(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> step,
                         c.ConstantInts(1, "frame_step"));
  int64_t length, parts = 1;
  if (RankOf(x) < 2 || RankOf(x) > 3 ||
      !tir::AsConstInt(ShapeOf(x)[1], &length) ||
      (RankOf(x) == 3 && !tir::AsConstInt(ShapeOf(x)[2], &parts)) ||
      parts < 1 || parts > 2) {
    return c.Error("a signal of ", relay::ToString(x.type()));
  }
  Value window;
  int64_t n = 0;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(window, c.Input(2));
    if (RankOf(window) != 1 || !tir::AsConstInt(ShapeOf(window)[0], &n)) {
      return c.NotSupported("a window of ", relay::ToString(window.type()));
    }
  }
  if (c.has_input(3)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> given,
                           c.ConstantInts(3, "frame_length"));
    if (given.size() != 1 || (n != 0 && n != given[0])) {
      return c.Error("frame_length does not fit the window");
    }
    n = given[0];
  }
  if (step.size() != 1 || step[0] < 1 || n < 1 || n > kMaxLength ||
      n > length) {
    return c.Error("frames of ", n, " from a signal of ", length);
  }
  const int64_t frames = (length - n) / step[0] + 1;
  if (frames > kMaxMatrix / n) {
    return c.NotSupported(frames, " frames of ", n, " elements");
  }
  const int64_t m = c.Int("onesided", 1) != 0 ? n / 2 + 1 : n;
  std::vector<int64_t> places;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t j = 0; j < n; ++j) places.push_back(f * step[0] + j);
  }
  INGOT_ASSIGN_OR_RETURN(
      Tensor tensor,
      MakeTensor<int64_t>(DataType::Int(64), {frames, n}, places));
  INGOT_ASSIGN_OR_RETURN(Value indices,
                         c.Constant(std::move(tensor), "frames"));
  Attrs gather;
  gather.Set("axis", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(Value y,
                         c.Emit("gather", {x, indices}, gather, "cut"));
  if (window) {
    Shape shape = {ShapeOf(window)[0]};
    if (RankOf(x) == 3) shape.push_back(tir::MakeInt(1));
    INGOT_ASSIGN_OR_RETURN(window, c.Reshape(window, shape, "window"));
    INGOT_ASSIGN_OR_RETURN(y, c.Emit("mul", {y, window}, {}, "windowed"));
  }
  const tir::Expr batch = ShapeOf(x)[0];
  INGOT_ASSIGN_OR_RETURN(
      y, c.Reshape(y, {batch, tir::MakeInt(frames), tir::MakeInt(n * parts)},
                   "rows"));
  INGOT_ASSIGN_OR_RETURN(
      Value matrix, FourierMatrix(c, n, n, m, parts, false, y.type().dtype));
  INGOT_ASSIGN_OR_RETURN(y, c.Emit("matmul", {y, matrix}));
  INGOT_ASSIGN_OR_RETURN(
      y, c.Reshape(
             y, {batch, tir::MakeInt(frames), tir::MakeInt(m), tir::MakeInt(2)},
             "complex"));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Triangles over the bins of a spectrum, their corners evenly spaced in mels.
absl::Status MelWeights(NodeContext& c) {
  double v[5];
  for (int i = 0; i < 5; ++i) {
    INGOT_ASSIGN_OR_RETURN(std::vector<double> in,
                           c.ConstantFloats(i, "a parameter"));
    if (in.size() != 1) return c.Error("input ", i, " must be one number");
    v[i] = in[0];
  }
  const double bands = v[0], length = v[1], rate = v[2];
  if (!(bands >= 1 && bands <= 4096 && length >= 1 && length <= 1e6 &&
        rate >= 1e-3 && v[3] >= 0 && v[3] <= 1e9 && v[4] >= 0 && v[4] <= 1e9)) {
    return c.Error("parameters out of range");
  }
  auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const int64_t n = static_cast<int64_t>(bands);
  const int64_t bins = static_cast<int64_t>(length) / 2 + 1;
  if (bins * n > kMaxMatrix) return c.Error("parameters out of range");
  const double low = mel(v[3]), step = (mel(v[4]) - low) / (bands + 2);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < n + 2; ++i) {
    const double hz =
        700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    corners.push_back(
        static_cast<int64_t>(std::floor((length + 1) * hz / rate)));
  }
  std::vector<float> weights(bins * n, 0);
  auto set = [&](int64_t bin, int64_t band, double w) {
    if (bin >= 0 && bin < bins) {
      weights[bin * n + band] = static_cast<float>(w);
    }
  };
  for (int64_t i = 0; i < n; ++i) {
    const int64_t a = corners[i], b = corners[i + 1], e = corners[i + 2];
    if (b == a) set(b, i, 1);
    // Corners may lie far beyond the last bin.
    for (int64_t j = a; j <= std::min(b, bins) && b > a; ++j) {
      set(j, i, static_cast<double>(j - a) / static_cast<double>(b - a));
    }
    for (int64_t j = b; j < std::min(e, bins) && e > b; ++j) {
      set(j, i, static_cast<double>(e - j) / static_cast<double>(e - b));
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      DataType dtype, DataTypeFromOnnx(static_cast<int>(
                          c.Int("output_datatype", onnx::TensorProto::FLOAT))));
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, MakeTensor<float>(DataType::Float(32),
                                                          {bins, n}, weights));
  INGOT_ASSIGN_OR_RETURN(Value y, c.Constant(std::move(tensor), ""));
  INGOT_ASSIGN_OR_RETURN(y, c.Cast(y, dtype));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status GridSample(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(2));
  std::string mode = c.String("mode", "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  Attrs attrs;
  attrs.Set("mode", mode);
  attrs.Set("padding_mode", c.String("padding_mode", "zeros"));
  attrs.Set("align_corners", c.Int("align_corners", 0));
  return c.Return("grid_sample", in, std::move(attrs));
}

absl::Status RoiAlign(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(3));
  const std::string coordinates =
      c.String("coordinate_transformation_mode",
               c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  Attrs attrs;
  attrs.Set("output_height", c.Int("output_height", 1));
  attrs.Set("output_width", c.Int("output_width", 1));
  attrs.Set("sampling_ratio", c.Int("sampling_ratio", 0));
  attrs.Set("mode", c.String("mode", "avg"));
  attrs.Set("spatial_scale", c.Float("spatial_scale", 1));
  attrs.Set("half_pixel", int64_t{coordinates == "half_pixel"});
  return c.Return("roi_align", in, std::move(attrs));
}

}  // namespace

void AddSignalConverters(ConverterTable* t) {
  t->Add("DFT", &Dft);
  t->Add("STFT", &Stft);
  t->Add("MelWeightMatrix", &MelWeights);
  t->Add("GridSample", &GridSample);
  t->Add("RoiAlign", &RoiAlign);
}

}  // namespace ingot::onnx_frontend
