// The flags of one subcommand. Abseil's are global to a program, so that two
// subcommands could not have a flag of one name with two meanings.

#ifndef INGOT_TOOLS_INGOT_FLAGS_H_
#define INGOT_TOOLS_INGOT_FLAGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/ingot/budget.h"

namespace ingot {

// InvalidArgument, marked as a mistake in the words of the call: the program
// then exits with 2 and not with 1.
absl::Status UsageError(absl::string_view message);
bool IsUsageError(const absl::Status& status);

// The words of a subcommand: positional words, and flags written --name=value,
// --name (true or false) or, for a name of one letter, -o value. After "--"
// everything is positional. Every subcommand has the flags of its budget.
class FlagSet {
 public:
  // `words` are the positional arguments' names, all of which are needed, such
  // as {"SET"}. `doc` is what help says after the line of usage.
  FlagSet(absl::string_view command, std::vector<std::string> words,
          absl::string_view doc);

  // Each flag's variable holds its default and must outlive Parse. `value`
  // names the value in help: "FILE".
  void String(absl::string_view name, absl::string_view value,
              absl::string_view help, std::string* out);
  // May be given several times.
  void Strings(absl::string_view name, absl::string_view value,
               absl::string_view help, std::vector<std::string>* out);
  void Bool(absl::string_view name, absl::string_view help, bool* out);
  void Int(absl::string_view name, absl::string_view value,
           absl::string_view help, int64_t min, int64_t max, int64_t* out);
  // Finite and not negative.
  void Double(absl::string_view name, absl::string_view value,
              absl::string_view help, double* out);
  // The flag defined last must be given.
  void Required();

  // Sets the variables, and puts the budget in force. False when help was asked
  // for and has been printed: nothing else is to be done. UsageError for
  // everything that is off.
  absl::StatusOr<bool> Parse(absl::Span<const std::string> args);

  // True after Parse if the flag was given.
  bool Given(absl::string_view name) const;

  const std::string& word(size_t i) const { return given_words_[i]; }

  // For a terminal of so many columns.
  std::string Help(size_t columns) const;

  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

 private:
  struct Flag {
    std::string name;
    std::string value;  // empty: a switch
    std::string help;
    std::function<absl::Status(absl::string_view)> set;
    bool repeated = false;
    bool required = false;
    bool given = false;

    std::string Spelling() const;  // "--name" or "-o"
  };

  void AddBudget();
  Flag* Find(absl::string_view name);
  absl::Status SetFlag(absl::string_view argument,
                       absl::Span<const std::string> rest, size_t* used);

  std::string command_;
  std::vector<std::string> words_;
  std::string doc_;
  std::vector<Flag> flags_;
  std::vector<std::string> given_words_;
  Budget budget_;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_FLAGS_H_
