// ResNet-50 as the target `dnnl` runs it, beside the same primitives called
// through oneDNN's own API, by turns in one process:
//
//   ingot compile resnet50.onnx --target=dnnl,llvm -o resnet50.ingot
//   bazel run //bench:dnnl_bench -- $PWD/resnet50.ingot [rounds]
//
// On one thread. Prints the median of each and their ratio. The weights of the
// direct one are random; its results are not looked at.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/dnnl/loader.h"
#include "loaders/load.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

extern "C" void omp_set_num_threads(int threads);

namespace ingot {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

// The network, written down by hand: every layout left to the primitives,
// activations and residuals fused.
class DirectResnet {
 public:
  DirectResnet() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    memory x = Random({1, 3, 224, 224});
    memory y = Convolution(x, 64, 7, 2, 3, true, nullptr);
    y = Pool(y, algorithm::pooling_max, 3, 2, 1);
    const int64_t blocks[] = {3, 4, 6, 3};
    int64_t width = 64;
    for (int stage = 0; stage < 4; ++stage) {
      for (int64_t block = 0; block < blocks[stage]; ++block) {
        const int64_t stride = block == 0 && stage > 0 ? 2 : 1;
        memory a = Convolution(y, width, 1, 1, 0, true, nullptr);
        a = Convolution(a, width, 3, stride, 1, true, nullptr);
        memory residual = y;
        if (block == 0) {
          residual = Convolution(y, 4 * width, 1, stride, 0, false, nullptr);
        }
        y = Convolution(a, 4 * width, 1, 1, 0, true, &residual);
      }
      width *= 2;
    }
    y = Pool(y, algorithm::pooling_avg_include_padding, 7, 1, 0);
    Classifier(y);
  }

  void Run() {
    for (Step& step : steps_) step.primitive.execute(stream_, step.arguments);
    stream_.wait();
  }

  size_t steps() const { return steps_.size(); }

