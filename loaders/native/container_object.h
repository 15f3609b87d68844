#ifndef INGOT_LOADERS_NATIVE_CONTAINER_OBJECT_H_
#define INGOT_LOADERS_NATIVE_CONTAINER_OBJECT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"

namespace ingot {

// Writes a relocatable 64-bit ELF file to `sink`, whose one section
// (kContainerSection, page-aligned, read-only) is the container of `set`,
// between the symbols kContainerSymbol and kContainerEndSymbol, with the symbol
// of each artifact with weights (artifact/constants_symbol.h). `machine` is
// the ELF machine that it will be linked with, such as EM_X86_64; the file is
// little-endian. Its bytes depend on nothing else. Errors: those of
// WriteContainerTo.
absl::Status WriteContainerObject(const ArtifactSet& set, uint16_t machine,
                                  const ByteSink& sink);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_CONTAINER_OBJECT_H_
