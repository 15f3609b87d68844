// Artifact: one thing that a codegen made, as plain data.

#ifndef INGOT_ARTIFACT_ARTIFACT_H_
#define INGOT_ARTIFACT_ARTIFACT_H_

#include <memory>
#include <string>

#include "artifact/blob.h"
#include "artifact/loader_names.h"

namespace ingot {

// The target key of an artifact that names none.
inline constexpr char kDefaultTargetKey[] = "host";

// One named piece of generated code or data. It has no behaviour: what it means
// is decided by the loader that it names. A codegen that makes three things (a
// source, a binary, a table) makes three artifacts.
//
// The first three names are identifiers of [A-Za-z0-9_.-]; names.h has the
// rules, ArtifactSet::Add applies them.
struct Artifact {
  // The codegen that made it, such as "llvm".
  std::string codegen_id;

  // The loader that can load it: one of loader_names.h, or a backend's own.
  std::string loader;

  // The one of several targets that it is for; ArtifactSet::Add turns an empty
  // key into kDefaultTargetKey.
  std::string target_key;

  // A relative path, unique within the target key and codegen, such as
  // "fused_add.o" or "src/kernels.c".
  std::string file_name;

  // The bytes.
  Blob content;

  // Set only for an artifact that lives in memory, such as a function of a
  // scripting language: the object itself, whose type its loader knows. It has
  // no form on disk, so a set that holds one refuses to be exported.
  std::shared_ptr<void> live;
};

}  // namespace ingot

#endif  // INGOT_ARTIFACT_ARTIFACT_H_
