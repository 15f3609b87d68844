// Linking native artifacts into shared libraries, with LLD and, for sources, a
// C compiler: programs of the machine that this one starts, so none of them is
// part of it. Programs that only open linked libraries need neither.

#ifndef INGOT_LOADERS_NATIVE_LINKER_H_
#define INGOT_LOADERS_NATIVE_LINKER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"

namespace ingot {

struct LinkOptions {
  // The C compiler for all sources of the set: a program in PATH or a path.
  // Empty: what each source names, which must be one of a fixed list, or what
  // is usual for its machine. A set never chooses another program.
  std::string cc;

  // LLD for ELF: a program in PATH or a path. Empty: "ld.lld-19", which
  // Debian's package lld-19 has.
  std::string lld;
};

// Links the artifacts of loader "native" (`.o` as they are, `.c` compiled
// first) into one shared library per target key. That of the key `host`, or of
// the first key where `host` has no native code, is `output`, and carries in a
// section of its own the container of everything else: all other artifacts, and
// the other keys' libraries as artifacts `linked.so` of their keys. Its
// provenance names the key (library_key) and has the triples and CPU features
// that were only known once sources were compiled. The result needs no other
// file. A set without native code makes a library that only carries its
// container. Only functions of the C ABI, the model's C functions, which begin
// with the set's symbol prefix, the host services' variable and the container
// are exported. The same set and tools give the same bytes. Written
// whole or not at all: what was at `output` stays on an error.
//
// Thread-safe. A crash of the compiler or of LLD is an error here.
//
// Errors: FailedPrecondition for a symbol that is defined twice or nowhere,
// naming the artifacts on each side, for objects of different machines in one
// key, or for a library that is not found, naming its package;
// those of CompileC, with the artifact; NotFound, naming the package, when
// there is no linker.
absl::Status LinkLibrary(const ArtifactSet& set, absl::string_view output,
                         const LinkOptions& options = {});

// The same with only the native artifacts, for a program that has the set at
// hand, into a cache keyed by their content. Returns the library's path there.
// Links nothing when it is there already. `report` is told, in a line, what is
// done. The cache is $XDG_CACHE_HOME/ingot/linked or ~/.cache/ingot/linked;
// when there is neither, or it cannot be written, a folder of this process's
// own.
absl::StatusOr<std::string> LinkCached(
    const ArtifactSet& set,
    const std::function<void(absl::string_view)>& report,
    const LinkOptions& options = {});

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LINKER_H_
