#include "loaders/native/toolchain.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "loaders/native/read_pipe.h"

extern char** environ;

namespace ingot {

absl::Status CompileC(const std::string& cc,
                      absl::Span<const std::string> flags,
                      const std::string& dir, const std::string& source,
                      const std::string& object) {
  // posix_spawn cannot change the folder in this glibc's stable interface, so a
  // shell does; every word is passed as an argument, none is evaluated.
  std::vector<std::string> words = {"/bin/sh", "-c",
                                    "cd -- \"$0\" && exec \"$@\"", dir, cc};
  for (const std::string& flag : flags) words.push_back(flag);
  for (absl::string_view word : {"-fPIC", "-g0", "-w", "-c", "-o"}) {
    words.push_back(std::string(word));
  }
  // In front of a name from the set, "./" keeps it from being an option.
  words.push_back(absl::StrCat("./", object));
  words.push_back(absl::StrCat("./", source));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 2);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    return absl::InternalError(
        absl::StrCat("starting ", cc, ": ", strerror(error)));
  }
  const std::string output = ReadPipe(pipe_fds[0]);
  close(pipe_fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return absl::NotFoundError(
        absl::StrCat("the C compiler '", cc,
                     "' is not in PATH; install it or name another with the "
                     "target's -cc"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(cc, " refuses ", source, ":\n", output));
}

}  // namespace ingot
