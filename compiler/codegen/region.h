// What the code generators of regions share, whatever they make.
#ifndef INGOT_COMPILER_CODEGEN_REGION_H_
#define INGOT_COMPILER_CODEGEN_REGION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"

namespace ingot::codegen {

// Adds an artifact to what a code generator made.
void AddArtifact(absl::string_view codegen_id, absl::string_view loader,
                 absl::string_view file_name, std::string content,
                 CodegenResult* result);

// The dimensions of a value. InvalidArgument unless they are all known.
absl::StatusOr<std::vector<int64_t>> KnownShape(const relay::TensorType& type);

// The number of a value's elements. InvalidArgument unless it is known, and an
// int64.
absl::StatusOr<int64_t> KnownElements(const relay::TensorType& type);

// For targets that go through f32 elements one by one: OkStatus if each operand
// of `node` has as many elements as its result, or one. Unimplemented or
// InvalidArgument otherwise, with a reason for people.
absl::Status CheckElementwise(const relay::Node& node);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_REGION_H_
