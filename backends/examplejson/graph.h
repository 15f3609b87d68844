// The graph in an artifact, as the loader and the inspector read it.
#ifndef INGOT_BACKENDS_EXAMPLEJSON_GRAPH_H_
#define INGOT_BACKENDS_EXAMPLEJSON_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/call_spec.h"

namespace ingot::examplejson {

// A value, and how it comes to be.
struct Entry {
  std::string op;  // input, const, add, sub or mul
  TensorSpec type;
  int64_t elements;
  std::vector<size_t> operands;  // of add, sub and mul: two entries above
  std::vector<float> values;     // of const
};

struct Graph {
  std::string name;
  std::vector<Entry> entries;
  std::vector<size_t> outputs;
  std::map<std::string, size_t, std::less<>> ids;  // of the entries
  CallSpec spec;
};

// Reads the text, which may come from anywhere. InvalidArgument names the line.
absl::StatusOr<Graph> ReadGraph(absl::string_view text);

}  // namespace ingot::examplejson

#endif  // INGOT_BACKENDS_EXAMPLEJSON_GRAPH_H_