 private:
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };

  static memory::desc Desc(const memory::dims& dims, memory::format_tag tag) {
    return memory::desc(dims, memory::data_type::f32, tag);
  }

  static memory::format_tag PlainTag(size_t rank) {
    return rank == 1   ? memory::format_tag::a
           : rank == 2 ? memory::format_tag::ab
                       : memory::format_tag::abcd;
  }

  memory Random(const memory::dims& dims) {
    memory m(Desc(dims, PlainTag(dims.size())), engine_);
    auto* data = static_cast<float*>(m.get_data_handle());
    std::uniform_real_distribution<float> distribution(-0.05f, 0.05f);
    for (size_t i = 0; i < m.get_desc().get_size() / sizeof(float); ++i) {
      data[i] = distribution(random_);
    }
    return m;
  }

  // Weights are laid out now, activations in every run.
  memory Weights(const memory::dims& dims, const memory::desc& desc) {
    memory plain = Random(dims), m(desc, engine_);
    dnnl::reorder(plain, m).execute(stream_, plain, m);
    stream_.wait();
    return m;
  }
  memory As(memory m, const memory::desc& desc) {
    if (m.get_desc() == desc) return m;
    memory moved(desc, engine_);
    steps_.push_back(
        {dnnl::reorder(m, moved), {{DNNL_ARG_FROM, m}, {DNNL_ARG_TO, moved}}});
    return moved;
  }

  memory Convolution(memory x, int64_t out, int64_t kernel, int64_t stride,
                     int64_t pad, bool relu, memory* residual) {
    const memory::dims in = x.get_desc().dims();
    const int64_t extent = (in[2] + 2 * pad - kernel) / stride + 1;
    const memory::dims weights = {out, in[1], kernel, kernel};
    const auto any = memory::format_tag::any;
    dnnl::post_ops ops;
    if (residual != nullptr) ops.append_sum();
    if (relu) ops.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
    dnnl::primitive_attr attr;
    attr.set_post_ops(ops);
    const dnnl::convolution_forward::primitive_desc pd(
        {prop_kind::forward_inference,
         algorithm::convolution_direct,
         Desc(in, any),
         Desc(weights, any),
         Desc({out}, PlainTag(1)),
         Desc({1, out, extent, extent}, any),
         {stride, stride},
         {pad, pad},
         {pad, pad}},
        attr, engine_);
    memory y = residual != nullptr ? As(*residual, pd.dst_desc())
                                   : memory(pd.dst_desc(), engine_);
    Step step;
    step.arguments = {{DNNL_ARG_SRC, As(x, pd.src_desc())},
                      {DNNL_ARG_WEIGHTS, Weights(weights, pd.weights_desc())},
                      {DNNL_ARG_BIAS, Random({out})},
                      {DNNL_ARG_DST, y}};
    step.primitive = dnnl::convolution_forward(pd);
    steps_.push_back(std::move(step));
    return y;
  }

  memory Pool(memory x, algorithm kind, int64_t kernel, int64_t stride,
              int64_t pad) {
    const memory::dims in = x.get_desc().dims();
    const int64_t extent = (in[2] + 2 * pad - kernel) / stride + 1;
    const dnnl::pooling_v2_forward::primitive_desc pd(
        {prop_kind::forward_inference,
         kind,
         x.get_desc(),
         Desc({1, in[1], extent, extent}, memory::format_tag::any),
         {stride, stride},
         {kernel, kernel},
         {0, 0},
         {pad, pad},
         {pad, pad}},
        engine_);
    memory y(pd.dst_desc(), engine_);
    steps_.push_back(
        {dnnl::pooling_v2_forward(pd), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}});
    return y;
  }

  void Classifier(memory x) {
    memory plain = As(x, Desc({1, 2048, 1, 1}, memory::format_tag::nchw));
    memory row(Desc({1, 2048}, PlainTag(2)), engine_, plain.get_data_handle());
    kept_.push_back(plain);
    const dnnl::inner_product_forward::primitive_desc pd(
        {prop_kind::forward_inference, row.get_desc(),
         Desc({1000, 2048}, memory::format_tag::any), Desc({1000}, PlainTag(1)),
         Desc({1, 1000}, PlainTag(2))},
        engine_);
    memory y(pd.dst_desc(), engine_);
    steps_.push_back(
        {dnnl::inner_product_forward(pd),
         {{DNNL_ARG_SRC, row},
          {DNNL_ARG_WEIGHTS, Weights({1000, 2048}, pd.weights_desc())},
          {DNNL_ARG_BIAS, Random({1000})},
          {DNNL_ARG_DST, y}}});
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::mt19937 random_{1};
  std::vector<Step> steps_;
  std::vector<memory> kept_;
};

double Milliseconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

absl::Status Compare(const char* path, int rounds) {
  LoaderRegistry loaders;
  absl::Status status = RegisterCoreLoaders(&loaders);
  status.Update(RegisterDnnlLoader(&loaders));
  if (!status.ok()) return status;
  absl::StatusOr<LoadedModel> model = LoadPath(path, loaders);
  if (!model.ok()) return model.status();
  auto executor = CreateExecutor(*model);
  if (!executor.ok()) return executor.status();
  absl::StatusOr<Tensor> input =
      Tensor::Empty(DataType::Float(32), {1, 3, 224, 224});
  if (!input.ok()) return input.status();
  std::fill_n(input->mutable_data<float>(), input->NumElements(), 0.1f);
  status = (*executor)->SetInput(0, *input);
  if (!status.ok()) return status;

  omp_set_num_threads(1);
  DirectResnet direct;
  std::vector<double> ours, theirs;
  for (int round = -3; round < rounds; ++round) {
    const double a = Milliseconds([&] { status = (*executor)->Run(); });
    if (!status.ok()) return status;
    const double b = Milliseconds([&] { direct.Run(); });
    if (round < 0) continue;
    ours.push_back(a);
    theirs.push_back(b);
  }
  std::printf("ingot  %8.3f ms, %zu calls\n", Median(ours),
              static_cast<size_t>(model->plan->calls_size()));
  std::printf("direct %8.3f ms, %zu primitives\n", Median(theirs),
              direct.steps());
  std::printf("ratio  %8.3f\n", Median(ours) / Median(theirs));
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: dnnl_bench SET [rounds]\n");
    return 2;
  }
  const absl::Status status =
      ingot::Compare(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 30);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
}
