#include "tests/fuzz/onnx/child_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

// The runtime that coverage.sh builds with has it; otherwise it is null.
extern "C" __attribute__((weak)) int __llvm_profile_write_file(void);

namespace ingot::fuzz {
namespace {

void WriteAll(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<size_t>(n);
  }
}

}  // namespace

ChildPool::~ChildPool() {
  while (!children_.empty()) Finish(0, /*late=*/true);
}

void ChildPool::Start(int64_t id,
                      const std::function<void(const Write&)>& work) {
  int fds[2];
  if (pipe(fds) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    close(fds[0]);
    // A group of its own, so that compilers which it starts end with it.
    setpgid(0, 0);
    work([&](const std::string& text) { WriteAll(fds[1], text); });
    if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
    _exit(0);
  }
  close(fds[1]);
  children_.push_back({id, pid, fds[0], absl::Now() + limit_, ""});
}

Ended ChildPool::Finish(size_t k, bool late) {
  Child child = std::move(children_[k]);
  children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(k));
  if (late) kill(-child.pid, SIGKILL);
  close(child.fd);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  Ended ended{child.id, std::move(child.text), ""};
  if (late) {
    ended.trouble =
        absl::StrCat("ran longer than ", absl::FormatDuration(limit_));
  } else if (WIFSIGNALED(status)) {
    ended.trouble = absl::StrCat("died of signal ", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    ended.trouble = absl::StrCat("exited with ", WEXITSTATUS(status));
  }
  return ended;
}

Ended ChildPool::Next() {
  while (true) {
    std::vector<pollfd> fds;
    absl::Time end = absl::InfiniteFuture();
    for (const Child& child : children_) {
      fds.push_back({child.fd, POLLIN, 0});
      end = std::min(end, child.end);
    }
    const int64_t wait = absl::ToInt64Milliseconds(end - absl::Now());
    poll(fds.data(), fds.size(),
         static_cast<int>(std::clamp<int64_t>(wait, 0, 1000)));
    for (size_t k = 0; k < fds.size(); ++k) {
      if (absl::Now() > children_[k].end) return Finish(k, /*late=*/true);
      if (fds[k].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = read(children_[k].fd, buffer, sizeof(buffer));
      if (n > 0) {
        children_[k].text.append(buffer, static_cast<size_t>(n));
      } else if (n == 0) {
        return Finish(k, /*late=*/false);
      }
    }
  }
}

}  // namespace ingot::fuzz
