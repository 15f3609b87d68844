#include "tools/ingot/bisect_report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

// One word of a shell.
std::string Quoted(absl::string_view word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// The flags that shape what is compiled, as words of a shell.
std::string FlagsText(const CompileFlags& flags,
                      const std::vector<std::string>& replacements) {
  std::string text = absl::StrCat(" --target=", Quoted(flags.target));
  const auto add = [&text](absl::string_view name,
                           const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      absl::StrAppend(&text, " --", name, "=", Quoted(value));
    }
  };
  add("input-shape", flags.input_shapes);
  add("pin", flags.pins);
  add("state", flags.states);
  add("backend", flags.backends);
  add("replace", replacements);
  if (!flags.tuning_log.empty()) {
    absl::StrAppend(&text, " --tuning-log=", Quoted(flags.tuning_log));
  }
  if (flags.opt_level != CompileFlags().opt_level) {
    absl::StrAppend(&text, " --opt-level=", flags.opt_level);
  }
  if (flags.reproducible) absl::StrAppend(&text, " --reproducible");
  return text;
}

std::string NodesText(const Finding& finding) {
  if (finding.nodes.empty()) return "";
  return absl::StrCat(finding.is_between_nodes
                          ? "The first wrong value is of no node of the model; "
                            "next to it is "
                          : "The first wrong node is ",
                      absl::StrJoin(finding.nodes, ", "), ". ");
}

std::string KernelText(const Finding& finding) {
  return absl::StrCat(
      "Kernel ", finding.symbol,
      finding.artifacts.empty()
          ? ""
          : absl::StrCat(" in ", absl::StrJoin(finding.artifacts, ", ")),
      " is wrong on right operands: ", finding.problem,
      ". The passes over the model left it right");
}

// What is wrong, and what was found to be right before it.
std::string VerdictText(const Finding& f, const BisectSubject& subject) {
  switch (f.culprit) {
    case Culprit::kImport:
      return absl::StrCat(
          "The interpreter, which defines what operators mean, gives of the "
          "model as it was read what the compiled code gives: ",
          f.problem,
          ". So it is the frontend that reads the model, the definition of an "
          "operator, or the data and the tolerance that it is compared with.");
    case Culprit::kModulePass:
      return absl::StrCat(
          "Pass ", f.pass, ", number ", f.pass_number, " of ",
          subject.passes().size(),
          ", changes what the model means: ", f.problem,
          f.value.empty() ? "" : absl::StrCat(" (its value %", f.value, ")"),
          ". The model is right before that pass, and each kernel computes "
          "what the model then says.");
    case Culprit::kLowering:
      return absl::StrCat(
          KernelText(f),
          "; its loops are wrong as they are first made, by the definition of "
          "an operator under a schedule.");
    case Culprit::kLoopPass:
      return absl::StrCat(KernelText(f), "; its loops are right until pass ",
                          f.pass, " changes them.");
    case Culprit::kCode:
      if (!f.blind.empty()) {
        return absl::StrCat(KernelText(f),
                            "; its loops call other code, so that they and the "
                            "code made from them cannot be told apart (",
                            f.blind, ").");
      }
      return absl::StrCat(
          KernelText(f),
          f.has_loops
              ? ", and its loops, too, to the last pass over them; the code "
                "is not what they say."
              : "; its target made the code right from the model's nodes.");
    case Culprit::kPlan:
      return absl::StrCat(
          "Each kernel computes what it should on the operands that it gets, "
          "and the passes over the model are right: ",
          f.problem,
          ". So it is what lies between the kernels: the plan, the storage "
          "that values share, or the weights in the set.");
  }
  return "";
}

