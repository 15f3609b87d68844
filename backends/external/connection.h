// A connection with a program that has backends of its own: it answers
// requests, JSON objects with raw bytes beside them
// (docs/external_backends.md).
#ifndef INGOT_BACKENDS_EXTERNAL_CONNECTION_H_
#define INGOT_BACKENDS_EXTERNAL_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/external/payload.h"
#include "nlohmann/json.hpp"

namespace ingot::external {

// May be used by several threads; they wait for each other.
class Connection {
 public:
  // `where` is `fd:N`, a stream socket that this process inherited and keeps,
  // or the path of a program, which is started with a socket as its stdin and
  // stdout. Asks what the other side has. NotFound:
  // there is no such program; InvalidArgument: it speaks something else.
  static absl::StatusOr<std::shared_ptr<Connection>> Open(
      absl::string_view where);

  // Takes over `socket`, and `pid` of the program at its other end, which is
  // waited for in the end; -1: there is none.
  Connection(std::string name, int socket, int pid)
      : name_(std::move(name)), socket_(socket), pid_(pid) {}
  // Closes the socket, at which the program ends, and waits for that.
  ~Connection();

  // Sends a request, an object, and waits for the answer. Errors: Aborted with
  // the other side's own text where that says that it failed; Unavailable if it
  // is gone, InvalidArgument if its answer is no JSON object.
  absl::StatusOr<Answer> Ask(nlohmann::json request,
                             const Payload& payload = {});

  // Names the other side in messages: as it calls itself, or else `where`.
  const std::string& name() const { return name_; }
  // Lists what the other side has, by its own description.
  const nlohmann::json& description() const { return description_; }

 private:
  absl::Status Send(absl::string_view bytes);
  // Reads what comes next into read_; Unavailable at the end.
  absl::Status Receive();
  absl::StatusOr<std::string> ReadLine();
  absl::StatusOr<std::string> ReadBytes(uint64_t count);

  std::string name_;
  const int socket_;
  const int pid_;
  std::mutex mutex_;
  std::string read_;  // and not used yet
  nlohmann::json description_;
};

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_CONNECTION_H_
