#include "tools/export_c/build_files.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"

namespace ingot {
namespace {

// $0: the library, $1: its objects.
constexpr char kMakefile[] =
    R"(# make CC=arm-none-eabi-gcc AR=arm-none-eabi-ar CFLAGS="-O2 -mcpu=cortex-m7 ..."
CC ?= cc
AR ?= ar
CFLAGS ?= -O2

# The code is written for these. With -ffp-contract=off a product and a sum are
# rounded one after the other on every machine, so that all give the same bits.
MODEL_FLAGS = -std=c99 -fwrapv -ffp-contract=off -fno-math-errno \
	-fno-trapping-math -fno-strict-aliasing -ffunction-sections -fdata-sections

OBJECTS = $1

lib$0.a: $$(OBJECTS)
	rm -f $$@
	$$(AR) rcs $$@ $$(OBJECTS)

%.o: %.c $0.h
	$$(CC) $$(CFLAGS) $$(MODEL_FLAGS) -c -o $$@ $$<

clean:
	rm -f lib$0.a $$(OBJECTS)

.PHONY: clean
)";

// $0: the library, $1: its sources.
constexpr char kCMakeLists[] = R"(cmake_minimum_required(VERSION 3.13)
project($0 C)

add_library($0 STATIC
  $1)
target_include_directories($0 PUBLIC $${CMAKE_CURRENT_SOURCE_DIR})
set_property(TARGET $0 PROPERTY C_STANDARD 99)
# With -ffp-contract=off all machines give the same bits.
target_compile_options($0 PRIVATE
  -fwrapv -ffp-contract=off -fno-math-errno -fno-trapping-math
  -fno-strict-aliasing -ffunction-sections -fdata-sections)
)";

// $0: the model, $1: the prefix, $2: in capitals, $3: RAM, $4: ROM, $5: the
// table of parts, $6: the one of tensors.
constexpr char kReadme[] = R"(# $0 as C

The model as plain C99, made by Ingot. It needs a C compiler, `string.h` and `math.h`: no heap, no threads, no files, no
operating system.

| file | what it has |
| --- | --- |
| `$1.h` | the functions, and the sizes as constants |
| `$1_kernels.c` | the kernels, and `$1_run`, which calls them |
| `$1_weights.c` | the weights, a constant array for read-only memory |
| `$1_arena.c`, `$1_arena.h` | the static arena |
| `Makefile`, `CMakeLists.txt` | both build `lib$1.a` |

```c
#include "$1.h"
#include "$1_arena.h"

if ($1_run(/* inputs, outputs, */ $1_arena) != 0) puts($1_last_error());
```

Several models can be in one program: all names that a linker sees begin with `$1_`. A program that has another place for the
arena leaves `$1_arena.c` out and passes memory of its own, of $2_ARENA_BYTES bytes at a multiple of $2_ARENA_ALIGNMENT
(of 8 will do where vectors need no more). Models that never run at the same time may share one.

## Memory

$3 bytes of RAM and $4 bytes of ROM, beside the code and the stack. `-fstack-usage` tells what the stack needs, `size` what the
code does.

$5
The largest tensors. Those of the arena share memory, so their sizes add up to more than it has.

$6
## Numbers

The code gives the same bits as on the machine where the model was tried, if the compiler rounds each operation as IEEE 754
says (`-ffp-contract=off`, no `-ffast-math`) and the C library's functions agree in their last bits. `exp`, `log` and the like are not
rounded alike by all C libraries.
)";

}  // namespace

std::string Makefile(absl::string_view name,
                     const std::vector<std::string>& sources) {
  std::vector<std::string> objects;
  for (const std::string& source : sources) {
    objects.push_back(absl::StrCat(source.substr(0, source.size() - 2), ".o"));
  }
  return absl::Substitute(kMakefile, name, absl::StrJoin(objects, " "));
}

std::string CMakeLists(absl::string_view name,
                       const std::vector<std::string>& sources) {
  return absl::Substitute(kCMakeLists, name, absl::StrJoin(sources, "\n  "));
}

std::string Readme(absl::string_view model, absl::string_view name,
                   const MemoryUse& memory) {
  return absl::Substitute(
      kReadme, absl::StrReplaceAll(absl::CHexEscape(model), {{"`", "'"}}), name,
      absl::AsciiStrToUpper(name), memory.ram(), memory.rom(),
      MarkdownTable(memory.parts), MarkdownTable(memory.tensors));
}

}  // namespace ingot
