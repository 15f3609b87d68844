#include "compiler/relay/einsum.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "compiler/relay/dim.h"

namespace ingot::relay {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// A term's labels. A dimension of "..." is labelled by a negative number, -1
// for the last, so that ellipses of different lengths line up at the right.
absl::StatusOr<std::vector<int>> ParseTerm(absl::string_view term,
                                           int ellipsis_rank) {
  std::vector<int> labels;
  bool seen = false;
  for (size_t p = 0; p < term.size(); ++p) {
    if (term[p] == ' ') continue;
    if (term.substr(p, 3) == "...") {
      if (seen) return Invalid("'...' stands twice in '", term, "'");
      seen = true;
      for (int d = ellipsis_rank; d > 0; --d) labels.push_back(-d);
      p += 2;
    } else if (absl::ascii_isalpha(static_cast<unsigned char>(term[p]))) {
      labels.push_back(term[p]);
    } else {
      return Invalid("'", term, "' is not a list of labels");
    }
  }
  return labels;
}

// The operands' terms of an equation, and what they say of the labels.
struct Operands {
  std::vector<std::vector<int>> labels;  // of each operand's dimensions
  std::map<int, Dim> extents;            // of labels
  std::map<int, int> uses;
  int ellipsis = 0;  // the most dimensions of a "..."
};

absl::StatusOr<Operands> ReadOperands(absl::string_view equation,
                                      absl::string_view left,
                                      absl::Span<const Shape> shapes,
                                      std::vector<DimAssumption>* assumed) {
  const std::vector<absl::string_view> terms = absl::StrSplit(left, ',');
  if (terms.size() != shapes.size()) {
    return Invalid("the equation '", equation, "' has ", terms.size(),
                   " terms for ", shapes.size(), " operands");
  }
  Operands in;
  for (size_t t = 0; t < terms.size(); ++t) {
    int named = 0;
    for (char ch : terms[t]) {
      named += absl::ascii_isalpha(static_cast<unsigned char>(ch)) ? 1 : 0;
    }
    const int rank = static_cast<int>(shapes[t].size());
    const bool dots = terms[t].find("...") != absl::string_view::npos;
    if (named > rank || (!dots && named != rank)) {
      return Invalid("term '", terms[t], "' does not fit operand ", t,
                     " of rank ", rank);
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<int> term,
                           ParseTerm(terms[t], rank - named));
    if (dots) in.ellipsis = std::max(in.ellipsis, rank - named);
    for (size_t d = 0; d < term.size(); ++d) {
      ++in.uses[term[d]];
      auto [it, added] = in.extents.emplace(term[d], shapes[t][d]);
      if (added || tir::IsConstInt(shapes[t][d], 1)) continue;
      if (tir::IsConstInt(it->second, 1)) {
        it->second = shapes[t][d];
      } else if (!MayBeEqual(it->second, shapes[t][d], assumed)) {
        return Invalid("the operands differ in a dimension of '", equation,
                       "'");
      }
    }
    in.labels.push_back(std::move(term));
  }
  return in;
}

}  // namespace

absl::StatusOr<EinsumPlan> PlanEinsum(absl::string_view equation,
                                      absl::Span<const Shape> shapes,
                                      std::vector<DimAssumption>* assumed) {
  const size_t arrow = equation.find("->");
  const bool explicit_output = arrow != absl::string_view::npos;
  INGOT_ASSIGN_OR_RETURN(
      const Operands in,
      ReadOperands(equation, equation.substr(0, arrow), shapes, assumed));
  std::vector<int> output;
  if (explicit_output) {
    INGOT_ASSIGN_OR_RETURN(output,
                           ParseTerm(equation.substr(arrow + 2), in.ellipsis));
  } else {
    for (int d = in.ellipsis; d > 0; --d) output.push_back(-d);
    for (const auto& [label, count] : in.uses) {
      if (label > 0 && count == 1) output.push_back(label);
    }
  }
  EinsumPlan plan;
  std::map<int, EinsumPlan::Source> sources;
  for (int label : output) {
    auto extent = in.extents.find(label);
    EinsumPlan::Source source;
    source.index = static_cast<int>(plan.output.size());
    if (extent == in.extents.end() || !sources.emplace(label, source).second) {
      return Invalid("the result of '", equation,
                     "' has a label twice, or one that no operand has");
    }
    plan.output.push_back(extent->second);
  }
  for (const auto& [label, extent] : in.extents) {
    EinsumPlan::Source source;
    source.reduced = true;
    source.index = static_cast<int>(plan.summed.size());
    if (sources.emplace(label, source).second) plan.summed.push_back(extent);
  }
  for (size_t t = 0; t < in.labels.size(); ++t) {
    std::vector<EinsumPlan::Source> operand;
    for (size_t d = 0; d < in.labels[t].size(); ++d) {
      EinsumPlan::Source source = sources[in.labels[t][d]];
      source.broadcast = tir::IsConstInt(shapes[t][d], 1);
      operand.push_back(source);
    }
    plan.operands.push_back(std::move(operand));
  }
  return plan;
}

}  // namespace ingot::relay
