// Operators of models that another program knows.
#ifndef INGOT_BACKENDS_EXTERNAL_OPERATORS_H_
#define INGOT_BACKENDS_EXTERNAL_OPERATORS_H_

#include <memory>
#include <vector>

#include "backends/external/connection.h"
#include "compiler/frontends/frontend.h"

namespace ingot::external {

// Those that the other side describes, which keep the connection.
std::vector<CustomOperator> Operators(std::shared_ptr<Connection> connection);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_OPERATORS_H_
