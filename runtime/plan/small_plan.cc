#include "runtime/plan/small_plan.h"

#include <cstdint>
#include <cstdlib>

#include "google/protobuf/text_format.h"

namespace ingot {

Plan SmallPlan() {
  Plan plan;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 7
        entry: "model"
        devices { kind: "cpu" }
        symbols { name: "N" }
        phases { symbols: 0 }
        types {
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
        }
        tensors { name: "x" type: 0 input: 0 }
        types {
          dtype { code: 2 bits: 32 }
          shape { value: 4 }
        }
        tensors { name: "w" type: 1 constant: "w" }
        types {
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
        }
        tensors { name: "y" type: 2 storage: 0 }
        inputs: 0
        outputs: 2
        storage {
          bytes {
            op: MUL
            operands { op: SYMBOL }
            operands { value: 16 }
          }
        }
        calls {
          function: "f"
          args: 0
          args: 1
          args: 2
          num_outputs: 1
          source: "n1"
        }
      )pb",
      &plan);
  if (!parsed) std::abort();
  return plan;
}

void NumberTypes(Plan* plan) {
  for (int i = 0; i < plan->tensors_size(); ++i) {
    plan->mutable_tensors(i)->set_type(static_cast<uint32_t>(i));
  }
  for (Plan& body : *plan->mutable_bodies()) NumberTypes(&body);
}

}  // namespace ingot
