// Recurrent layers of batches, whose rows share what they read of the weights,
// against plain loops in double precision: for every target that makes code for
// this machine.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/checked_executor.h"
#include "backends/testing/random_tensor.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {
namespace {

struct Layer {
  std::string op;
  int64_t gates;
  bool resets_after;  // GRU: linear_before_reset
};

struct Problem {
  Layer layer;
  int64_t steps, batch, hidden;
  bool reverse;
  std::vector<int64_t> lengths;  // none: all steps
  int threads = 1;
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The results of all steps, [steps, batch, hidden]. x: [steps, batch, gates *
// hidden]; w: [hidden, gates * hidden]; h0: [batch, hidden], LSTM's cell as
// well.
std::vector<double> Expected(const Problem& p, const float* x, const float* w,
                             const float* h0) {
  const int64_t n = p.hidden, columns = n * p.layer.gates;
  std::vector<double> y(p.steps * p.batch * n, 0);
  for (int64_t b = 0; b < p.batch; ++b) {
    std::vector<double> h(h0 + b * n, h0 + (b + 1) * n), c = h;
    const int64_t length =
        p.lengths.empty() ? p.steps : std::min(p.lengths[b], p.steps);
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = p.reverse ? length - 1 - s : s;
      const float* in = x + (t * p.batch + b) * columns;
      const auto product = [&](const std::vector<double>& from, int64_t at) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += from[k] * w[k * columns + at];
        return sum;
      };
      std::vector<double> next(n);
      std::vector<double> reset = h;
      for (int64_t j = 0; j < n && p.layer.op == "gru"; ++j) {
        reset[j] *= Sigmoid(in[n + j] + product(h, n + j));
      }
      for (int64_t j = 0; j < n; ++j) {
        const auto gate = [&](int64_t g) {
          return in[g * n + j] + product(h, g * n + j);
        };
        if (p.layer.op == "lstm") {
          c[j] =
              Sigmoid(gate(2)) * c[j] + Sigmoid(gate(0)) * std::tanh(gate(3));
          next[j] = Sigmoid(gate(1)) * std::tanh(c[j]);
        } else if (p.layer.op == "gru") {
          const double z = Sigmoid(gate(0));
          const double last = p.layer.resets_after
                                  ? Sigmoid(gate(1)) * product(h, 2 * n + j)
                                  : product(reset, 2 * n + j);
          next[j] = (1 - z) * std::tanh(in[2 * n + j] + last) + z * h[j];
        } else {
          next[j] = std::tanh(gate(0));
        }
      }
      h = next;
      std::copy(h.begin(), h.end(), y.begin() + (t * p.batch + b) * n);
    }
  }
  return y;
}

class RecurrentTest : public ::testing::TestWithParam<const char*> {
 protected:
  void Check(const Problem& p, bool symbolic) {
    SCOPED_TRACE(absl::StrCat(p.layer.op, p.layer.resets_after, " batch ",
                              p.batch, " hidden ", p.hidden, " reverse ",
                              p.reverse, " lengths ", p.lengths.size(),
                              symbolic ? " symbolic" : ""));
    const int64_t columns = p.hidden * p.layer.gates;
    const std::string batch = symbolic ? "b" : absl::StrCat(p.batch);
    const bool lstm = p.layer.op == "lstm";
    const auto module = ParseRelay(absl::StrCat(
        "module {\n  func @main(%x: f32[", p.steps, ", ", batch, ", ", columns,
        "], %h: f32[", batch, ", ", p.hidden, "], %n: i64[", batch,
        "]) -> (%y#0, %z) {\n    %w = const f32[", p.hidden, ", ", columns,
        "] random(3)\n    %z = relu(%n)\n    %y = ", p.layer.op,
        "(%x, %w, %h, ", p.lengths.empty() ? "_" : "%n", lstm ? ", %h" : "",
        ") {reverse=", p.reverse ? 1 : 0,
        p.layer.op == "gru"
            ? absl::StrCat(", linear_before_reset=", p.layer.resets_after)
            : "",
        "}\n  }\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    Tensor w;
    for (const auto& node : (*module)->main()->nodes()) {
      if (node->kind == relay::NodeKind::kConstant) w = *node->constant;
    }
    const auto set = CompileFor(module->get(), GetParam());
    ASSERT_TRUE(set.ok()) << set.status();
    const auto model = StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    ExecutorOptions options;
    options.threads = p.threads;
    const auto executor = CreateCheckedExecutor(*model, options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    const Tensor x = RandomTensor<float>(DataType::Float(32),
                                         {p.steps, p.batch, columns}, -1, 1, 1);
    const Tensor h =
        RandomTensor<float>(DataType::Float(32), {p.batch, p.hidden}, -1, 1, 2);
    Tensor n = *Tensor::Empty(DataType::Int(64), {p.batch});
    for (int64_t b = 0; b < p.batch; ++b) {
      n.mutable_data<int64_t>()[b] = p.lengths.empty() ? 0 : p.lengths[b];
    }
    ASSERT_EQ((*executor)->SetInput(0, x), absl::OkStatus());
    ASSERT_EQ((*executor)->SetInput(1, h), absl::OkStatus());
    ASSERT_EQ((*executor)->SetInput(2, n), absl::OkStatus());
    ASSERT_EQ((*executor)->Run(), absl::OkStatus());
    const Tensor y = *(*executor)->GetOutput(0);
    const std::vector<double> expected =
        Expected(p, x.data<float>(), w.data<float>(), h.data<float>());
    ASSERT_EQ(y.NumElements(), static_cast<int64_t>(expected.size()));
    for (int64_t i = 0; i < y.NumElements(); ++i) {
      ASSERT_NEAR(y.data<float>()[i], expected[i], 2e-4) << i;
    }
  }
};

const Layer kLayers[] = {
    {"lstm", 4, false}, {"gru", 3, false}, {"gru", 3, true}, {"rnn", 1, false}};

// Tiles and the rows that are left, of panels of 8, 5 and 6 vectors, whose
// units are one part or more, and of a matrix that is in none; then rows alone,
// and tiles alone, of 3 vectors.
TEST_P(RecurrentTest, Batches) {
  for (const Layer& layer : kLayers) {
    for (const int64_t hidden : {64, 40, 96, 7}) {
      Check({layer, 3, 11, hidden, false, {}}, false);
      if (HasFatalFailure()) return;
    }
  }
  Check({kLayers[0], 3, 1, 24, false, {}}, false);
  Check({kLayers[0], 3, 4, 24, false, {}}, false);
}

TEST_P(RecurrentTest, SequencesEndWhereTheyDo) {
  for (const Layer& layer : kLayers) {
    Check({layer, 4, 6, 16, false, {4, 0, 2, 9, 1, 3}}, false);
    Check({layer, 4, 6, 16, true, {4, 0, 2, 9, 1, 3}}, true);
    Check({layer, 4, 5, 16, true, {}}, true);
    if (HasFatalFailure()) return;
  }
}

// Steps that are large enough for threads to share their panels.
TEST_P(RecurrentTest, ThreadsShareSteps) {
  for (const Layer& layer : kLayers) {
    Check({layer, 3, 1, 256, false, {}, 3}, false);
    Check({layer, 3, 5, 256, true, {3, 0, 2, 9, 1}, 2}, true);
    if (HasFatalFailure()) return;
  }
}

// Waking threads for smaller ones would take longer than they do.
TEST(RecurrentStepsTest, LargeOnesAreShared) {
  for (const int64_t hidden : {16, 256}) {
    const auto module = ParseRelay(absl::StrCat(
        "module {\n  func @main(%x: f32[3, 1, ", 4 * hidden, "], %h: f32[1, ",
        hidden, "]) -> (%y#0) {\n    %w = const f32[", hidden, ", ", 4 * hidden,
        "] random(3)\n    %y = lstm(%x, %w, %h, _, %h)\n  }\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto set = CompileFor(module->get(), "c -mcpu=haswell");
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(absl::StrContains(TextOf(*set, "c"), "lstm_parallel_0("),
              hidden == 256);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RecurrentTest,
                         ::testing::Values("llvm -mcpu=native", "c"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 1);
                         });

}  // namespace
}  // namespace ingot::testing_support
