#include "loaders/native/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

extern char** environ;

namespace ingot {
namespace {

// A message of many pages says nothing more.
constexpr size_t kMaxOutput = 4000;

// Reads up to the end, even what is cut, so that the program is never stuck.
std::string ReadPipe(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) > 0 ||
         (n < 0 && errno == EINTR)) {
    if (n > 0 && text.size() < kMaxOutput) text.append(buffer, n);
  }
  if (text.size() > kMaxOutput) {
    text.resize(kMaxOutput);
    text += "…";
  }
  return text;
}

}  // namespace

absl::StatusOr<ProgramResult> RunProgram(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    if (error == ENOENT) {
      return absl::NotFoundError(
          absl::StrCat("there is no program '", words[0], "'"));
    }
    return absl::InternalError(
        absl::StrCat("starting ", words[0], ": ", strerror(error)));
  }
  ProgramResult result;
  result.output = ReadPipe(pipe_fds[0]);
  close(pipe_fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return absl::InternalError(
        absl::StrCat("waiting for ", words[0], ": ", strerror(errno)));
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace ingot
