#include "tools/ingot/last_words.h"

#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "tools/ingot/budget.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

// "ingot: CALL: ". It is made before anything can go wrong, and never
// destroyed.
const std::string* prefix = nullptr;

// Calls nothing but what a signal's handler may, and allocates nothing.
void Say(absl::string_view why) {
  const auto part = [](absl::string_view text) {
    return iovec{const_cast<char*>(text.data()), text.size()};
  };
  const iovec line[] = {part(*prefix), part(why), part("\n")};
  const ssize_t ignored = writev(STDERR_FILENO, line, 3);
  static_cast<void>(ignored);
}

absl::string_view WhyOf(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "crashed by reading or writing where no memory is, or by too deep "
             "a nesting";
    case SIGBUS:
      return "crashed by reading a file that was cut off meanwhile, or memory "
             "that is not aligned";
    case SIGFPE:
      return "crashed by a division";
    case SIGILL:
      return "crashed by an instruction that this processor does not have";
    default:
      return "crashed";
  }
}

void OnCrash(int signal) {
  Say(WhyOf(signal));
  // The handler was reset when it was called.
  raise(signal);
}

void HandleCrashes() {
  // A stack that is full has no room for a handler.
  static char stack[64 * 1024];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before;
    if (sigaction(signal, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action = {};
    action.sa_handler = OnCrash;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
}

// An exception that left a thread's function.
[[noreturn]] void OnTerminate() {
  // So that there is memory for what follows.
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
  }
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      EndWith(OutOfMemoryMessage());
    } catch (const std::exception& e) {
      EndWith(OneLine(e.what()));
    } catch (...) {
    }
  }
  std::abort();
}

// The status of what failed says it in Ingot's own words.
void DropProtobufsLog(google::protobuf::LogLevel, const char*, int,
                      const std::string&) {}

}  // namespace

void PrepareLastWords(absl::string_view call) {
  prefix = new std::string(absl::StrCat("ingot: ", Cut(OneLine(call)), ": "));
  HandleCrashes();
  std::set_terminate(OnTerminate);
  google::protobuf::SetLogHandler(DropProtobufsLog);
}

void EndWith(absl::string_view why) {
  Say(why);
  _exit(1);
}

}  // namespace ingot
