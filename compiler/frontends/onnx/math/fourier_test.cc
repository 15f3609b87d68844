// Transforms and mel weights against sums over every element, with lengths and
// axes that the model knows and that only a run knows.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using Complex = std::complex<double>;
using Node = onnx::NodeProto;

struct Transform {
  bool inverse = false, onesided = false;
};

Operator Dft(const Transform& t) {
  return {"DFT", "", 20, [t](Node* n) {
            SetInt(n, "inverse", t.inverse);
            SetInt(n, "onesided", t.onesided);
          }};
}

Complex Turn(double part) { return std::polar(1.0, 2 * M_PI * part); }

// The transform of length n of one line by its definition; a spectrum of which
// half is given is mirrored first.
std::vector<Complex> ByDefinition(std::vector<Complex> line, size_t n,
                                  const Transform& t) {
  if (t.inverse && t.onesided) {
    line.resize(n / 2 + 1);
    line[0] = line[0].real();
    if (n % 2 == 0) line[n / 2] = line[n / 2].real();
    for (size_t k = line.size(); k < n; ++k) {
      line.push_back(std::conj(line[n - k]));
    }
  }
  line.resize(n);
  std::vector<Complex> result;
  const size_t count = t.onesided && !t.inverse ? n / 2 + 1 : n;
  for (size_t k = 0; k < count; ++k) {
    Complex sum;
    for (size_t j = 0; j < n; ++j) {
      const double part =
          static_cast<double>(j * k % n) / static_cast<double>(n);
      sum += line[j] * Turn(t.inverse ? part : -part);
    }
    result.push_back(t.inverse ? sum / static_cast<double>(n) : sum);
  }
  return result;
}

// The transform of x[outer, extent, inner, parts] along dimension 1.
std::vector<float> ByDefinition(const Tensor& x, size_t n, const Transform& t) {
  const size_t outer = x.shape()[0], extent = x.shape()[1];
  const size_t inner = x.shape()[2], parts = x.shape()[3];
  const float* in = x.data<float>();
  std::vector<std::vector<Complex>> lines;
  for (size_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < inner; ++i) {
      std::vector<Complex> line;
      for (size_t e = 0; e < extent; ++e) {
        const float* at = in + ((o * extent + e) * inner + i) * parts;
        line.emplace_back(at[0], parts == 2 ? at[1] : 0);
      }
      lines.push_back(ByDefinition(std::move(line), n, t));
    }
  }
  std::vector<float> flat;
  for (size_t o = 0; o < outer; ++o) {
    for (size_t k = 0; k < lines[0].size(); ++k) {
      for (size_t i = 0; i < inner; ++i) {
        const Complex v = lines[o * inner + i][k];
        flat.push_back(static_cast<float>(v.real()));
        if (!(t.inverse && t.onesided)) {
          flat.push_back(static_cast<float>(v.imag()));
        }
      }
    }
  }
  return flat;
}

struct Case {
  int64_t parts;
  Transform transform;
};

const Case kCases[] = {{1, {false, false}}, {2, {false, false}},
                       {1, {false, true}},  {2, {true, false}},
                       {1, {true, false}},  {2, {true, true}}};

TEST(FourierTest, AsDefinedAlongEachAxis) {
  for (const Case& test : kCases) {
    // The dimensions before and after the transformed one, by its axis.
    const std::vector<int64_t> shape = {2, 5, 3, test.parts};
    const Tensor x = RandomFloats(shape, 1);
    const std::vector<std::vector<int64_t>> split = {
        {1, 2, 15, test.parts}, {2, 5, 3, test.parts}, {10, 3, 1, test.parts}};
    for (int64_t axis = 0; axis < 3; ++axis) {
      const size_t extent = shape[axis];
      const bool mirrors = test.transform.inverse && test.transform.onesided;
      const std::vector<float> expected =
          ByDefinition(*x.Reshape(split[axis]),
                       mirrors ? 2 * (extent - 1) : extent, test.transform);
      for (int64_t given : {axis, axis - 4}) {
        for (bool constant : {true, false}) {
          const Operand at(Longs({}, {given}), constant);
          ExpectNear(RunFloats(Dft(test.transform), {x, LeftOut(), at}),
                     expected, 1e-4f);
        }
      }
    }
  }
}

// Lines are cut off, or continued with zeros.
TEST(FourierTest, OtherLengths) {
  for (const Case& test : kCases) {
    const Tensor x = RandomFloats({2, 6, 1, test.parts}, 2);
    for (int64_t length : {1, 4, 5, 6, 9, 12}) {
      const std::vector<float> expected =
          ByDefinition(x, length, test.transform);
      for (bool constant : {true, false}) {
        const Operand n(Longs({}, {length}), constant);
        ExpectNear(
            RunFloats(Dft(test.transform), {x, n, Constant(Longs({}, {1}))}),
            expected, 1e-4f);
        ExpectNear(RunFloats(Dft(test.transform), {x, n, Longs({}, {1})}),
                   expected, 1e-4f);
      }
    }
  }
}

