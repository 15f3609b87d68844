#!/bin/bash
#
# Exports a model as C, builds firmware of it for a Cortex-M7, runs that in QEMU and compares with the
# linked library of the same set on this machine, bit for bit.
#
# Usage: firmware_test.sh INGOT MODEL NAME [SECONDS]
#   NAME  what the symbols begin with; NAME_glue.h says how the program calls it

set -euo pipefail

die() {
  echo "FAILED: $*" >&2
  exit 1
}

readonly INGOT="$1" MODEL="$2" NAME="$3" TIME_LIMIT="${4:-250}"
readonly HERE=examples/firmware
WORK="$(mktemp -d "${TEST_TMPDIR:-/tmp}/firmware.XXXXXX")"
readonly WORK
trap 'rm -rf "${WORK}"' EXIT

# The sources are found from the root of the repository.
readonly INCLUDES=(-I. -I"${WORK}/model" "-DMODEL_GLUE=\"${HERE}/${NAME}_glue.h\"")
readonly MACHINE=(-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard)

"${INGOT}" compile "${MODEL}" --target=c --symbol-prefix="${NAME}" -o "${WORK}/model.ingot" --quiet
"${INGOT}" export "${WORK}/model.ingot" -o "${WORK}/model" --format=c
"${INGOT}" link "${WORK}/model.ingot" -o "${WORK}/libmodel.so" --quiet

# A budget that is too small is an error that shows what takes how much.
if "${INGOT}" export "${WORK}/model.ingot" -o "${WORK}/small" --ram=100 > "${WORK}/table" 2> "${WORK}/error"; then
  die "a model fits in 100 bytes of RAM"
fi
grep -q "more than --ram=100 allows" "${WORK}/error" || die "no word of the budget"
grep -q "^arena " "${WORK}/table" || die "no table of what takes how much"
[[ ! -e "${WORK}/small" ]] || die "a folder was written that is over the budget"

echo "building for a Cortex-M7"
make -s -C "${WORK}/model" CC=arm-none-eabi-gcc AR=arm-none-eabi-ar CFLAGS="-O2 -Wall -Wextra -Werror ${MACHINE[*]}"
arm-none-eabi-gcc -std=c99 -O2 -Wall -Wextra -Werror "${MACHINE[@]}" "${INCLUDES[@]}" \
  -nostartfiles --specs=nosys.specs -Wl,--gc-sections -T "${HERE}/mps2_an500.ld" \
  "${HERE}/startup.c" "${HERE}/semihosting.c" "${HERE}/app.c" \
  -L"${WORK}/model" -l"${NAME}" -lm -o "${WORK}/firmware.elf"
arm-none-eabi-size "${WORK}/firmware.elf"
# No heap, and nothing of an operating system.
if arm-none-eabi-nm "${WORK}/firmware.elf" | grep -wE "malloc|_sbrk|_write|printf"; then
  die "the firmware has a heap or files"
fi

echo "running it"
timeout "${TIME_LIMIT}" qemu-system-arm -M mps2-an500 -nographic -monitor none -serial none \
  -semihosting-config enable=on,target=native -kernel "${WORK}/firmware.elf" \
  > "${WORK}/firmware.txt" 2>&1 < /dev/null ||
  die "QEMU's exit status is $?: $(tail -n 3 "${WORK}/firmware.txt")"

# The same program on this machine, with the library in place of the folder's code.
cc -std=c99 -O2 "${INCLUDES[@]}" "${HERE}/host.c" "${HERE}/app.c" "${WORK}/model/${NAME}_arena.c" \
  "${WORK}/libmodel.so" -Wl,-rpath,"${WORK}" -o "${WORK}/host"
"${WORK}/host" > "${WORK}/host.txt" || die "$(cat "${WORK}/host.txt")"
[[ -s "${WORK}/host.txt" ]] || die "nothing was printed"
cmp "${WORK}/firmware.txt" "${WORK}/host.txt" || die "the bits differ"
echo "$(wc -l < "${WORK}/host.txt") lines of outputs are the same, bit for bit"
