#ifndef INGOT_LOADERS_NATIVE_READ_PIPE_H_
#define INGOT_LOADERS_NATIVE_READ_PIPE_H_

#include <string>

namespace ingot {

// Reads the text that a child process writes to the pipe `fd`, up to its end.
// Longer texts are cut, because a message of many pages says nothing more, but
// read, so that the child is never stuck.
std::string ReadPipe(int fd);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_READ_PIPE_H_
