#include "loaders/native/read_pipe.h"

#include <unistd.h>

#include <cerrno>

namespace ingot {
namespace {
constexpr size_t kMaxMessage = 4000;
}  // namespace

std::string ReadPipe(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) > 0 ||
         (n < 0 && errno == EINTR)) {
    if (n > 0 && text.size() < kMaxMessage) text.append(buffer, n);
  }
  if (text.size() > kMaxMessage) {
    text.resize(kMaxMessage);
    text += "…";
  }
  return text;
}

}  // namespace ingot