// Commands, with what each shows.
std::vector<std::pair<std::string, std::string>> Commands(
    const Finding& f, absl::string_view path, const std::string& flags) {
  const std::string model = Quoted(path);
  const std::string compile = absl::StrCat("ingot compile ", model, flags,
                                           " -o bisect.ingot --dump-ir=ir");
  std::vector<std::pair<std::string, std::string>> commands;
  switch (f.culprit) {
    case Culprit::kImport:
      commands.emplace_back(
          absl::StrCat("ingot verify ", model, flags,
                       " --per-node --values=DIR --test-data=DIR"),
          "each value beside what another runtime computed");
      break;
    case Culprit::kModulePass:
      commands.emplace_back(compile, absl::StrCat("ir/*_", f.pass,
                                                  ".relay is the model after "
                                                  "it, the file before that "
                                                  "the one before it"));
      commands.emplace_back(
          absl::StrCat("ingot opt ir/BEFORE.relay --passes=", f.pass),
          "the pass alone");
      break;
    case Culprit::kPlan:
      commands.emplace_back(compile, "");
      commands.emplace_back("ingot dump bisect.ingot -o bisect",
                            "the plan and the weights");
      break;
    default:
      commands.emplace_back(
          compile, f.has_loops ? absl::StrCat("the loops after each pass are "
                                              "in ir/tir/",
                                              f.symbol)
                               : "");
      for (const std::string& artifact : f.artifacts) {
        commands.emplace_back(
            absl::StrCat("ingot inspect bisect.ingot --artifact=",
                         Quoted(artifact)),
            "the code");
      }
  }
  return commands;
}

}  // namespace

std::string FindingText(const Finding& finding, const BisectSubject& subject,
                        absl::string_view path, const CompileFlags& flags,
                        const std::vector<std::string>& replacements) {
  std::string text;
  if (finding.against_interpreter) {
    text =
        "The interpreter does not give the expected outputs either, so what "
        "follows is about where the compiled code gives others than it. ";
  }
  text = OneLine(
      absl::StrCat(text, NodesText(finding), VerdictText(finding, subject)));
  if (finding.may_be_rounding) {
    absl::StrAppend(&text,
                    " The outputs are off by a thousandth of their largest "
                    "number at most, which may be rounding: --rtol-max=1e-3 "
                    "bears that.");
  }
  absl::StrAppend(&text, "\nTo see more:\n");
  for (const auto& [command, shows] :
       Commands(finding, path, FlagsText(flags, replacements))) {
    absl::StrAppend(&text, "  ", OneLine(command), shows.empty() ? "" : "  # ",
                    OneLine(shows), "\n");
  }
  return text;
}

std::string FindingLine(const Finding& f) {
  std::string line = ToString(f.culprit);
  if (!f.pass.empty()) absl::StrAppend(&line, " ", f.pass);
  if (!f.symbol.empty()) absl::StrAppend(&line, " of kernel ", f.symbol);
  absl::StrAppend(&line, " is wrong");
  if (!f.nodes.empty()) {
    absl::StrAppend(&line, f.is_between_nodes ? " next to node " : " for node ",
                    absl::StrJoin(f.nodes, ", "));
  }
  return line;
}

nlohmann::ordered_json FindingJson(const std::optional<Finding>& finding,
                                   int runs) {
  nlohmann::ordered_json json = {{"ok", !finding.has_value()}, {"runs", runs}};
  if (!finding.has_value()) return json;
  json["culprit"] = ToString(finding->culprit);
  json["nodes"] = finding->nodes;
  if (finding->is_between_nodes) json["is_between_nodes"] = true;
  json["problem"] = finding->problem;
  if (!finding->pass.empty()) json["pass"] = finding->pass;
  if (finding->pass_number > 0) json["pass_number"] = finding->pass_number;
  if (!finding->value.empty()) json["value"] = finding->value;
  if (!finding->symbol.empty()) {
    json["kernel"] = finding->symbol;
    json["artifacts"] = finding->artifacts;
  }
  json["against_interpreter"] = finding->against_interpreter;
  json["may_be_rounding"] = finding->may_be_rounding;
  return json;
}

}  // namespace ingot
