// Work in processes of its own, so that a crash or an endless loop is a result.
#ifndef INGOT_TESTS_FUZZ_ONNX_CHILD_POOL_H_
#define INGOT_TESTS_FUZZ_ONNX_CHILD_POOL_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace ingot::fuzz {

// The end of one piece of work.
struct Ended {
  int64_t id = 0;
  std::string text;     // everything that it wrote
  std::string trouble;  // "": it returned; else the signal or the time limit
};

// Forks a child for each piece of work. The process that has the pool must have
// one thread only, and use the pool from it.
class ChildPool {
 public:
  // Writes text that the parent gets even if the child dies right after.
  using Write = std::function<void(const std::string& text)>;

  explicit ChildPool(absl::Duration limit) : limit_(limit) {}
  ~ChildPool();

  void Start(int64_t id, const std::function<void(const Write&)>& work);
  size_t running() const { return children_.size(); }
  // Waits for one that runs; there must be one.
  Ended Next();

 private:
  struct Child {
    int64_t id;
    pid_t pid;
    int fd;
    absl::Time end;
    std::string text;
  };

  // Waits for the process and forgets it.
  Ended Finish(size_t k, bool late);

  const absl::Duration limit_;
  std::vector<Child> children_;
};

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_CHILD_POOL_H_
