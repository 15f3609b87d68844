#include "loaders/native/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

extern char** environ;

namespace ingot {
namespace {

// Reads up to the end, even what is cut, so that the program is never stuck, or
// only until it is too much.
std::string ReadPipe(int fd, const ProgramOptions& options) {
  const size_t most = options.most_output;
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) > 0 ||
         (n < 0 && errno == EINTR)) {
    if (n > 0 && text.size() <= most) text.append(buffer, n);
    if (text.size() > most && options.ends_at_most) break;
  }
  if (text.size() > most) {
    text.resize(most);
    text += "…";
  }
  return text;
}

// The programs that run now. Each is reaped under the mutex, so that no number
// here is another process's already.
struct Running {
  std::mutex mutex;
  bool ending = false;
  std::set<pid_t> programs;
};

Running& GlobalRunning() {
  static Running* const running = new Running;
  return *running;
}

// Starts the program with `fd` as its output, and for its errors where they are
// wanted; returns the system's error.
int Start(char* const* argv, int fd, bool with_errors, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
  if (with_errors) {
    posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
  }
  Running& running = GlobalRunning();
  std::lock_guard<std::mutex> lock(running.mutex);
  const int error = running.ending ? ECANCELED
                                   : posix_spawnp(pid, argv[0], &actions,
                                                  nullptr, argv, environ);
  if (error == 0) running.programs.insert(*pid);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Waits until the program has ended; returns the system's error.
int WaitFor(pid_t pid, int* status) {
  // Without reaping it: its number stays its own.
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) break;
  }
  Running& running = GlobalRunning();
  std::lock_guard<std::mutex> lock(running.mutex);
  running.programs.erase(pid);
  while (waitpid(pid, status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

absl::StatusOr<ProgramResult> RunProgram(std::vector<std::string> words,
                                         const ProgramOptions& options) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  pid_t pid = -1;
  const int error = Start(argv.data(), pipe_fds[1], options.with_errors, &pid);
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
  result.output = ReadPipe(pipe_fds[0], options);
  close(pipe_fds[0]);
  if (options.ends_at_most && result.output.size() > options.most_output) {
    kill(pid, SIGKILL);  // it is not reaped yet, so the number is its own
  }
  int status = 0;
  if (const int failure = WaitFor(pid, &status); failure != 0) {
    return absl::InternalError(
        absl::StrCat("waiting for ", words[0], ": ", strerror(failure)));
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

void EndRunningPrograms() {
  Running& running = GlobalRunning();
  std::lock_guard<std::mutex> lock(running.mutex);
  running.ending = true;
  for (const pid_t pid : running.programs) kill(pid, SIGKILL);
}

}  // namespace ingot
