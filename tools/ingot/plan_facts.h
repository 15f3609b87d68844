// What a plan comes to, in a few facts.
#ifndef INGOT_TOOLS_INGOT_PLAN_FACTS_H_
#define INGOT_TOOLS_INGOT_PLAN_FACTS_H_

#include <map>
#include <string>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Its inputs, outputs and states with types, symbols with bounds, devices, how
// many calls, views and bodies there are, and the storage that values share, by
// names for people. The plan may come from anywhere and need not be valid.
std::map<std::string, std::string> PlanFacts(const Plan& plan);

// The place at which two plans first call something else: "call 3" of which
// each calls what *in_a and *in_b get ("nothing" after its last call). Empty
// when there is none.
std::string FirstOtherCall(const Plan& a, const Plan& b, std::string* in_a,
                           std::string* in_b);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_PLAN_FACTS_H_
