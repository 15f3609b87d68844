#include "runtime/plan/lives.h"

#include <cstdint>
#include <optional>

#include "runtime/plan/views.h"

namespace ingot {

std::vector<Life> FindLives(const Plan& plan) {
  std::vector<Life> lives(plan.tensors_size());
  const auto use = [&](uint32_t t, int call) {
    // A chain of views and parts is no longer than the plan, whatever it says.
    for (int i = 0; i <= plan.tensors_size() && t < lives.size(); ++i) {
      if (lives[t].first < 0) lives[t].first = call;
      lives[t].last = call;
      const std::optional<uint32_t> viewed =
          ViewedBy(plan.tensors(static_cast<int>(t)));
      if (!viewed) break;
      t = *viewed;
    }
  };
  for (int i = 0; i < plan.calls_size(); ++i) {
    for (const uint32_t t : plan.calls(i).args()) use(t, i);
  }
  for (const uint32_t t : plan.outputs()) use(t, plan.calls_size());
  return lives;
}

}  // namespace ingot
