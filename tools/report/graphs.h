// A plan as graphs to draw.
#ifndef INGOT_TOOLS_REPORT_GRAPHS_H_
#define INGOT_TOOLS_REPORT_GRAPHS_H_

#include "nlohmann/json.hpp"
#include "runtime/plan/plan.pb.h"

namespace ingot::report {

// A graph for the plan and one for each body in it, however deep; the plan's is
// the first. The plan must be a checked one (runtime/plan/check.h). A graph is
//
//   {"name": of the plan,
//    "inputs": [tensors], "outputs": [tensors],
//    "tensors": [{"n": name, "y": type, "b": bytes where they are known,
//                 "c": key of a constant, "v": what it is a view of,
//                 "st": storage, "off": bytes from its beginning,
//                 "first", "last": calls between which it is in use}],
//    "storage": [bytes, or null where inputs decide],
//    "use": [bytes of storage that are in use at each call, and at the end, as
//            far as no input decides],
//    "calls": [{"f": function, or what else it does, "op": a short form of it,
//               "step": whether it is no function, "s": the model's nodes,
//               "i": what it reads, "r": what it writes: tensors,
//               "d": target key of its device,
//               "bodies": [graphs], "b": bytes that it reads and writes,
//               "ops": operations, where they are known}]}
nlohmann::ordered_json DescribeGraphs(const Plan& plan);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_GRAPHS_H_
