#ifndef INGOT_COMPILER_TIR_PRINTER_H_
#define INGOT_COMPILER_TIR_PRINTER_H_

#include <string>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// The text form, for people and for files. parser.h reads it back:
// Print(Parse(Print(f))) == Print(f).
//
//   func @fused_add(%a: f32[n, 64], %b: f32[64]) -> (%out: f32[n, 64])
//       workspace(%w: f32[1024]) attrs("kernel" = "add") {
//     parallel i in [0, n) {
//       vectorized j in [0, 64) {
//         %out[i, j] = max(%a[i, j] + %b[j], 0.0f)
//       }
//     }
//   }
//
// Grammar ({x} any number of times, [x] perhaps, "…" literally):
//
//   function  = "func" "@" (name | string) buffers "->" buffers
//               ["workspace" buffers] ["attrs" "(" {string "=" string ","} ")"]
//               block
//   buffers   = "(" [buffer {"," buffer}] ")"
//   buffer    = "%" name ":" type "[" [expr {"," expr}] "]"
//   block     = "{" {statement} "}"
//   statement = ("for" | "parallel" | "vectorized" | "unrolled" | "block" |
//                "thread") name "in" "[" expr "," ["+"] expr ")" block
//             | "%" name "[" … "]" "=" expr
//             | "let" name ":" type "=" expr
//             | "alloc" buffer ["stack" | "shared" | "registers"]
//             | "if" expr block ["else" (block | statement that is an if)]
//             | "while" expr block
//             | "eval" expr
//             | block
//   expr      = operators, loosest first:  ||  &&  |  ^  &  == !=  < <= > >=
//               << >>  + -  * / // %  and before an operand  - ! ~
//             | number | "true" | "false" | "inf" | "nan" | name
//             | "%" name "[" … "]"                           a load
//             | type "(" expr ")"                            a cast
//             | ("min" | "max" | "rem") "(" expr "," expr ")"
//             | "select" "(" expr "," expr "," expr ")"
//             | "ramp" "(" base "," stride "," lanes ")"
//             | "broadcast" "(" expr "," lanes ")"
//             | intrinsic "(" expr {"," expr} ")"
//             | "(" expr ")"
//
// A % with a name right after it starts a buffer's name, any other % is the
// operator. A # starts a comment up to the end of the line. `let` and `alloc`
// reach to the end of their block. [a, +e) is e iterations from a on. // and %
// round towards minus infinity; / is the true or the truncating division, rem
// its remainder. A variable of the parameters' shapes is a symbolic dimension.
// Buffers in `workspace(…)` and those of `alloc` without another word are
// workspaces.
//
// Numbers: 3 is i64, 0.5 is f64 and 0.5f is f32; other types are casts, which
// fold: u8(3), f16(0.5). Floats print with the fewest digits that read back to
// the same value.

// All of them are pure and may be called from any thread. Names that occur for
// two things, or that the grammar cannot read back, get a suffix.
std::string Print(const PrimFunc& func);
std::string Print(const Stmt& s);
std::string Print(const Expr& e);

// One line that shows what kind of statement it is, without its body.
std::string PrintHead(const Stmt& s);

// "0.5f", "f16(0.5)": as Print prints a FloatImm.
std::string PrintFloat(DataType type, double value);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_PRINTER_H_
