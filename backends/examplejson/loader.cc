#include "backends/examplejson/loader.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/call_spec.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

// One line of the text: a value, and how it comes to be.
struct Entry {
  char op;  // the first letter of input, const, add, sub and mul
  TensorSpec type;
  size_t elements;
  std::vector<size_t> operands;
  std::vector<float> constant;
};

struct Graph {
  std::string name;
  std::vector<Entry> entries;  // operands come before what reads them
  std::vector<size_t> outputs;
  CallSpec spec;
};

using Words = std::vector<absl::string_view>;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

class Parser {
 public:
  absl::StatusOr<Graph> Parse(const std::string& text) {
    int line = 0;
    for (absl::string_view each : absl::StrSplit(text, '\n')) {
      ++line;
      const Words words =
          absl::StrSplit(each, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
      if (words.empty() || words[0][0] == '#') continue;
      if (absl::Status s = Line(words); !s.ok()) {
        return Error("line ", line, ": ", s.message());
      }
    }
    // Without a line that says so, the last result is the output.
    if (graph_.outputs.empty() && !graph_.entries.empty() &&
        graph_.entries.back().op != 'i') {
      graph_.outputs.push_back(graph_.entries.size() - 1);
    }
    if (graph_.outputs.empty()) {
      return Error("line ", line, ": the graph has no output");
    }
    for (size_t i : graph_.outputs) {
      graph_.spec.outputs.push_back(graph_.entries[i].type);
    }
    return std::move(graph_);
  }

 private:
  absl::Status Line(const Words& words) {
    // The words behind each "…:", and under "" those in front of the first.
    std::map<absl::string_view, Words> parts{{"", {}}};
    absl::string_view part;
    for (absl::string_view word : words) {
      if (absl::EndsWith(word, ":")) part = word;
      parts[part].push_back(word);
    }
    const Words& head = parts[""];
    if (graph_.name.empty()) {
      graph_.name = std::string(words[0]);
      if (words.size() == 1 && head.size() == 1) return absl::OkStatus();
      return Error("the first line must be the graph's name");
    }
    if (!graph_.outputs.empty()) return Error("a line behind the outputs");
    if (!head.empty() && head[0] == "outputs") {
      return Ids(head, 1, &graph_.outputs);
    }
    const bool input = words[0] == "input", constant = words[0] == "const";
    if (!input && !constant && words[0] != "add" && words[0] != "sub" &&
        words[0] != "mul") {
      return Error("what is '", words[0], "'?");
    }
    Entry entry{words[0][0], {DataType::Float(32), {}}, 0, {}, {}};
    absl::Status s =
        Numbers(absl::SimpleAtoi<int64_t>, input ? head : parts["shape:"],
                input ? 2 : 1, &entry.type.shape);
    if (!s.ok()) return s;
    const auto bytes = CountBytes(entry.type.dtype, entry.type.shape);
    if (!bytes.ok()) return bytes.status();
    entry.elements = *bytes / sizeof(float);
    if (constant) {
      s = Numbers(absl::SimpleAtof, parts["values:"], 1, &entry.constant);
      if (s.ok() && entry.constant.size() != entry.elements) {
        s = Error("there must be ", entry.elements, " values");
      }
    } else if (input) {
      graph_.spec.inputs.push_back(entry.type);
    } else {
      s = Ids(parts["inputs:"], 1, &entry.operands);
      if (entry.operands.size() != 2)
        s.Update(Error("there must be two inputs"));
    }
    for (size_t i : entry.operands) {
      const size_t n = graph_.entries[i].elements;
      if (n == entry.elements || n == 1) continue;
      s.Update(Error("an input of ", n, " elements does not fit a result of ",
                     entry.elements));
    }
    if (!s.ok()) return s;
    int id;
    if (head.size() < 2 || !absl::SimpleAtoi(head[1], &id) || id < 0 ||
        !ids_.emplace(absl::StrCat(id), graph_.entries.size()).second) {
      return Error(words[0], " needs an id of its own, a number from 0 on");
    }
    graph_.entries.push_back(std::move(entry));
    return absl::OkStatus();
  }

  // The numbers in words[from, …).
  template <typename T, typename Parse>
  static absl::Status Numbers(Parse parse, const Words& words, size_t from,
                              std::vector<T>* out) {
    for (size_t i = from; i < words.size(); ++i) {
      if (!parse(words[i], &out->emplace_back())) {
        return Error("'", words[i], "' is no number that can stand here");
      }
    }
    return absl::OkStatus();
  }

  // The values of words[from, …). They are there already, so there is no cycle.
  absl::Status Ids(const Words& words, size_t from, std::vector<size_t>* out) {
    for (size_t i = from; i < words.size(); ++i) {
      auto it = ids_.find(std::string(words[i]));
      if (it == ids_.end()) {
        return Error("'", words[i], "' is no id of a line above");
      }
      out->push_back(it->second);
    }
    return out->empty() ? Error("there is no id") : absl::OkStatus();
  }

  Graph graph_;
  std::map<std::string, size_t> ids_;
};

absl::Status Run(const Graph& graph, absl::Span<const TVMFFIAny> args) {
  auto arguments = CheckCall(graph.name, graph.spec, args);
  if (!arguments.ok()) return arguments.status();
  void** next_input = arguments->data();
  void** const outputs = next_input + graph.spec.inputs.size();
  // Where each value is; a result that is an output is made there.
  std::vector<float*> at(graph.entries.size());
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    at[graph.outputs[k]] = static_cast<float*>(outputs[k]);
  }
  std::vector<Tensor> memory;
  for (size_t i = 0; i < at.size(); ++i) {
    const Entry& entry = graph.entries[i];
    if (entry.op == 'i') at[i] = static_cast<float*>(*next_input++);
    if (entry.op == 'c') at[i] = const_cast<float*>(entry.constant.data());
    if (entry.operands.empty()) continue;
    if (at[i] == nullptr) {
      auto tensor = Tensor::Empty(entry.type.dtype, entry.type.shape);
      if (!tensor.ok()) return tensor.status();
      memory.push_back(*std::move(tensor));
      at[i] = memory.back().mutable_data<float>();
    }
    const size_t left = entry.operands[0], right = entry.operands[1];
    const bool one_a = graph.entries[left].elements == 1;
    const bool one_b = graph.entries[right].elements == 1;
    for (size_t e = 0; e < entry.elements; ++e) {
      const float a = at[left][one_a ? 0 : e], b = at[right][one_b ? 0 : e];
      at[i][e] = entry.op == 'a' ? a + b : entry.op == 's' ? a - b : a * b;
    }
  }
  // Inputs and constants that are outputs, and results that are two of them.
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const size_t i = graph.outputs[k];
    if (outputs[k] == at[i]) continue;
    memcpy(outputs[k], at[i], graph.entries[i].elements * sizeof(float));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<Module>> loadbinary_examplejson(
    absl::Span<const Artifact> group, LoadContext& context) {
  auto module = std::make_shared<TableModule>("examplejson");
  for (const Artifact& artifact : group) {
    absl::StatusOr<Graph> parsed =
        Parser().Parse(std::string(artifact.content.view()));
    if (!parsed.ok()) {
      return Error(artifact.file_name, ": ", parsed.status().message());
    }
    auto graph = std::make_shared<const Graph>(*std::move(parsed));
    const auto run = [graph](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
      return Run(*graph, args);
    };
    absl::Status added = module->Add(graph->name, Function::FromLambda(run));
    if (!added.ok()) return added;
    if (context.set.artifacts().size() == 1) {
      context.plan = PlanOfCall(graph->name, graph->spec);
    }
  }
  return module;
}

absl::Status RegisterExamplejsonLoader(LoaderRegistry* registry) {
  return registry->Register("examplejson", loadbinary_examplejson);
}

}  // namespace ingot
