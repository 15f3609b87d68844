// The `ingot` command as a function, for programs with backends of their own.
// ingot_command() of tools/ingot_command.bzl makes such a program.
#ifndef INGOT_TOOLS_INGOT_COMMAND_H_
#define INGOT_TOOLS_INGOT_COMMAND_H_

#include "tools/ingot/backends.h"

namespace ingot {

// Does what the words in `argv` say, the first of which is the program's own
// name, and returns the exit status: 0 done, 1 the work failed, 2 the words are
// off. docs/command_line.md describes it. Where only a compiler can do it and
// `backends` has none, becomes the program that has one, with the same words.
int CommandMain(int argc, char** argv, const Backends& backends);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMMAND_H_
