#include "backends/external/connection.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/external/answer.h"
#include "base/status_macros.h"

extern char** environ;

namespace ingot::external {
namespace {

using nlohmann::json;

constexpr char kDescriptor[] = "fd:";
constexpr int kVersion = 2;
// This member says how many raw bytes follow a line; none do where it is not.
constexpr char kBytes[] = "bytes";

// Starts the program, its stdin and stdout one end of a socket. Returns the
// other end.
absl::StatusOr<int> Start(const std::string& path, int* pid) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::InternalError(absl::StrCat("socketpair: ", strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string program = path;
  char* argv[] = {program.data(), nullptr};
  const int error =
      posix_spawnp(pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  return absl::NotFoundError(
      absl::StrCat("starting the backend ", path, ": ", strerror(error)));
}

absl::StatusOr<std::shared_ptr<Connection>> Connect(absl::string_view where) {
  int socket = -1, pid = -1;
  if (absl::StartsWith(where, kDescriptor)) {
    // A copy: the original is the caller's.
    int given = -1;
    if (!absl::SimpleAtoi(where.substr(strlen(kDescriptor)), &given) ||
        (socket = fcntl(given, F_DUPFD_CLOEXEC, 0)) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, " is no open socket"));
    }
  } else {
    INGOT_ASSIGN_OR_RETURN(socket, Start(std::string(where), &pid));
  }
  return std::make_shared<Connection>(std::string(where), socket, pid);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(
    absl::string_view where) {
  INGOT_ASSIGN_OR_RETURN(std::shared_ptr<Connection> connection,
                         Connect(where));
  INGOT_ASSIGN_OR_RETURN(
      Answer described,
      connection->Ask({{"method", "describe"}, {"version", kVersion}}));
  connection->description_ = std::move(described.body);
  const int64_t version = IntegerOr(connection->description_, "version", -1);
  if (version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", where, " speaks version ", version,
                     " of the protocol, and this Ingot ", kVersion));
  }
  connection->name_ =
      TextOr(connection->description_, "name", connection->name_.c_str());
  return connection;
}

Connection::~Connection() {
  close(socket_);
  while (pid_ >= 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<Answer> Connection::Ask(json request, const Payload& payload) {
  if (payload.size() > 0) request[kBytes] = payload.size();
  const std::lock_guard<std::mutex> lock(mutex_);
  // Names that are no UTF-8 become replacement characters.
  INGOT_RETURN_IF_ERROR(Send(absl::StrCat(
      request.dump(-1, ' ', false, json::error_handler_t::replace), "\n")));
  for (absl::string_view part : payload.parts()) {
    INGOT_RETURN_IF_ERROR(Send(part));
  }
  INGOT_ASSIGN_OR_RETURN(const std::string line, ReadLine());
  Answer answer;
  answer.body = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!answer.body.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backend ", name_,
                     " answered no JSON object: ", line.substr(0, 100)));
  }
  const int64_t count = IntegerOr(answer.body, kBytes, 0);
  if (count < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the backend ", name_, " answered with ", count, " bytes"));
  }
  INGOT_ASSIGN_OR_RETURN(answer.payload,
                         ReadBytes(static_cast<uint64_t>(count)));
  const std::string error = TextOr(answer.body, "error", "");
  if (!error.empty()) {
    return absl::AbortedError(absl::StrCat("the backend ", name_, ": ", error));
  }
  return answer;
}

absl::Status Connection::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return absl::UnavailableError(
          absl::StrCat("the backend ", name_, " is gone: ", strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status Connection::Receive() {
  for (;;) {
    char buffer[65536];
    const ssize_t n = recv(socket_, buffer, sizeof(buffer), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return absl::UnavailableError(
          absl::StrCat("the backend ", name_, " ended without an answer"));
    }
    read_.append(buffer, static_cast<size_t>(n));
    return absl::OkStatus();
  }
}

absl::StatusOr<std::string> Connection::ReadLine() {
  size_t searched = 0;
  for (;;) {
    const size_t end = read_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    searched = read_.size();
    INGOT_RETURN_IF_ERROR(Receive());
  }
}

absl::StatusOr<std::string> Connection::ReadBytes(uint64_t count) {
  // Memory grows with what came, not with what the other side says will come.
  while (read_.size() < count) INGOT_RETURN_IF_ERROR(Receive());
  std::string rest = read_.substr(count);
  read_.resize(count);
  read_.swap(rest);
  return rest;
}

}  // namespace ingot::external
