// What ThreadSanitizer shall not report.

// A status is counted by references, and Debian's Abseil, which is not
// instrumented, takes the count down: ThreadSanitizer sees the memory being
// freed and not that the count ordered it.
extern "C" const char* __tsan_default_suppressions() {
  return "race:UnrefNonInlined\nrace:absl/status/status.h\n";
}
