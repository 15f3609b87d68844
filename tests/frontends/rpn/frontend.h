#ifndef INGOT_TESTS_FRONTENDS_RPN_FRONTEND_H_
#define INGOT_TESTS_FRONTENDS_RPN_FRONTEND_H_

#include "absl/status/status.h"
#include "compiler/frontends/frontend.h"

namespace ingot::rpn {

// Formulas in reverse Polish notation as models, to show how little a frontend
// is. A file begins with the word rpn; then `x:f32[n,3]` is an input, a number
// a constant of the type of the value before it, `reshape` takes the shape that
// is on the stack, `shape` gives one, and every other word is an operator of
// relay on one value or two. What is left on the stack is the result.
absl::Status RegisterRpnFrontend(FrontendRegistry* registry);

}  // namespace ingot::rpn

#endif  // INGOT_TESTS_FRONTENDS_RPN_FRONTEND_H_
