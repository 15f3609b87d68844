/* Text and the exit status, by way of the debugger: Arm semihosting. */
#include <stdint.h>

#include "examples/firmware/board.h"

enum { kSysWrite0 = 0x04, kSysExitExtended = 0x20, kApplicationExit = 0x20026 };

static void call_host(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void put_text(const char* text) { call_host(kSysWrite0, text); }

void exit_with(int status) {
  const uint32_t block[2] = {kApplicationExit, (uint32_t)status};
  call_host(kSysExitExtended, block);
  for (;;) {
  }
}
