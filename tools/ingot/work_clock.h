// A clock for measuring code beside other programs.
#ifndef INGOT_TOOLS_INGOT_WORK_CLOCK_H_
#define INGOT_TOOLS_INGOT_WORK_CLOCK_H_

#include <ctime>

namespace ingot {

// Counts the time in which the calling thread runs, where it does all the work:
// turns that the system gives other programs do not count then. With more
// threads, or with devices that it waits for, the time that passes.
class WorkClock {
 public:
  explicit WorkClock(int threads, bool uses_devices = false)
      : id_(threads == 1 && !uses_devices ? CLOCK_THREAD_CPUTIME_ID
                                          : CLOCK_MONOTONIC) {}

  // Seconds since some moment.
  double Now() const {
    timespec time = {};
    clock_gettime(id_, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  }

 private:
  const clockid_t id_;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_WORK_CLOCK_H_
