// The text of a graph, as its loader and its inspector read it.
#ifndef MY_GRAPH_GRAPH_H_
#define MY_GRAPH_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace acme {

struct Graph {
  std::string symbol;
  std::vector<int64_t> shape;
  int64_t elements = 0;
  std::vector<std::string> ops;
};

// The text may come from anywhere: InvalidArgument names the line.
absl::StatusOr<Graph> ReadGraph(absl::string_view text);

}  // namespace acme

#endif  // MY_GRAPH_GRAPH_H_
