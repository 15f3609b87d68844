// Shared by the code generators of regions, in whatever form they generate.
#ifndef INGOT_COMPILER_CODEGEN_REGION_H_
#define INGOT_COMPILER_CODEGEN_REGION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
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

// How much memory a value takes; nothing for one that is left out. As above.
absl::StatusOr<size_t> KnownBytes(const relay::Value& value);

// Whether a value of `shape`, repeated to `result`, has one element for each
// index of the dimension `axis` alone, as a bias has along the channels.
bool RunsAlong(absl::Span<const int64_t> shape,
               absl::Span<const int64_t> result, size_t axis);

// The operators that a node of a region stands for: itself or, if it is a call
// of a composite, those in there.
struct RegionCall {
  std::vector<relay::Node*> nodes;  // operands before what reads them
  // The composite's parameters -> the values of the region they stand for.
  std::map<relay::Value, relay::Value> arguments;

  // The value in the region that an operand of `nodes` is.
  relay::Value Outside(const relay::Value& value) const;
  // The first operator with one of these names; null if there is none.
  const relay::Node* Find(const std::vector<std::string>& names) const;
  // The `n`-th operand of the operator `name` that is not made by one of
  // `nodes`, as that has it: in a composite a parameter, not yet what is
  // outside of it. Null if there is none.
  relay::Value Operand(const std::string& name, int n = 0) const;
};
RegionCall ReadCall(const relay::Module& module, const relay::Node& node);

// Whether a region holds the value itself, which then is none of its arguments:
// a constant of one element, unless the target owns all constants.
bool IsHeldByRegion(const relay::Value& value);

// For targets that go through f32 elements one by one: OkStatus if each operand
// of `node` has as many elements as its result, or one. Unimplemented or
// InvalidArgument otherwise, with a reason for people.
absl::Status CheckElementwise(const relay::Node& node);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_REGION_H_
