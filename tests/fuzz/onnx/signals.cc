// Transforms of signals.
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddDft(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t n = g->Large() ? r.OneOf<int64_t>({100, 128, 255, 512})
                               : r.OneOf<int64_t>({1, 2, 5, 8, 16, 17, 32});
  const bool complex = r.Chance(40);
  const std::string x =
      g->Like(DataType::Float(32), {1 + r.Next(3), n, complex ? 2 : 1});
  Call call(op, {x});
  if (r.Chance(30)) {
    call.operands.push_back(g->ScalarParameter(
        static_cast<double>(1 + r.Next(20)), DataType::Int(64)));
  }
  if (g->opset() >= 20 && r.Chance(40)) {
    call.operands.resize(2);
    call.operands.push_back(
        g->ScalarParameter(r.OneOf({1.0, -2.0}), DataType::Int(64)));
  }
  if (complex && r.Chance(50)) call.Int("inverse", 1);
  if (!complex && r.Chance(50)) call.Int("onesided", 1);
  g->Try(call);
}

void AddStft(Grower* g, const std::string& op) {
  Random& r = g->random();
  const int64_t frame = g->Large() ? r.OneOf<int64_t>({64, 100, 256})
                                   : r.OneOf<int64_t>({4, 8, 16, 17});
  const std::string x = g->Like(DataType::Float(32),
                                {1 + r.Next(2), frame + r.Next(4 * frame), 1});
  Call call(op, {x, g->ScalarParameter(static_cast<double>(1 + r.Next(frame)),
                                       DataType::Int(64))});
  call.operands.push_back(r.Chance(60) ? g->New(DataType::Float(32), {frame})
                                       : "");
  call.operands.push_back(
      g->ScalarParameter(static_cast<double>(frame), DataType::Int(64)));
  g->Try(call.Int("onesided", r.Next(2)));
}

}  // namespace

void AddSignals(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"DFT"}, AddDft});
  samplers->push_back({{"STFT"}, AddStft});
}

}  // namespace ingot::fuzz
