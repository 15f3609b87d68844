#!/bin/bash
#
# Exports a model as C, builds firmware of it for a machine, runs that in QEMU and compares with the
# linked library of the same set on this machine, bit for bit.
#
# Usage: firmware_test.sh INGOT MODEL NAME MACHINE [TARGET]
#   NAME     what the symbols begin with; NAME_glue.h says how the program calls it
#   MACHINE  cortex_m7, cortex_m55, riscv32 or riscv64
#   TARGET   what the model is compiled for: c, or cmsis_nn with its options

set -euo pipefail

die() {
  echo "FAILED: $*" >&2
  exit 1
}

readonly INGOT="$1" MODEL="$2" NAME="$3" MACHINE="$4" TARGET="${5:-c}"
readonly HERE=examples/firmware CMSIS_NN=backends/cmsis_nn
readonly TIME_LIMIT=250
# Error texts, and the function that calls the kernels: what is not a kernel's.
readonly MOST_RUNTIME_BYTES=4096
WORK="$(mktemp -d "${TEST_TMPDIR:-/tmp}/firmware.XXXXXX")"
readonly WORK
trap 'rm -rf "${WORK}"' EXIT

case "${MACHINE}" in
  cortex_m7)
    readonly TOOLS=arm-none-eabi BOARD=cortex_m
    readonly FLAGS=(-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard)
    readonly LINKING=(--specs=nosys.specs -T "${HERE}/mps2_an500.ld")
    readonly QEMU=(qemu-system-arm -M mps2-an500 -serial none -semihosting-config enable=on,target=native)
    ;;
  cortex_m55)
    readonly TOOLS=arm-none-eabi BOARD=cortex_m
    readonly FLAGS=(-mcpu=cortex-m55 -mthumb -mfloat-abi=hard)
    readonly LINKING=(--specs=nosys.specs -T "${HERE}/mps3_an547.ld")
    readonly QEMU=(qemu-system-arm -M mps3-an547 -serial none -semihosting-config enable=on,target=native)
    ;;
  riscv32)
    readonly TOOLS=riscv64-unknown-elf BOARD=riscv_virt
    readonly FLAGS=(--specs=picolibc.specs -march=rv32imafdc -mabi=ilp32d -mcmodel=medany)
    readonly LINKING=(-T "${HERE}/riscv_virt.ld")
    readonly QEMU=(qemu-system-riscv32 -M virt -bios none -serial stdio)
    ;;
  riscv64)
    readonly TOOLS=riscv64-unknown-elf BOARD=riscv_virt
    readonly FLAGS=(--specs=picolibc.specs -march=rv64imafdc -mabi=lp64d -mcmodel=medany)
    readonly LINKING=(-T "${HERE}/riscv_virt.ld")
    readonly QEMU=(qemu-system-riscv64 -M virt -bios none -serial stdio)
    ;;
  *) die "there is no machine '${MACHINE}'" ;;
esac
readonly WARNINGS=(-Wall -Wextra -Werror)

COMPILE=(compile "${MODEL}" --symbol-prefix="${NAME}" --quiet)
if [[ "${NAME}" == voice ]]; then
  # Dimensions that it leaves open; and powers of e by functions of our own, since C libraries differ.
  COMPILE+=(--input-shape=input:1x512 --input-shape=state:2x1x128 --reproducible)
fi

# The sources are found from the root of the repository.
readonly INCLUDES=(-I. -I"${WORK}/model" "-DMODEL_GLUE=\"${HERE}/${NAME}_glue.h\"")

# A firmware's build links Arm's library; here its place is taken by ours, which this machine links, too.
HOST_TARGET="${TARGET}"
LIBRARIES=("-l${NAME}")
if [[ "${TARGET}" == cmsis_nn* ]]; then
  HOST_TARGET="${TARGET/ -/ -library=reference -}"
  "${TOOLS}-gcc" -std=c99 -O2 "${WARNINGS[@]}" "${FLAGS[@]}" -c "${CMSIS_NN}/cmsis_nn_reference.c" \
    -o "${WORK}/cmsis_nn.o"
  "${TOOLS}-ar" rcs "${WORK}/libcmsis-nn.a" "${WORK}/cmsis_nn.o"
  LIBRARIES+=(-L"${WORK}" -lcmsis-nn)
