// Random numbers that a seed repeats on every machine.
#ifndef INGOT_TESTS_FUZZ_RANDOM_H_
#define INGOT_TESTS_FUZZ_RANDOM_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ingot::fuzz {

// SplitMix64, by Sebastiano Vigna.
class Random {
 public:
  explicit Random(uint64_t seed)
      : state_(seed * 0x9E3779B97F4A7C15u + 0x1234567) {}

  // In [0, below); `below` must be positive.
  int64_t Next(int64_t below) {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(below));
  }
  // In [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + Next(high - low + 1);
  }
  bool Chance(int percent) { return Next(100) < percent; }
  // In [low, high), in steps of a millionth of the width.
  double Real(double low, double high) {
    return low + (high - low) * static_cast<double>(Next(1000000)) / 1e6;
  }
  template <typename T>
  T OneOf(std::initializer_list<T> items) {
    return *(items.begin() + Next(static_cast<int64_t>(items.size())));
  }
  template <typename T>
  const T& OneOf(const std::vector<T>& items) {
    return items[Next(static_cast<int64_t>(items.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_RANDOM_H_
