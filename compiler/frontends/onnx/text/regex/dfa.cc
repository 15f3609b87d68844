#include "compiler/frontends/onnx/text/regex/dfa.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/text/regex/parser.h"
#include "compiler/frontends/onnx/text/regex/program.h"

namespace ingot::regex {
namespace {

constexpr int kMaxStates = 8192;
// Elements of the table.
constexpr int64_t kMaxTable = 1 << 20;
// Steps looked at: bounds time and memory.
constexpr int64_t kMaxWork = 4000000;

// The neighbour of a place in the text, before or after it, as assertions see
// it.
enum class Side : uint8_t { kEdge, kNewline, kWord, kOther };

Side SideOf(int byte) {
  if (byte == '\n') return Side::kNewline;
  const bool word =
      byte < 0x80 &&
      (absl::ascii_isalnum(static_cast<unsigned char>(byte)) || byte == '_');
  return word ? Side::kWord : Side::kOther;
}

bool Holds(Assertion assertion, Side before, Side after) {
  const bool boundary = (before == Side::kWord) != (after == Side::kWord);
  switch (assertion) {
    case Assertion::kTextStart:
      return before == Side::kEdge;
    case Assertion::kTextEnd:
      return after == Side::kEdge;
    case Assertion::kLineStart:
      return before == Side::kEdge || before == Side::kNewline;
    case Assertion::kLineEnd:
      return after == Side::kEdge || after == Side::kNewline;
    case Assertion::kWordBoundary:
      return boundary;
    case Assertion::kNoWordBoundary:
      return !boundary;
  }
  return false;
}

// Steps that may come next, in order: no kEither, and those assertions that
// wait for the byte after them.
using Steps = std::vector<int>;

struct State {
  Steps steps;
  Side before = Side::kOther;  // of no meaning without assertions
  bool operator==(const State& other) const {
    return before == other.before && steps == other.steps;
  }
  template <typename H>
  friend H AbslHashValue(H h, const State& state) {
    return H::combine(std::move(h), state.before, state.steps);
  }
};

class DfaMaker {
 public:
  explicit DfaMaker(const Program& program)
      : program_(program), seen_(program.steps.size(), 0) {}

  absl::StatusOr<Dfa> Make() {
    FindClasses();
    const int start = StateOf({program_.start}, Side::kEdge);
    if (start != 0) return absl::InternalError("the first state is not 0");
    for (size_t s = 0; s < states_.size(); ++s) {
      const State& state = *states_[s];
      dfa_.accepting.push_back(Accepts(state) ? 1 : 0);
      const size_t row = dfa_.next.size();
      dfa_.next.resize(row + dfa_.num_classes);
      // The steps that take a byte, for each side that it may be.
      std::map<Side, Steps> takers;
      for (int k = 0; k < dfa_.num_classes; ++k) {
        const Side after = SideOf(example_[k]);
        auto it = takers.find(after);
        if (it == takers.end()) {
          it = takers.emplace(after, Resolve(state, after)).first;
        }
        Steps targets;
        for (int step : it->second) {
          const Step& taker = program_.steps[step];
          if (taker.kind == Step::kByte && taker.range.low <= example_[k] &&
              example_[k] <= taker.range.high) {
            targets.push_back(taker.next);
          }
        }
        work_ += static_cast<int64_t>(it->second.size()) + 1;
        dfa_.next[row + k] = static_cast<uint16_t>(StateOf(targets, after));
      }
      const int64_t table =
          static_cast<int64_t>(states_.size()) * dfa_.num_classes;
      if (states_.size() > kMaxStates || table > kMaxTable ||
          work_ > kMaxWork) {
        return absl::UnimplementedError(
            absl::StrCat("the pattern is too large: it needs more than ",
                         std::min<size_t>(states_.size(), kMaxStates),
                         " states, of which at most ", kMaxStates, " (with ",
                         dfa_.num_classes, " classes of bytes) are supported"));
      }
    }
    return std::move(dfa_);
  }

 private:
  // Bytes that no step tells apart are of one class.
  void FindClasses() {
    std::vector<bool> starts(257, false);
    bool asserts = false;
    for (const Step& step : program_.steps) {
      if (step.kind == Step::kByte && step.range.low <= step.range.high) {
        starts[step.range.low] = starts[step.range.high + 1] = true;
      }
      asserts = asserts || step.kind == Step::kAssert;
    }
    for (int b = 0; b < 256; ++b) {
      const bool differs = b > 0 && asserts && SideOf(b) != SideOf(b - 1);
      if (b == 0 || starts[b] || differs) {
        example_.push_back(b);
        ++dfa_.num_classes;
      }
      dfa_.class_of.push_back(static_cast<uint8_t>(dfa_.num_classes - 1));
    }
  }

  // Adds `first` and what comes next without a byte. Assertions that `holds`
  // does not decide are added themselves.
  template <typename Decide>
  void Follow(int first, const Decide& decide, Steps* steps) {
    std::vector<int> open = {first};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      ++work_;
      const Step& step = program_.steps[at];
      if (step.kind == Step::kEither) {
        open.push_back(step.other);
        open.push_back(step.next);
      } else if (step.kind == Step::kAssert && decide(step.assertion)) {
        open.push_back(step.next);
      } else {
        steps->push_back(at);
      }
    }
  }

  // The state's steps, with its assertions resolved: those left do not hold.
  Steps Resolve(const State& state, Side after) {
    ++round_;
    Steps steps;
    for (int step : state.steps) {
      Follow(
          step, [&](Assertion a) { return Holds(a, state.before, after); },
          &steps);
    }
    return steps;
  }

  bool Accepts(const State& state) {
    for (int step : Resolve(state, Side::kEdge)) {
      if (program_.steps[step].kind == Step::kMatch) return true;
    }
    return false;
  }

  int StateOf(const Steps& firsts, Side before) {
    ++round_;
    State state;
    const auto none_holds = [](Assertion) { return false; };
    for (int first : firsts) {
      Follow(first, none_holds, &state.steps);
    }
    work_ += static_cast<int64_t>(state.steps.size());
    std::sort(state.steps.begin(), state.steps.end());
    const bool asserts = std::any_of(
        state.steps.begin(), state.steps.end(),
        [&](int step) { return program_.steps[step].kind == Step::kAssert; });
    if (asserts) state.before = before;
    const auto [it, added] =
        numbers_.emplace(std::move(state), static_cast<int>(states_.size()));
    if (added) states_.push_back(&it->first);
    return it->second;
  }

  const Program& program_;
  // The round in which Follow last saw each step.
  std::vector<int64_t> seen_;
  int64_t round_ = 0, work_ = 0;
  std::vector<int> example_;  // a byte of each class
  // Many states have thousands of steps, most of them the same: a tree would
  // compare all of these again and again.
  absl::node_hash_map<State, int> numbers_;
  std::vector<const State*> states_;  // numbers_' keys
  Dfa dfa_;
};

}  // namespace

absl::StatusOr<Dfa> CompileRegex(absl::string_view pattern) {
  INGOT_ASSIGN_OR_RETURN(Syntax syntax, Parser(pattern).Parse());
  INGOT_ASSIGN_OR_RETURN(Program program, MakeProgram(syntax));
  return DfaMaker(program).Make();
}

}  // namespace ingot::regex
