#include "tests/pipeline/subprocess.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ingot {
namespace {

std::string ReadAll(FILE* file) {
  std::string text;
  rewind(file);
  char buffer[4096];
  size_t n = 0;
  while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0) {
    text.append(buffer, n);
  }
  fclose(file);
  return text;
}

// $INGOT_LLD is relative to the folder that tests start in.
void MakeLldAbsolute() {
  const char* lld = getenv("INGOT_LLD");
  if (lld == nullptr || strchr(lld, '/') == nullptr) return;
  setenv("INGOT_LLD", std::filesystem::absolute(lld).c_str(), 1);
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& args,
                         const CommandOptions& options) {
  std::vector<char*> argv;
  for (const std::string& arg : args) {
    argv.push_back(const_cast<char*>(arg.c_str()));
  }
  argv.push_back(nullptr);
  MakeLldAbsolute();
  FILE* out = tmpfile();
  FILE* err = tmpfile();

  CommandResult result;
  const pid_t child = fork();
  if (child == 0) {
    // Only calls that are safe between fork and exec.
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) {
      _exit(126);
    }
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    if (options.max_file_size != 0) {
      // Without the signal, a write beyond the limit fails as on a full disk.
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {options.max_file_size, options.max_file_size};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  result.out = ReadAll(out);
  result.err = ReadAll(err);
  return result;
}

}  // namespace ingot
