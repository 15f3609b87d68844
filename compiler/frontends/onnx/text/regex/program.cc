#include "compiler/frontends/onnx/text/regex/program.h"

#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::regex {
namespace {

constexpr int kMaxSteps = 50000;
// Visits of syntax, of which those that add no step (the empty string, a
// thousand times) would go on for long, too.
constexpr int kMaxVisits = 500000;

// Each function gives the first step of what it adds, after which comes
// `next`. Once there are too many steps nothing is right any more.
class ProgramMaker {
 public:
  absl::StatusOr<Program> Make(const Syntax& syntax) {
    const int match = Add(Step());
    program_.start = Visit(syntax, match);
    if (TooMuch()) {
      return absl::UnimplementedError(
          absl::StrCat("the pattern is too large: it needs more than ",
                       kMaxSteps, " steps"));
    }
    return std::move(program_);
  }

 private:
  bool TooMuch() const {
    return program_.steps.size() > kMaxSteps || visits_ > kMaxVisits;
  }

  int Add(const Step& step) {
    program_.steps.push_back(step);
    return static_cast<int>(program_.steps.size()) - 1;
  }

  int Either(int next, int other) {
    Step step;
    step.kind = Step::kEither;
    step.next = next;
    step.other = other;
    return Add(step);
  }

  int Byte(ByteRange range, int next) {
    Step step;
    step.kind = Step::kByte;
    step.range = range;
    step.next = next;
    return Add(step);
  }

  int Visit(const Syntax& s, int next) {
    ++visits_;
    if (TooMuch()) return next;
    switch (s.kind) {
      case Syntax::kRunes:
        return Runes(s.runes, next);
      case Syntax::kAnyByte:
        return Byte({0, 255}, next);
      case Syntax::kAssertion: {
        Step step;
        step.kind = Step::kAssert;
        step.assertion = s.assertion;
        step.next = next;
        return Add(step);
      }
      case Syntax::kConcat:
        for (size_t i = s.parts.size(); i-- > 0;)
          next = Visit(s.parts[i], next);
        return next;
      case Syntax::kAlternate: {
        int first = Visit(s.parts.back(), next);
        for (size_t i = s.parts.size() - 1; i-- > 0;) {
          first = Either(Visit(s.parts[i], next), first);
        }
        return first;
      }
      case Syntax::kRepeat:
        return Repeat(s, next);
    }
    return next;
  }

  int Repeat(const Syntax& s, int next) {
    const Syntax& part = s.parts[0];
    int first = next;
    if (s.max == Syntax::kNoLimit) {
      first = Either(0, next);
      const int again = Visit(part, first);
      program_.steps[first].next = again;
    }
    for (int i = s.min; i < s.max && !TooMuch(); ++i) {
      first = Either(Visit(part, first), next);
    }
    for (int i = 0; i < s.min && !TooMuch(); ++i) first = Visit(part, first);
    return first;
  }

  // Sequences share the ends that they have in common.
  int Runes(const RuneSet& runes, int next) {
    std::map<std::tuple<int, int, int>, int> known;
    int first = -1;
    for (const ByteSequence& sequence : Utf8Sequences(runes)) {
      int step = next;
      for (size_t i = sequence.size(); i-- > 0;) {
        const auto key =
            std::make_tuple(sequence[i].low, sequence[i].high, step);
        auto it = known.find(key);
        if (it == known.end()) {
          it = known.emplace(key, Byte(sequence[i], step)).first;
        }
        step = it->second;
      }
      first = first < 0 ? step : Either(step, first);
    }
    // No code point at all: a byte that there is not.
    return first < 0 ? Byte({1, 0}, next) : first;
  }

  Program program_;
  int visits_ = 0;
};

}  // namespace

absl::StatusOr<Program> MakeProgram(const Syntax& syntax) {
  return ProgramMaker().Make(syntax);
}

}  // namespace ingot::regex
