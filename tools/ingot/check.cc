#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "loaders/choose_variant.h"
#include "loaders/target_keys.h"
#include "runtime/host_cpu.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

// The answer about one target key, or about a loader.
struct Answer {
  std::string subject;
  std::string needs;
  absl::Status runs;
  std::string note;  // of one that runs
};

std::string SubjectOf(const Provenance::TargetKey& key) {
  return absl::StrCat("target key ", key.name());
}

std::string VerdictOf(const Answer& answer) {
  if (!answer.runs.ok()) return "refused";
  return answer.note.empty() ? "optimal" : "runs";
}

std::string NeedsOf(const Provenance::TargetKey& key) {
  if (key.triple().empty()) return "a C compiler, when it is linked";
  return absl::StrCat(key.triple(), key.cpu_features().empty() ? "" : " with ",
                      absl::StrJoin(key.cpu_features(), " "));
}

std::string NoteOn(const std::vector<std::string>& unused,
                   absl::string_view cpu) {
  if (unused.empty()) return "";
  return absl::StrCat(cpu, " also has ", absl::StrJoin(unused, ", "),
                      ", which the code does not use");
}

// The answers for this machine: what loading would say.
std::vector<Answer> CheckHere(const Provenance& provenance) {
  std::vector<Answer> answers;
  const std::vector<TargetKeyCheck> checks = CheckTargetKeys(provenance);
  for (size_t i = 0; i < checks.size(); ++i) {
    const auto& key = provenance.target_keys(static_cast<int>(i));
    answers.push_back({SubjectOf(key), NeedsOf(key), checks[i].runs_here,
                       key.triple().empty()
                           ? "it is C, which is compiled when it is linked"
                           : NoteOn(UnusedVectorUnits(key, HostCpuFeatures()),
                                    "this machine")});
  }
  return answers;
}

// The answers for the processor of that name, which some key's family has.
absl::StatusOr<std::vector<Answer>> CheckOn(const std::string& cpu,
                                            const Provenance& provenance,
                                            Compiler* compiler) {
  std::vector<Answer> answers;
  absl::Status unknown;
  bool is_known = false;
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    Answer answer = {SubjectOf(key), NeedsOf(key), absl::OkStatus(),
                     "it is C, which is compiled when it is linked"};
    if (!key.triple().empty()) {
      const absl::StatusOr<std::set<std::string>> features =
          compiler->CpuFeatures(key.triple(), cpu);
      is_known = is_known || features.ok();
      if (features.ok()) {
        answer.runs = CheckTargetKeyOn(key, cpu, *features);
        answer.note = NoteOn(UnusedVectorUnits(key, *features), cpu);
      } else {
        unknown.Update(features.status());
        answer.runs = absl::FailedPreconditionError(
            absl::StrCat(key.triple(), " has no processor ", cpu));
      }
    }
    answers.push_back(std::move(answer));
  }
  if (!is_known && !unknown.ok()) {
    return UsageError(absl::StrCat("--cpu=", cpu, ": ", unknown.message()));
  }
  return answers;
}

// Whether what was said of the keys lets a variant be loaded, and which; an
// answer of each is added. The name is empty if the set has none.
absl::StatusOr<std::string> CheckVariantsOf(const ArtifactSet& set,
                                            const LoaderRegistry& loaders,
                                            std::vector<Answer>* answers) {
  if (set.provenance().variants().empty()) return "";
  std::map<std::string, absl::Status> keys;
  for (const Answer& answer : *answers) keys[answer.subject] = answer.runs;
  const std::vector<VariantCheck> checks =
      CheckVariants(set, loaders, [&keys](const Provenance::TargetKey& key) {
        return keys[SubjectOf(key)];
      });
  absl::StatusOr<std::string> best = BestVariant(set.provenance(), checks);
  for (const VariantCheck& check : checks) {
    const bool is_best = best.ok() && check.name == *best;
    answers->push_back(
        {absl::StrCat("variant ", check.name), "", check.runs,
         is_best || !best.ok() ? "" : absl::StrCat(*best, " is better")});
  }
  return best;
}

// Adds those loaders that no part of this program is.
absl::Status AddLoaders(const ArtifactSet& set, const Builtins& builtins,
                        std::vector<Answer>* answers) {
  std::set<std::string> seen;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader == kNativeLoader ||
        !seen.insert(artifact.loader).second) {
      continue;
    }
    const absl::Status found = builtins.loaders.Find(artifact.loader).status();
    if (found.ok()) continue;
    // The other program may have it.
    if (builtins.compiler == nullptr) {
      return NeedsCompiler(absl::StrCat("needs the loader '", artifact.loader,
                                        "', which this program has not"));
    }
    answers->push_back({absl::StrCat("loader ", artifact.loader),
                        ArtifactPath(artifact), found, ""});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunCheck(Args args, const Backends& backends) {
  FlagSet flags(
      "check", {"SET"},
      "Says whether a set can run on this machine, without loading it: whether "
      "the processor has what its code needs, and the program its loaders. "
      "\"optimal\" is code that uses the widest vectors that the processor "
      "has. Of a set with variants, names the one that loading takes. Fails if "
      "loading would.");
  std::string cpu;
  flags.String("cpu", "NAME",
               "ask about that processor, by LLVM's name for it, and not about "
               "this machine's",
               &cpu);
  bool json = false;
  flags.Bool("json", "end with one JSON object", &json);
  ReadOptions read;
  AddAcceptEdits(&flags, &read.accept_edits);
  SignatureFlags signature;
  signature.AddTo(&flags);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  INGOT_ASSIGN_OR_RETURN(Builtins builtins, MakeBuiltins(backends));
  if (!cpu.empty() && builtins.compiler == nullptr) {
    return NeedsCompiler("only the compiler knows other processors");
  }
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kShow, builtins, read, signature);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  const Provenance& provenance = set->provenance();
  std::vector<Answer> answers;
  if (cpu.empty()) {
    answers = CheckHere(provenance);
  } else {
    INGOT_ASSIGN_OR_RETURN(answers,
                           CheckOn(cpu, provenance, builtins.compiler));
  }
  const absl::StatusOr<std::string> variant =
      CheckVariantsOf(*set, builtins.loaders, &answers);
  INGOT_RETURN_IF_ERROR(AddLoaders(*set, builtins, &answers));

  Table table({"PART", "VERDICT", "WHY", "NEEDS"});
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  std::vector<std::string> refused;
  for (const Answer& answer : answers) {
    const std::string why(answer.runs.ok() ? answer.note
                                           : answer.runs.message());
    table.Add({answer.subject, VerdictOf(answer), why, answer.needs});
    parts.push_back({{"part", answer.subject},
                     {"verdict", VerdictOf(answer)},
                     {"why", why},
                     {"needs", answer.needs}});
    if (!answer.runs.ok()) {
      refused.push_back(absl::StrCat(answer.subject, ": ", why));
    }
  }
  Print(answers.empty() ? "The set has no code of its own.\n"
                        : table.ToString());
  nlohmann::ordered_json answer = {{"parts", std::move(parts)}};
  if (variant.ok() && !variant->empty()) {
    Print(absl::StrCat("Loading takes the variant ", *variant, ".\n"));
    answer["variant"] = *variant;
  }
  if (json) PrintJson(std::move(answer));
  // One variant is enough.
  if (refused.empty() || (variant.ok() && !variant->empty())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      flags.word(0), ": cannot run on ", cpu.empty() ? "this machine" : cpu,
      ": ", absl::StrJoin(refused, "; ")));
}

}  // namespace ingot
