#ifndef INGOT_BACKENDS_C_PRELUDE_H_
#define INGOT_BACKENDS_C_PRELUDE_H_

namespace ingot {

// The text that every generated file begins with, behind its first line: the
// C ABI's structures, what the host offers, and how arguments are read. It
// stands alone.
extern const char kCPrelude[];
// Runs a loop's body on the host's threads; only files with parallel loops have
// it.
extern const char kCParallel[];

}  // namespace ingot

#endif  // INGOT_BACKENDS_C_PRELUDE_H_
