// The JSON form of a graph. It has a line for each tensor and each node, so
// that a person can read and compare files:
//
//   {"format": "ingot-dnnl", "version": 1,
//    "symbol": "m_region_0",
//    "inputs": ["x"],
//    "outputs": ["y"],
//    "tensors": {
//     "w": {"shape": [8, 3, 3, 3], "constant": "conv.weight"},
//     "x": {"shape": [1, 3, 32, 32]},
//     "y": {"shape": [1, 8, 32, 32]}
//    },
//    "nodes": [
//     {"name": "conv", "op": "convolution", "inputs": ["x", "w"],
//      "output": "y", "attributes": {…}, "post_ops": [{"eltwise": "relu", …}]}
//    ]}
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/dnnl/graph.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace ingot::dnnl_backend {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "ingot-dnnl";
constexpr int64_t kVersion = 1;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// ---------------------------------------------------------------------- write

// On one line, with a space after colons and commas. Bytes that are no UTF-8
// cannot be in JSON; they become a replacement character.
std::string Line(const Json& json) {
  if (json.is_object() || json.is_array()) {
    std::string text = json.is_object() ? "{" : "[";
    const char* separator = "";
    for (auto it = json.begin(); it != json.end(); ++it) {
      absl::StrAppend(&text, separator);
      if (json.is_object()) absl::StrAppend(&text, Line(it.key()), ": ");
      absl::StrAppend(&text, Line(*it));
      separator = ", ";
    }
    return absl::StrCat(text, json.is_object() ? "}" : "]");
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToJson(const Attribute& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json ToJson(const PostOp& post) {
  if (!post.add.empty()) return {{"add", post.add}};
  return {
      {"eltwise", post.algorithm}, {"alpha", post.alpha}, {"beta", post.beta}};
}

Json ToJson(const Node& node) {
  Json json = {{"name", node.name},
               {"op", node.op},
               {"inputs", node.inputs},
               {"output", node.output}};
  if (!node.attributes.empty()) {
    Json& attributes = json["attributes"];
    for (const auto& [name, value] : node.attributes) {
      attributes[name] = ToJson(value);
    }
  }
  for (const PostOp& post : node.post_ops) {
    json["post_ops"].push_back(ToJson(post));
  }
  return json;
}

// ----------------------------------------------------------------------- read

// Reads members of one object, and keeps the first thing that was wrong.
class Reader {
 public:
  Reader(const Json& json, absl::Status* status)
      : json_(json), status_(status) {
    if (!json.is_object()) Fail("something is not an object");
  }

  const Json* Find(const char* name) {
    if (!json_.is_object()) return nullptr;
    auto it = json_.find(name);
    return it == json_.end() ? nullptr : &*it;
  }

  // A member that must be there and of that type; a default value if not.
  std::string String(const char* name) {
    const Json* json = Find(name);
    if (json != nullptr && json->is_string()) return json->get<std::string>();
    Fail(name, " must be a string");
    return "";
  }
  double Number(const char* name) {
    const Json* json = Find(name);
    if (json != nullptr && json->is_number()) return json->get<double>();
    Fail(name, " must be a number");
    return 0;
  }
  std::vector<std::string> Strings(const char* name) {
    std::vector<std::string> strings;
    for (const Json& item : Array(name)) {
      if (item.is_string()) {
        strings.push_back(item.get<std::string>());
      } else {
        Fail(name, " must hold strings");
      }
    }
    return strings;
  }
  Dims Ints(const char* name) {
    Dims ints;
    if (!ReadInts(Array(name), &ints)) Fail(name, " must hold integers");
    return ints;
  }
  const Json& Array(const char* name) {
    static const Json* const kNone = new Json(Json::array());
    const Json* json = Find(name);
    if (json != nullptr && json->is_array()) return *json;
    Fail(name, " must be an array");
    return *kNone;
  }
  const Json& Object(const char* name) {
    static const Json* const kNone = new Json(Json::object());
    const Json* json = Find(name);
    if (json != nullptr && json->is_object()) return *json;
    Fail(name, " must be an object");
    return *kNone;
  }

  static bool ReadInts(const Json& json, Dims* ints) {
    for (const Json& item : json) {
      if (!item.is_number_integer()) return false;
      ints->push_back(item.get<int64_t>());
    }
    return true;
  }

  template <typename... Parts>
  void Fail(const Parts&... parts) {
    if (status_->ok()) *status_ = Invalid(parts...);
  }

 private:
  const Json& json_;
  absl::Status* const status_;
};

Attribute ReadAttribute(const std::string& name, const Json& json,
                        Reader* reader) {
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  Dims ints;
  if (!json.is_array() || !Reader::ReadInts(json, &ints)) {
    reader->Fail("attribute ", name,
                 " is neither a number, nor a string, nor integers");
  }
  return ints;
}

Node ReadNode(const Json& json, absl::Status* status) {
  Reader reader(json, status);
  Node node;
  node.name = reader.String("name");
  node.op = reader.String("op");
  node.inputs = reader.Strings("inputs");
  node.output = reader.String("output");
  if (reader.Find("attributes") != nullptr) {
    for (const auto& item : reader.Object("attributes").items()) {
      node.attributes[item.key()] =
          ReadAttribute(item.key(), item.value(), &reader);
    }
  }
  if (reader.Find("post_ops") != nullptr) {
    for (const Json& item : reader.Array("post_ops")) {
      Reader post_reader(item, status);
      PostOp post;
      if (post_reader.Find("add") != nullptr) {
        post.add = post_reader.String("add");
        if (post.add.empty()) post_reader.Fail("add names no tensor");
      } else {
        post.algorithm = post_reader.String("eltwise");
        post.alpha = post_reader.Number("alpha");
        post.beta = post_reader.Number("beta");
      }
      node.post_ops.push_back(std::move(post));
    }
  }
  if (!status->ok()) {
    *status = Invalid("node ", node.name, ": ", status->message());
  }
  return node;
}

}  // namespace

std::string WriteGraph(const Graph& graph) {
  std::string text = absl::StrCat(
      "{\"format\": \"", kFormat, "\", \"version\": ", kVersion,
      ",\n \"symbol\": ", Line(graph.symbol),
      ",\n \"inputs\": ", Line(graph.inputs),
      ",\n \"outputs\": ", Line(graph.outputs), ",\n \"tensors\": {");
  const char* separator = "\n  ";
  for (const auto& [name, tensor] : graph.tensors) {
    Json json = {{"shape", tensor.shape}};
    if (!tensor.constant.empty()) json["constant"] = tensor.constant;
    absl::StrAppend(&text, separator, Line(name), ": ", Line(json));
    separator = ",\n  ";
  }
  absl::StrAppend(&text, "\n },\n \"nodes\": [");
  separator = "\n  ";
  for (const Node& node : graph.nodes) {
    absl::StrAppend(&text, separator, Line(ToJson(node)));
    separator = ",\n  ";
  }
  absl::StrAppend(&text, "\n ]}\n");
  return text;
}

absl::StatusOr<Graph> ReadGraph(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (json.is_discarded()) return Invalid("this is not JSON");
  absl::Status status;
  Reader reader(json, &status);
  if (reader.String("format") != kFormat) {
    return Invalid("format must be \"", kFormat, "\"");
  }
  const Json* version = reader.Find("version");
  if (version == nullptr || !version->is_number_integer() ||
      version->get<int64_t>() != kVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "only version ", kVersion, " of the format is known here"));
  }
  Graph graph;
  graph.symbol = reader.String("symbol");
  graph.inputs = reader.Strings("inputs");
  graph.outputs = reader.Strings("outputs");
  for (const auto& item : reader.Object("tensors").items()) {
    Reader tensor_reader(item.value(), &status);
    TensorDecl tensor;
    tensor.shape = tensor_reader.Ints("shape");
    if (tensor_reader.Find("constant") != nullptr) {
      tensor.constant = tensor_reader.String("constant");
      if (tensor.constant.empty()) tensor_reader.Fail("constant names no key");
    }
    if (!status.ok()) {
      return Invalid("tensor ", item.key(), ": ", status.message());
    }
    graph.tensors[item.key()] = std::move(tensor);
  }
  for (const Json& item : reader.Array("nodes")) {
    graph.nodes.push_back(ReadNode(item, &status));
    if (!status.ok()) return status;
  }
  if (!status.ok()) return status;
  INGOT_RETURN_IF_ERROR(CheckGraph(graph));
  return graph;
}

}  // namespace ingot::dnnl_backend
