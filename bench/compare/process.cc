#include "bench/compare/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"

extern char** environ;

namespace ingot::compare {
namespace {

double Now() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

}  // namespace

absl::StatusOr<std::unique_ptr<Process>> Process::Start(
    const std::vector<std::string>& args) {
  int in[2], out[2];  // no other child may hold these open
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    return absl::UnavailableError("cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& arg : args) {
    argv.push_back(const_cast<char*>(arg.c_str()));
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (error != 0) {
    close(in[1]);
    close(out[0]);
    return absl::UnavailableError(
        absl::StrCat("cannot start ", args[0], ": ", std::strerror(error)));
  }
  return std::unique_ptr<Process>(
      new Process(pid, fdopen(in[1], "w"), fdopen(out[0], "r")));
}

Process::Process(pid_t pid, FILE* input, FILE* output)
    : pid_(pid), input_(input), output_(output), start_(Now()) {
  signal(SIGPIPE, SIG_IGN);  // a child that has ended is an error of Ask
}

Process::~Process() {
  if (input_ != nullptr) fclose(input_);
  fclose(output_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

absl::StatusOr<std::string> Process::ReadLine() {
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, output_);
  std::string text =
      length > 0 ? std::string(line, static_cast<size_t>(length)) : "";
  free(line);
  if (length < 0) return absl::UnavailableError("the program ended early");
  return std::string(absl::StripSuffix(text, "\n"));
}

absl::StatusOr<std::string> Process::Ask(const std::string& line) {
  if (fprintf(input_, "%s\n", line.c_str()) < 0 || fflush(input_) != 0) {
    return absl::UnavailableError("the program ended early");
  }
  return ReadLine();
}

absl::StatusOr<Process::Usage> Process::Finish() {
  fclose(input_);
  input_ = nullptr;
  Usage usage;
  while (true) {
    const absl::StatusOr<std::string> line = ReadLine();
    if (!line.ok()) break;
    absl::StrAppend(&usage.output, *line, "\n");
  }
  int status = 0;
  rusage used;
  if (wait4(pid_, &status, 0, &used) != pid_) {
    return absl::UnavailableError("cannot wait for the program");
  }
  pid_ = 0;
  usage.seconds = Now() - start_;
  usage.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::UnknownError(usage.output);
  }
  return usage;
}

}  // namespace ingot::compare
