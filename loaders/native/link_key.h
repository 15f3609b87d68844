// Linking the native code of one target key.

#ifndef INGOT_LOADERS_NATIVE_LINK_KEY_H_
#define INGOT_LOADERS_NATIVE_LINK_KEY_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "isa/machines.h"

namespace ingot {

// Whether it is code to link: of the loader "native", and an object or a
// source. Others of that loader are files that sources include.
bool IsNativeCode(const Artifact& artifact);

// The keys that have native code, sorted.
std::vector<std::string> NativeKeys(const ArtifactSet& set);

// Object files of one key.
struct KeyObjects {
  std::vector<std::string> paths;
  const isa::MachineFamily* family;
  // The features that the set names, and those that compiling its sources
  // added.
  std::set<std::string> cpu_features;
};

// Writes the objects of `key` below `folder`, an absolute path: `.o` as they
// are, `.c` compiled by the program `cc` or, if that is empty, by the compiler
// that the source names or that is usual for the key's triple.
//
// InvalidArgument for a compile request that breaks the rules of
// artifact/compile_request.h. FailedPrecondition, naming artifacts, for objects
// of different machines, or of one that is not listed. Errors of CompileC.
absl::StatusOr<KeyObjects> MakeObjects(const ArtifactSet& set,
                                       absl::string_view key,
                                       const std::string& cc,
                                       const std::string& folder);

// Links them, and `more` objects, with the libraries that the set names for
// `key`, into the shared library `output`, which must not exist, by the program
// `lld` (lld.h). Messages name objects by their artifacts.
absl::Status LinkObjects(const ArtifactSet& set, absl::string_view key,
                         const KeyObjects& objects,
                         const std::vector<std::string>& more,
                         const std::string& lld, const std::string& folder,
                         const std::string& output);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_LINK_KEY_H_
