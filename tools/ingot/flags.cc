#include "tools/ingot/flags.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/closest_names.h"
#include "base/status_macros.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

constexpr char kUsagePayload[] = "ingot/usage";

// `doc`, whose lines were broken for a wide page, in lines of a terminal.
// Indented lines are those of a list.
std::string Reflow(absl::string_view doc, size_t columns) {
  if (columns == kAnyWidth) return std::string(doc);
  std::vector<std::string> parts;
  for (const absl::string_view line : absl::StrSplit(doc, '\n')) {
    if (parts.empty() || absl::StartsWith(line, " ")) {
      parts.emplace_back(line);
    } else {
      absl::StrAppend(&parts.back(), " ", line);
    }
  }
  for (std::string& part : parts) {
    part = WrapAt(absl::StartsWith(part, " ") ? 6 : 0, part, columns);
  }
  return absl::StrJoin(parts, "\n");
}

std::string Spell(absl::string_view name) {
  return absl::StrCat(name.size() == 1 ? "-" : "--", name);
}

}  // namespace

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

FlagSet::FlagSet(absl::string_view command, std::vector<std::string> words,
                 absl::string_view doc)
    : command_(command),
      words_(std::move(words)),
      doc_(doc),
      budget_(DefaultBudget()) {}

// Help shows them after the subcommand's own.
void FlagSet::AddBudget() {
  flags_.push_back({"max-memory", "SIZE",
                    "memory to use at most, such as 512M or 4G; 0: any "
                    "[three quarters of the machine's]",
                    [this](absl::string_view given) {
                      absl::StatusOr<uint64_t> size = ParseSize(given);
                      if (!size.ok()) {
                        return UsageError(absl::StrCat(
                            "--max-memory: ", size.status().message()));
                      }
                      budget_.memory = *size;
                      return absl::OkStatus();
                    }});
  Double("max-seconds", "N", "time to take at most; 0: any", &budget_.seconds);
}

std::string FlagSet::Flag::Spelling() const { return Spell(name); }

void FlagSet::String(absl::string_view name, absl::string_view value,
                     absl::string_view help, std::string* out) {
  std::string text(help);
  if (!out->empty()) absl::StrAppend(&text, " [", *out, "]");
  flags_.push_back({std::string(name), std::string(value), std::move(text),
                    [out](absl::string_view given) {
                      *out = std::string(given);
                      return absl::OkStatus();
                    }});
}

void FlagSet::Strings(absl::string_view name, absl::string_view value,
                      absl::string_view help, std::vector<std::string>* out) {
  flags_.push_back({std::string(name), std::string(value),
                    absl::StrCat(help, " (may be repeated)"),
                    [out](absl::string_view given) {
                      out->emplace_back(given);
                      return absl::OkStatus();
                    },
                    /*repeated=*/true});
}

void FlagSet::Bool(absl::string_view name, absl::string_view help, bool* out) {
  flags_.push_back(
      {std::string(name), "", std::string(help), [out](absl::string_view) {
         *out = true;
         return absl::OkStatus();
       }});
}

void FlagSet::Int(absl::string_view name, absl::string_view value,
                  absl::string_view help, int64_t min, int64_t max,
                  int64_t* out) {
  const std::string spelling = Spell(name);
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  flags_.push_back({std::string(name), std::string(value),
                    *out == kNoLimit ? std::string(help)
                                     : absl::StrCat(help, " [", *out, "]"),
                    [out, min, max, spelling](absl::string_view given) {
                      int64_t number = 0;
                      if (!absl::SimpleAtoi(given, &number) || number < min ||
                          number > max) {
                        return UsageError(absl::StrCat(
                            spelling, "=", given,
                            " is not a whole number from ", min,
                            max == kNoLimit ? std::string(" up")
                                            : absl::StrCat(" to ", max)));
                      }
                      *out = number;
                      return absl::OkStatus();
                    }});
}

void FlagSet::Double(absl::string_view name, absl::string_view value,
                     absl::string_view help, double* out) {
  const std::string spelling = Spell(name);
  std::string text(help);
  if (*out >= 0) absl::StrAppend(&text, " [", absl::StrFormat("%g", *out), "]");
  flags_.push_back(
      {std::string(name), std::string(value), std::move(text),
       [out, spelling](absl::string_view given) {
         double number = 0;
         if (!absl::SimpleAtod(given, &number) || !std::isfinite(number) ||
             number < 0) {
           return UsageError(absl::StrCat(
               spelling, "=", given,
               " is not a number that is finite and not negative"));
         }
         *out = number;
         return absl::OkStatus();
       }});
}

