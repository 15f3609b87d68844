#include "runtime/plan/small_plan.h"

#include <cstdlib>

#include "google/protobuf/text_format.h"

namespace ingot {

Plan SmallPlan() {
  Plan plan;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 5
        entry: "model"
        devices { kind: "cpu" }
        symbols { name: "N" }
        phases { symbols: 0 }
        tensors {
          name: "x"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
          input: 0
        }
        tensors {
          name: "w"
          dtype { code: 2 bits: 32 }
          shape { value: 4 }
          constant: "w"
        }
        tensors {
          name: "y"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
          storage: 0
        }
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

}  // namespace ingot
