/* This runs before main on Arm's boards with a Cortex-M7 (MPS2 AN500) or M55
 * (MPS3 AN547), as QEMU has them: the vector table and the reset handler. */
#include <stdint.h>
#include <string.h>

/* From mps2_an500.ld or mps3_an547.ld. */
extern uint32_t stack_top, data_start, data_end, data_load, bss_start, bss_end;

int main(void);
void exit_with(int status);

void reset_handler(void) {
  /* Coprocessors 10 and 11 are the FPU: full access (CPACR), before the first
   * instruction that needs it. */
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20;
  __asm__ volatile("dsb\n isb");
  memcpy(&data_start, &data_load,
         (size_t)((char*)&data_end - (char*)&data_start));
  memset(&bss_start, 0, (size_t)((char*)&bss_end - (char*)&bss_start));
  exit_with(main());
}

void fault_handler(void) { exit_with(99); }

__attribute__((section(".vectors"),
               used)) static const void* const vectors[] = {
    &stack_top,
    (const void*)reset_handler, /* reset */
    (const void*)fault_handler, /* NMI */
    (const void*)fault_handler, /* hard fault */
    (const void*)fault_handler, /* memory management */
    (const void*)fault_handler, /* bus fault */
    (const void*)fault_handler, /* usage fault */
};
