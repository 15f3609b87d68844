#include "tools/ingot/verdict.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "tools/ingot/compare_text.h"

namespace ingot {
namespace {

// One output: a sequence tensor by tensor, if it has as many as it should.
absl::Status CheckOutput(const std::string& set, const std::string& name,
                         const TensorOrSequence& got,
                         const TensorOrSequence& expected, bool is_text,
                         const Tolerance& tolerance, Verdict* verdict) {
  const auto* tensor = std::get_if<Tensor>(&got);
  if (tensor != nullptr) {
    const Tensor& other = std::get<Tensor>(expected);
    absl::StatusOr<Comparison> comparison =
        is_text ? CompareText(*tensor, other)
                : Compare(*tensor, other, tolerance);
    if (!comparison.ok()) {
      return Annotate(comparison.status(), absl::StrCat("output '", name, "'"));
    }
    verdict->Add(set, name, other.TypeString(), *comparison);
    return absl::OkStatus();
  }
  const auto& a = std::get<TensorSequence>(got);
  const auto& b = std::get<TensorSequence>(expected);
  Comparison whole;
  if (a.TypeString() != b.TypeString()) {
    whole.problem = absl::StrCat("it is ", a.TypeString());
  }
  if (!whole.ok() || a.tensors.empty()) {
    verdict->Add(set, name, b.TypeString(), whole);
    return absl::OkStatus();
  }
  for (size_t k = 0; k < a.tensors.size(); ++k) {
    INGOT_RETURN_IF_ERROR(CheckOutput(set, absl::StrCat(name, ".", k),
                                      a.tensors[k], b.tensors[k], is_text,
                                      tolerance, verdict));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Case> ReadCase(const TestDataSet& set,
                              absl::Span<const TensorInfo> inputs,
                              absl::Span<const TensorInfo> outputs) {
  if (set.outputs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(set.name, ": has no output_0.pb to compare with"));
  }
  Case read;
  read.name = set.name;
  INGOT_ASSIGN_OR_RETURN(read.inputs, ReadValueFiles(set.inputs, inputs));
  INGOT_ASSIGN_OR_RETURN(
      read.outputs, ReadValueFiles(set.outputs, outputs, &read.text_outputs));
  return read;
}

Verdict::Verdict()
    : table_({"SET", "OUTPUT", "TYPE", ">MAX ABS ERR", ">MAX REL ERR",
              ">MISMATCHES", "VERDICT"}) {}

void Verdict::Add(const std::string& set, const std::string& name,
                  const std::string& type, const Comparison& c) {
  table_.Add({set, name, type, HumanNumber(c.max_abs_err),
              HumanNumber(c.max_rel_err),
              absl::StrCat(c.mismatches, " of ", c.elements),
              c.ok() ? "ok" : absl::StrCat("WRONG: ", c.problem)});
  outputs_.push_back({{"set", set},
                      {"name", name},
                      {"type", type},
                      {"elements", c.elements},
                      {"mismatches", c.mismatches},
                      {"max_abs_err", c.max_abs_err},
                      {"max_rel_err", c.max_rel_err},
                      {"ok", c.ok()}});
  ++compared_;
  if (!c.ok() && wrong_++ == 0) {
    first_ = absl::StrCat(set, ", output '", name, "': ", c.problem);
  }
  if (!c.ok()) {
    const double part = c.max_abs_err / c.largest;  // not a number for 0 / 0
    max_wrong_part_ =
        std::max(max_wrong_part_, c.is_rounded && part <= 1 ? part : 1);
  }
  elements_ += c.elements;
  mismatches_ += c.mismatches;
  max_abs_err_ = std::max(max_abs_err_, c.max_abs_err);
  max_rel_err_ = std::max(max_rel_err_, c.max_rel_err);
}

nlohmann::ordered_json Verdict::Json(size_t sets, const Tolerance& t) const {
  nlohmann::ordered_json json = {{"ok", wrong_ == 0},
                                 {"sets", sets},
                                 {"elements", elements_},
                                 {"mismatches", mismatches_},
                                 {"max_abs_err", max_abs_err_},
                                 {"max_rel_err", max_rel_err_},
                                 {"rtol", t.rtol},
                                 {"atol", t.atol}};
  if (t.rtol_max.has_value()) json["rtol_max"] = *t.rtol_max;
  json["outputs"] = outputs_;
  return json;
}

absl::Status Verdict::ToStatus() const {
  if (wrong_ == 0) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(wrong_, " of ", compared_,
                   " outputs are not as they should be; first ", first_));
}

std::string Verdict::RoundingHint() const {
  for (const char* const tolerance : {"1e-6", "1e-5", "1e-4", "1e-3"}) {
    if (max_wrong_part_ == 0 || max_wrong_part_ > std::atof(tolerance))
      continue;
    return absl::StrCat("; an error of ", HumanNumber(max_wrong_part_),
                        " of an output's largest number may be rounding, which "
                        "--rtol-max=",
                        tolerance, " bears");
  }
  return "";
}

absl::Status CompareOutputs(const Case& expected,
                            absl::Span<const TensorInfo> declared,
                            absl::Span<const TensorOrSequence> got,
                            const Tolerance& tolerance, Verdict* verdict) {
  if (declared.size() != expected.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", declared.size(), " outputs, and there ",
                     "are ", expected.outputs.size(), " to compare with"));
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    if (got[i].index() != expected.outputs[i].index()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", declared[i].name, "' is a ",
                       declared[i].TypeString(), " here and not there"));
    }
    INGOT_RETURN_IF_ERROR(CheckOutput(
        expected.name, declared[i].name, got[i], expected.outputs[i],
        expected.text_outputs.count(i) > 0, tolerance, verdict));
  }
  return absl::OkStatus();
}

absl::Status CompareOutputs(const Case& expected, const GraphExecutor& executor,
                            const Tolerance& tolerance, Verdict* verdict) {
  std::vector<TensorOrSequence> got;
  for (size_t i = 0; i < executor.outputs().size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(TensorOrSequence output, executor.GetOutputValue(i));
    got.push_back(std::move(output));
  }
  return CompareOutputs(expected, executor.outputs(), got, tolerance, verdict);
}

}  // namespace ingot
