/* This runs before main on QEMU's RISC-V board `virt`, of 32 or 64 bits. */
#include <stdint.h>
#include <string.h>

/* From riscv_virt.ld. */
extern uint32_t data_start, data_end, data_load, bss_start, bss_end;

int main(void);
void exit_with(int status);

__attribute__((used)) static void start(void) {
  memcpy(&data_start, &data_load,
         (size_t)((char*)&data_end - (char*)&data_start));
  memset(&bss_start, 0, (size_t)((char*)&bss_end - (char*)&bss_start));
  exit_with(main());
}

__attribute__((used, aligned(4))) static void trap(void) { exit_with(99); }

/* The stack, where traps go, and the FPU, which is off until mstatus.FS says
 * otherwise. */
__attribute__((naked, section(".reset"), used)) void reset(void) {
  __asm__ volatile(
      ".option push\n .option norelax\n .option arch, +zicsr\n"
      "la gp, __global_pointer$\n"
      "la sp, stack_top\n"
      "la t0, trap\n csrw mtvec, t0\n"
      "li t0, 0x6000\n csrs mstatus, t0\n csrw fcsr, zero\n"
      "j start\n"
      ".option pop");
}
