#include "runtime/plan/lives.h"

#include <cstdint>

namespace ingot {

std::vector<Life> FindLives(const Plan& plan) {
  std::vector<Life> lives(plan.tensors_size());
  const auto use = [&](uint32_t t, int call) {
    // A chain of views is no longer than the plan, whatever it says.
    for (int i = 0; i <= plan.tensors_size() && t < lives.size(); ++i) {
      if (lives[t].first < 0) lives[t].first = call;
      lives[t].last = call;
      const PlanTensor& tensor = plan.tensors(static_cast<int>(t));
      if (!tensor.has_view_of()) break;
      t = tensor.view_of();
    }
  };
  for (int i = 0; i < plan.calls_size(); ++i) {
    for (const uint32_t t : plan.calls(i).args()) use(t, i);
  }
  for (const uint32_t t : plan.outputs()) use(t, plan.calls_size());
  return lives;
}

}  // namespace ingot