TEST(FourierTest, RefusesAxesThatAreNotThere) {
  const Tensor x = RandomFloats({2, 3, 1}, 1);
  for (int64_t axis : {2, -1, -4, 3}) {
    for (bool constant : {true, false}) {
      const Operand at(Longs({}, {axis}), constant);
      EXPECT_FALSE(RunOperator(Dft({}), {x, LeftOut(), at}).ok()) << axis;
    }
  }
  // Half a spectrum of real numbers.
  EXPECT_FALSE(RunOperator(Dft({true, true}), {x}).ok());
}

TEST(FourierTest, FramesOfASignal) {
  constexpr int64_t kLength = 19, kStep = 3, kFrame = 6;
  const Tensor signal = RandomFloats({2, kLength, 1}, 3);
  const Tensor window = RandomFloats({kFrame}, 4);
  std::vector<float> expected;
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t start = 0; start + kFrame <= kLength; start += kStep) {
      std::vector<Complex> line;
      for (int64_t j = 0; j < kFrame; ++j) {
        line.emplace_back(signal.data<float>()[b * kLength + start + j] *
                          window.data<float>()[j]);
      }
      for (const Complex& v : ByDefinition(line, kFrame, {false, true})) {
        expected.push_back(static_cast<float>(v.real()));
        expected.push_back(static_cast<float>(v.imag()));
      }
    }
  }
  const Operator stft{"STFT", "", 17};
  for (bool constant : {true, false}) {
    const Operand step(Longs({}, {kStep}), constant);
    const Operand frame(Longs({}, {kFrame}), constant);
    ExpectNear(RunFloats(stft, {signal, step, window, frame}), expected, 1e-4f);
    ExpectNear(RunFloats(stft, {signal, step, Symbolic(window)}), expected,
               1e-4f);
    ExpectNear(RunFloats(stft, {Symbolic(RandomFloats({2, kLength}, 3)), step,
                                window, frame}),
               expected, 1e-4f);
    // A step of nothing, and frames that are longer than the signal.
    EXPECT_FALSE(RunOperator(stft, {signal, Operand(Longs({}, {0}), constant),
                                    window, frame})
                     .ok());
    EXPECT_FALSE(RunOperator(stft, {signal, step, LeftOut(),
                                    Operand(Longs({}, {20}), constant)})
                     .ok());
  }
}

// The loops of ONNX's specification.
std::vector<float> MelWeights(int64_t bands, int64_t length, int64_t rate,
                              double low_edge, double high_edge) {
  auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double low = mel(low_edge), high = mel(high_edge);
  const double step = (high - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hz =
        700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    corners.push_back(static_cast<int64_t>(std::floor(
        static_cast<double>(length + 1) * hz / static_cast<double>(rate))));
  }
  std::vector<float> weights((length / 2 + 1) * bands, 0);
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t a = corners[i], b = corners[i + 1], c = corners[i + 2];
    auto set = [&](int64_t j, double value) {
      weights[j * bands + i] = static_cast<float>(value);
    };
    if (b == a) set(b, 1);
    for (int64_t j = a; j <= b && b > a; ++j) {
      set(j, static_cast<double>(j - a) / static_cast<double>(b - a));
    }
    for (int64_t j = b; j < c; ++j) {
      set(j, static_cast<double>(c - j) / static_cast<double>(c - b));
    }
  }
  return weights;
}

TEST(MelTest, AsSpecified) {
  struct Parameters {
    int64_t bands, length, rate;
    float low, high;
  };
  for (const Parameters& p :
       {Parameters{8, 16, 8192, 0, 4096}, Parameters{20, 400, 16000, 0, 8000},
        Parameters{3, 64, 8000, 300, 3500},
        Parameters{40, 32, 8000, 0, 3999}}) {
    for (bool constant : {true, false}) {
      ExpectNear(RunFloats({"MelWeightMatrix", "", 17},
                           {Operand(Longs({}, {p.bands}), constant),
                            Operand(Longs({}, {p.length}), constant),
                            Operand(Longs({}, {p.rate}), constant),
                            Operand(Floats({}, {p.low}), constant),
                            Operand(Floats({}, {p.high}), constant)}),
                 MelWeights(p.bands, p.length, p.rate, p.low, p.high));
    }
  }
}

}  // namespace
}  // namespace ingot::onnx_frontend
