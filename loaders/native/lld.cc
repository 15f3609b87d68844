#include "loaders/native/lld.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include "loaders/native/read_pipe.h"

LLD_HAS_DRIVER(elf)

namespace ingot {

// In a copy, also because LLD 19 can damage the heap when it tears down the
// state of its second or later link in one process.
absl::Status RunLld(absl::Span<const std::string> inputs,
                    const std::string& version_script,
                    const std::string& output) {
  std::vector<const char*> args = {
      "ld.lld", "-shared", "-z", "defs", "-z", "noexecstack", "-z", "relro",
      "-z", "now", "--hash-style=gnu", "--build-id=none", "-Bsymbolic",
      "--as-needed", "--threads=1",
      // Objects cannot name libraries: the provenance does.
      "--no-dependent-libraries", "--version-script", version_script.c_str(),
      "-o", output.c_str()};
  for (const std::string& input : inputs) args.push_back(input.c_str());
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    const int error = errno;
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return absl::InternalError(absl::StrCat("fork: ", strerror(error)));
  }
  if (pid == 0) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    const lld::Result result =
        lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
    for (absl::string_view rest = text; !rest.empty();) {
      const ssize_t n = write(pipe_fds[1], rest.data(), rest.size());
      if (n < 0 && errno != EINTR) break;
      if (n > 0) rest.remove_prefix(n);
    }
    // No destructors, no exit handlers: they belong to the parent.
    _exit(result.retCode == 0 ? 0 : 1);
  }
  close(pipe_fds[1]);
  const std::string text = ReadPipe(pipe_fds[0]);
  close(pipe_fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFSIGNALED(status)) {
    return absl::InternalError(absl::StrCat("the linker was ended by signal ",
                                            WTERMSIG(status), "; ", text));
  }
  return absl::FailedPreconditionError(
      absl::StrReplaceAll(text, {{"ld.lld: error: ", ""}}));
}

}  // namespace ingot
