#include "tools/ingot/machine_limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/thread_pool.h"
#include "tools/ingot/work_clock.h"

namespace ingot {
namespace {

// Enough of them that each unit always has one that is ready: twelve chains
// cover a latency of four cycles on up to three units.
constexpr int kChains = 12;

// Steps of all chains, each a multiply-add of `Vector`; kept from being
// optimised away by its result.
template <typename Vector>
[[gnu::always_inline]] inline float RunChains(int64_t steps) {
  Vector sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = Vector{} + static_cast<float>(i);
  const Vector factor = Vector{} + 0.999F, term = Vector{} + 0.001F;
  for (int64_t s = 0; s < steps; ++s) {
    for (Vector& sum : sums) sum = sum * factor + term;
  }
  Vector all{};
  for (const Vector& sum : sums) all += sum;
  return all[0];
}

using F32x4 = float __attribute__((vector_size(16)));

float RunSmall(int64_t steps) { return RunChains<F32x4>(steps); }

#if defined(__x86_64__)
using F32x8 = float __attribute__((vector_size(32)));
using F32x16 = float __attribute__((vector_size(64)));

[[gnu::target("avx2,fma")]] float RunAvx2(int64_t steps) {
  return RunChains<F32x8>(steps);
}
[[gnu::target("avx512f")]] float RunAvx512(int64_t steps) {
  return RunChains<F32x16>(steps);
}
#endif

// A loop of chains and how many numbers each of its vectors has.
struct Chains {
  float (*run)(int64_t steps);
  int lanes;
};

Chains WidestChains() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {RunAvx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {RunAvx2, 8};
  }
#endif
  return {RunSmall, 4};
}

// The shortest of several times, in seconds, of `work` on all threads at once.
template <typename Work>
double BestTime(ThreadPool* pool, const Work& work) {
  const WorkClock clock(pool->threads());
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = clock.Now();
    pool->ParallelFor(pool->threads(), [&work](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) work(thread);
      return 0;
    });
    best = std::min(best, clock.Now() - start);
  }
  return best;
}

volatile float used_float = 0;
volatile uint64_t used_word = 0;

double MeasureOperations(ThreadPool* pool) {
  constexpr int64_t kSteps = 1 << 20;
  const Chains chains = WidestChains();
  const double seconds =
      BestTime(pool, [&chains](int64_t) { used_float = chains.run(kSteps); });
  return 2.0 * kChains * chains.lanes * kSteps * pool->threads() / seconds;
}

double MeasureBytes(ThreadPool* pool) {
  constexpr size_t kBytes = size_t{256} << 20;
  const std::vector<uint64_t> words(kBytes / sizeof(uint64_t), 1);
  const size_t part = words.size() / pool->threads();
  const double seconds = BestTime(pool, [&words, part](int64_t thread) {
    uint64_t sum = 0;
    for (size_t i = thread * part; i < (thread + 1) * part; ++i) {
      sum += words[i];
    }
    used_word = sum;
  });
  return static_cast<double>(part * pool->threads() * sizeof(uint64_t)) /
         seconds;
}

}  // namespace

MachineLimits MeasureMachineLimits(int threads) {
  ThreadPool pool(threads);
  return {MeasureOperations(&pool), MeasureBytes(&pool)};
}

double ShareOfLimit(const MachineLimits& limits, double operations,
                    double bytes, double seconds) {
  return std::max(operations / limits.operations, bytes / limits.bytes) /
         seconds;
}

}  // namespace ingot
