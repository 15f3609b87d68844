#include "tests/fuzz/onnx/save_case.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tests/fuzz/onnx/protos.h"

namespace ingot::fuzz {
namespace {

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

std::string AttributeText(const onnx::AttributeProto& a) {
  std::string value = a.has_f()   ? absl::StrCat(a.f())
                      : a.has_i() ? absl::StrCat(a.i())
                      : a.has_s() ? a.s()
                      : a.has_g() ? "graph"
                      : a.has_t() ? "tensor"
                                  : "";
  if (a.ints_size() > 0) value = absl::StrJoin(a.ints(), ",");
  if (a.floats_size() > 0) value = absl::StrJoin(a.floats(), ",");
  if (a.strings_size() > 0) value = absl::StrJoin(a.strings(), ",");
  return absl::StrCat(a.name(), "=", value);
}

}  // namespace

absl::Status SaveCase(const OnnxModel& model, const Way& way,
                      const std::string& note, const std::string& dir) {
  const std::string data = absl::StrCat(dir, "/test_data_set_0");
  std::error_code error;
  std::filesystem::create_directories(data, error);
  const OnnxModel form = FormOf(model, way);
  const onnx::ModelProto& proto = form.proto;
  INGOT_RETURN_IF_ERROR(
      WriteText(absl::StrCat(dir, "/model.onnx"), proto.SerializeAsString()));
  for (int k = 0; k < proto.graph().input_size(); ++k) {
    const std::string& name = proto.graph().input(k).name();
    INGOT_RETURN_IF_ERROR(
        WriteText(absl::StrCat(data, "/input_", k, ".pb"),
                  ToProto(name, form.inputs.at(name)).SerializeAsString()));
  }
  INGOT_RETURN_IF_ERROR(WriteText(absl::StrCat(dir, "/note.txt"),
                                  absl::StrCat(note, "\n", Describe(model))));
  INGOT_ASSIGN_OR_RETURN(const Scope expected, ExpectedOf(form));
  for (int k = 0; k < proto.graph().output_size(); ++k) {
    const std::string& name = proto.graph().output(k).name();
    INGOT_RETURN_IF_ERROR(
        WriteText(absl::StrCat(data, "/output_", k, ".pb"),
                  ToProto(name, expected.at(name).value).SerializeAsString()));
  }
  return absl::OkStatus();
}

std::string Describe(const OnnxModel& model) {
  std::string text = absl::StrCat("opset ", OpsetOf(model.proto), "\n");
  std::map<std::string, std::string> types;
  for (const auto& [name, tensor] : model.inputs) {
    types[name] = "input " + tensor.TypeString();
  }
  for (const auto& weight : model.proto.graph().initializer()) {
    const Tensor tensor = FromProto(weight);
    types[weight.name()] = "const " + tensor.TypeString();
  }
  const absl::StatusOr<Scope> scope =
      EvaluateModel(model.proto, model.inputs, 1);
  for (const auto& node : model.proto.graph().node()) {
    for (const std::string& name : node.output()) {
      if (!scope.ok() || scope->count(name) == 0) continue;
      types[name] = scope->at(name).value.TypeString();
    }
  }
  for (const auto& node : model.proto.graph().node()) {
    const auto typed = [&](std::string* out, const std::string& name) {
      absl::StrAppend(out, name, name.empty() ? "-" : ": ", types[name]);
    };
    absl::StrAppend(&text, "  ", absl::StrJoin(node.output(), ", ", typed),
                    " = ", node.op_type(), "(",
                    absl::StrJoin(node.input(), ", ", typed), ")");
    for (const auto& attribute : node.attribute()) {
      absl::StrAppend(&text, " ", AttributeText(attribute));
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace ingot::fuzz
