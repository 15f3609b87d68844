#include "loaders/native/toolchain.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "loaders/native/read_pipe.h"

extern char** environ;

namespace ingot {
namespace {

bool IsHarmlessFlag(absl::string_view flag) {
  for (absl::string_view start :
       {"-O", "-f", "-m", "-std=", "-D", "-W", "-g"}) {
    if (absl::StartsWith(flag, start)) {
      // Such as -fplugin=FILE or -Wl,…: they would run or write something else.
      return !absl::StrContains(flag, '/') && !absl::StrContains(flag, ',') &&
             !absl::StrContains(flag, "plugin");
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<CompileRequest> ParseCompileRequest(absl::string_view source) {
  CompileRequest request;
  absl::string_view line = source.substr(0, source.find('\n'));
  if (!absl::ConsumePrefix(&line, "/* ingot:")) return request;
  if (!absl::ConsumeSuffix(&line, "*/")) {
    return absl::InvalidArgumentError(
        "the first line starts as a compile request but has no closing */");
  }
  bool in_flags = false;
  for (absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipWhitespace())) {
    if (!in_flags && absl::ConsumePrefix(&word, "cc=")) {
      if (word.empty() || absl::StrContains(word, '/') || word[0] == '-') {
        return absl::InvalidArgumentError(absl::StrCat(
            "'", word, "' is not a compiler's name (folders are not allowed)"));
      }
      request.cc = std::string(word);
      continue;
    }
    if (!in_flags && absl::ConsumePrefix(&word, "cflags=")) in_flags = true;
    if (word.empty()) continue;
    if (!in_flags || !IsHarmlessFlag(word)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word,
                       "' is not allowed in a compile request; cc= and cflags= "
                       "with -O, -f, -m, -std=, -D, -W, -g are"));
    }
    request.flags.push_back(std::string(word));
  }
  return request;
}

absl::Status CompileC(const CompileRequest& request, const std::string& dir,
                      const std::string& source, const std::string& object) {
  // posix_spawn cannot change the folder in this glibc's stable interface, so a
  // shell does; every word is passed as an argument, none is evaluated.
  std::vector<std::string> words = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
                                    dir, request.cc};
  for (const std::string& flag : request.flags) words.push_back(flag);
  for (absl::string_view word : {"-fPIC", "-g0", "-w", "-c", "-o"}) {
    words.push_back(std::string(word));
  }
  words.push_back(object);
  words.push_back(source);
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
        absl::StrCat("starting ", request.cc, ": ", strerror(error)));
  }
  const std::string output = ReadPipe(pipe_fds[0]);
  close(pipe_fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return absl::NotFoundError(
        absl::StrCat("the C compiler '", request.cc,
                     "' is not in PATH; install it or name another with the "
                     "target's -cc"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(request.cc, " refuses ", source, ":\n", output));
}

}  // namespace ingot