fi

"${INGOT}" "${COMPILE[@]}" --target="${TARGET}" -o "${WORK}/model.ingot"
"${INGOT}" export "${WORK}/model.ingot" -o "${WORK}/model" --format=c
sed -n '/^| part/,/^$/p' "${WORK}/model/README.md" | head -n 20
"${INGOT}" "${COMPILE[@]}" --target="${HOST_TARGET}" -o "${WORK}/host.ingot"
"${INGOT}" link "${WORK}/host.ingot" -o "${WORK}/libmodel.so" --quiet

# A budget that is too small is an error that shows what takes how much.
if "${INGOT}" export "${WORK}/model.ingot" -o "${WORK}/small" --ram=100 > "${WORK}/table" 2> "${WORK}/error"; then
  die "a model fits in 100 bytes of RAM"
fi
grep -q "more than --ram=100 allows" "${WORK}/error" || die "no word of the budget"
grep -q "^arena " "${WORK}/table" || die "no table of what takes how much"
[[ ! -e "${WORK}/small" ]] || die "a folder was written that is over the budget"

echo "building for ${MACHINE}"
make -s -C "${WORK}/model" CC="${TOOLS}-gcc" AR="${TOOLS}-ar" CFLAGS="-O2 ${WARNINGS[*]} ${FLAGS[*]}"
"${TOOLS}-gcc" -std=c99 -O2 "${WARNINGS[@]}" "${FLAGS[@]}" "${INCLUDES[@]}" \
  -nostartfiles "${LINKING[@]}" -Wl,--gc-sections \
  "${HERE}/${BOARD}_startup.c" "${HERE}/${BOARD}_board.c" "${HERE}/app.c" \
  -L"${WORK}/model" "${LIBRARIES[@]}" -lm -o "${WORK}/firmware.elf"
"${TOOLS}-size" "${WORK}/firmware.elf"
# No heap, and nothing of an operating system.
if "${TOOLS}-nm" "${WORK}/firmware.elf" | grep -wE "malloc|_sbrk|_write|printf"; then
  die "the firmware has a heap or files"
fi

# Counts the code that is ours and no kernel's.
"${TOOLS}-nm" -S --radix=d "${WORK}/firmware.elf" > "${WORK}/symbols"
RUNTIME="$(awk -v name="${NAME}" '
  $3 ~ /^[tT]$/ && ($4 == "fail" || $4 ~ "^ingot_" || $4 ~ "^" name "_(main|run|arena_bytes|last_error)$") {
    bytes += $2
  }
  END { print bytes + 0 }' "${WORK}/symbols")"
readonly RUNTIME
grep -qE " [tT] ${NAME}_(main|run)$" "${WORK}/symbols" || die "the firmware has no ${NAME}_run"
echo "text beside the kernels: ${RUNTIME} bytes"
[[ "${RUNTIME}" -le "${MOST_RUNTIME_BYTES}" ]] || die "more than ${MOST_RUNTIME_BYTES} bytes are no kernel's"

echo "running it"
timeout "${TIME_LIMIT}" "${QEMU[@]}" -display none -monitor none -kernel "${WORK}/firmware.elf" \
  > "${WORK}/firmware.txt" 2>&1 < /dev/null ||
  die "QEMU's exit status is $?: $(tail -n 3 "${WORK}/firmware.txt")"

# The same program on this machine, with the library in place of the folder's code.
cc -std=c99 -O2 "${INCLUDES[@]}" "${HERE}/host.c" "${HERE}/app.c" "${WORK}/model/${NAME}_arena.c" \
  "${WORK}/libmodel.so" -Wl,-rpath,"${WORK}" -o "${WORK}/host"
"${WORK}/host" > "${WORK}/host.txt" || die "$(cat "${WORK}/host.txt")"
[[ -s "${WORK}/host.txt" ]] || die "nothing was printed"
cmp "${WORK}/firmware.txt" "${WORK}/host.txt" || die "the bits differ"
echo "$(wc -l < "${WORK}/host.txt") lines of outputs are the same, bit for bit"