void FlagSet::Required() { flags_.back().required = true; }

FlagSet::Flag* FlagSet::Find(absl::string_view name) {
  for (Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

bool FlagSet::Given(absl::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return flag.given;
  }
  return false;
}

absl::Status FlagSet::SetFlag(absl::string_view argument,
                              absl::Span<const std::string> rest,
                              size_t* used) {
  const bool is_long = absl::StartsWith(argument, "--");
  absl::string_view name = argument.substr(is_long ? 2 : 1);
  const size_t equals = name.find('=');
  const bool has_value = equals != absl::string_view::npos;
  const absl::string_view value = has_value ? name.substr(equals + 1) : "";
  name = name.substr(0, equals);

  Flag* flag = (name.size() == 1) == is_long ? nullptr : Find(name);
  if (flag == nullptr) {
    std::vector<std::string> known;
    for (const Flag& f : flags_) known.push_back(f.Spelling());
    const std::string given = absl::StrCat(is_long ? "--" : "-", name);
    const std::string hint = DidYouMean(given, known);
    return UsageError(absl::StrCat("there is no flag ", given,
                                   hint.empty() ? "" : "; ", hint,
                                   " (see ingot help ", command_, ")"));
  }
  if (flag->given && !flag->repeated) {
    return UsageError(absl::StrCat(flag->Spelling(), " is given twice"));
  }
  flag->given = true;
  if (flag->value.empty()) {
    if (has_value) {
      return UsageError(
          absl::StrCat(flag->Spelling(), " is a switch and takes no value"));
    }
    return flag->set("");
  }
  absl::string_view given = value;
  if (!has_value && name.size() == 1 && !rest.empty()) {
    given = rest[0];
    *used = 1;
  }
  if (given.empty()) {
    return UsageError(absl::StrCat(flag->Spelling(),
                                   " needs a value: ", flag->Spelling(),
                                   name.size() == 1 ? " " : "=", flag->value));
  }
  return flag->set(given);
}

absl::StatusOr<bool> FlagSet::Parse(absl::Span<const std::string> args) {
  AddBudget();
  bool only_words = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (only_words || arg.size() < 2 || arg[0] != '-') {
      given_words_.push_back(arg);
    } else if (arg == "--") {
      only_words = true;
    } else if (arg == "--help" || arg == "-h") {
      const std::string help = Help(WidthOf(stdout));
      fwrite(help.data(), 1, help.size(), stdout);
      return false;
    } else {
      size_t used = 0;
      INGOT_RETURN_IF_ERROR(SetFlag(arg, args.subspan(i + 1), &used));
      i += used;
    }
  }
  if (given_words_.size() != words_.size()) {
    if (given_words_.size() > words_.size()) {
      return UsageError(absl::StrCat("does not know what to do with '",
                                     given_words_[words_.size()],
                                     "' (see ingot help ", command_, ")"));
    }
    return UsageError(absl::StrCat("needs ", words_[given_words_.size()],
                                   " (see ingot help ", command_, ")"));
  }
  for (const std::string& word : given_words_) {
    if (word.empty()) return UsageError("got an empty word for a file");
  }
  for (const Flag& flag : flags_) {
    if (flag.required && !flag.given) {
      return UsageError(absl::StrCat(
          "needs ", flag.Spelling(), flag.name.size() == 1 ? " " : "=",
          flag.value, " (see ingot help ", command_, ")"));
    }
  }
  INGOT_RETURN_IF_ERROR(StartBudget(budget_));
  return true;
}

std::string FlagSet::Help(size_t columns) const {
  std::string text = absl::StrCat("Usage: ingot ", command_);
  for (const std::string& word : words_) absl::StrAppend(&text, " ", word);
  std::vector<std::pair<std::string, const Flag*>> rows;
  size_t width = 0;
  for (const Flag& flag : flags_) {
    std::string left = flag.Spelling();
    if (!flag.value.empty()) {
      absl::StrAppend(&left, flag.name.size() == 1 ? " " : "=", flag.value);
    }
    if (flag.required) absl::StrAppend(&text, " ", left);
    width = std::max(width, left.size());
    rows.emplace_back(std::move(left), &flag);
  }
  absl::StrAppend(&text, " [flags]\n\n", Reflow(doc_, columns), "\n\nFlags:\n");
  for (const auto& [left, flag] : rows) {
    absl::StrAppend(&text, "  ", left,
                    std::string(width - left.size() + 2, ' '),
                    WrapAt(width + 4, flag->help, columns), "\n");
  }
  return text;
}

}  // namespace ingot
