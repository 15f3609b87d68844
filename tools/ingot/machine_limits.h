// What this machine can do at most, measured, to set times against.
#ifndef INGOT_TOOLS_INGOT_MACHINE_LIMITS_H_
#define INGOT_TOOLS_INGOT_MACHINE_LIMITS_H_

namespace ingot {

struct MachineLimits {
  double operations = 0;  // of f32 a second, a product with a sum being two
  double bytes = 0;       // read from memory a second
};

// Measures for a moment (about 0.2 s, 256 MiB) with so many threads: chains of
// multiply-adds in the widest registers that the processor has (not matrix
// units), and one reading after the other of more than caches hold.
MachineLimits MeasureMachineLimits(int threads);

// The part of its time that work would take at the limits: the larger one of
// its operations' and its bytes', over `seconds`. Above 1 where caches serve
// the bytes, or matrix units the operations.
double ShareOfLimit(const MachineLimits& limits, double operations,
                    double bytes, double seconds);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_MACHINE_LIMITS_H_
