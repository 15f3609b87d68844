#include "tools/ingot/compile_flags.h"

namespace ingot {

void CompileFlags::AddTo(FlagSet* flags) {
  flags->String("target", "TARGET",
                "what to compile for, such as 'llvm -mcpu=native' or "
                "'dnnl,llvm'; see ingot targets. Several variants, 'a: llvm; "
                "b: llvm -mcpu=x86-64-v4', share one set",
                &target);
  flags->Strings("input-shape", "NAME:1x3x224x224",
                 "fixes the shape of an input", &input_shapes);
  flags->Strings("state", "PAST:PRESENT:LENGTH",
                 "inputs that stay from run to run, the outputs that are their "
                 "next values, and the most entries that they can have; a * "
                 "stands for the same text in both names",
                 &states);
  flags->Strings("pin", "NODE:TARGET",
                 "gives a node of the model to a target, by key or kind",
                 &pins);
  flags->String("strict", "TARGET", "fail if this target does not take it all",
                &strict);
  flags->Strings("backend", "PROGRAM",
                 "a program with targets and inspectors of its own", &backends);
  flags->Int("opt-level", "N",
             "0: only what is needed, 1: fold and fuse, 2: also lay out", 0, 2,
             &opt_level);
  flags->String("tuning-log", "LOG",
                "takes the parameters of kernels' schedules from what ingot "
                "tune measured, where it measured the same kernel for the same "
                "processor",
                &tuning_log);
  flags->Bool("reproducible",
              "results have the same bits on every machine and with any number "
              "of threads: gives every target its option -reproducible",
              &reproducible);
}

}  // namespace ingot
