// Passes, as relay and tir both have them: a pass is a named rewriting of
// a unit of IR, and a list of them runs in order, each verified, timed and
// reported. `IR` is the unit (relay::Module, tir::PrimFunc); `Args` are what
// every pass of the IR gets besides.
#ifndef INGOT_COMPILER_PASS_PASS_H_
#define INGOT_COMPILER_PASS_PASS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace ingot {

template <typename IR, typename... Args>
struct Pass {
  std::string name;  // what command lines, tests and dumps call it
  std::string doc;   // one line
  // Rewrites the IR, which is valid before and after; returns whether anything
  // changed. A failure leaves it unspecified but safe to destroy.
  std::function<absl::StatusOr<bool>(IR*, Args...)> run;
};

template <typename IR, typename... Args>
struct PassEvent {
  int index;  // of the pass among those that run, from 1
  const Pass<IR, Args...>& pass;
  const IR& ir;  // afterwards
  bool changed;
  absl::Duration time;  // of the pass alone, without verifying
};

template <typename IR, typename... Args>
struct PassOptions {
  bool verify = true;
  // Asked before every pass; one that it says no to is left out. Null: all run.
  std::function<bool(const Pass<IR, Args...>&)> should_run;
  // Called after every pass, for --dump-ir and --time-passes. May be null. Not
  // called for a pass that failed.
  std::function<absl::Status(const PassEvent<IR, Args...>&)> after;
};

// Null when there is none.
template <typename P>
const P* FindPass(const std::vector<P>& all, absl::string_view name) {
  for (const P& pass : all) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

// The passes of these names, in this order. NotFound, with the names there are,
// for an unknown one.
template <typename P, typename Names>
absl::StatusOr<std::vector<const P*>> FindPasses(const std::vector<P>& all,
                                                 const Names& names) {
  std::vector<const P*> result;
  for (absl::string_view name : names) {
    result.push_back(FindPass(all, name));
    if (result.back() != nullptr) continue;
    return absl::NotFoundError(absl::StrCat(
        "there is no pass '", name, "'; there are: ",
        absl::StrJoin(all, ", ", [](std::string* out, const P& pass) {
          absl::StrAppend(out, pass.name);
        })));
  }
  return result;
}

// Runs the passes in order and calls `verify(*ir)` after each that changed it.
// An error begins with the name of the pass; what the verifier finds is
// Internal.
template <typename Verifier, typename IR, typename... Args>
absl::Status RunPasses(absl::Span<const Pass<IR, Args...>* const> passes,
                       const Verifier& verify,
                       const PassOptions<IR, Args...>& options, IR* ir,
                       Args... args) {
  for (size_t i = 0; i < passes.size(); ++i) {
    const Pass<IR, Args...>& pass = *passes[i];
    if (options.should_run != nullptr && !options.should_run(pass)) continue;
    const absl::Time start = absl::Now();
    const absl::StatusOr<bool> changed = pass.run(ir, args...);
    const absl::Duration time = absl::Now() - start;
    if (!changed.ok()) {
      return absl::Status(
          changed.status().code(),
          absl::StrCat("pass ", pass.name, ": ", changed.status().message()));
    }
    if (options.verify && *changed) {
      const absl::Status valid = verify(*ir);
      if (!valid.ok()) {
        return absl::InternalError(
            absl::StrCat("after pass ", pass.name, ": ", valid.message()));
      }
    }
    if (options.after == nullptr) continue;
    INGOT_RETURN_IF_ERROR(
        options.after({static_cast<int>(i) + 1, pass, *ir, *changed, time}));
  }
  return absl::OkStatus();
}

}  // namespace ingot

#endif  // INGOT_COMPILER_PASS_PASS_H_
